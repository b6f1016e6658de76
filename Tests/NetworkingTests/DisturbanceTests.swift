import Model
import Session
import TestSupport
import Testing

@testable import Networking

@Suite struct DisturbanceTests {
    @Test("BEHAVIOURS 6.5: every nth request fails, and each starts later")
    func counts() {
        var disturbance = Disturbance(delay: .milliseconds(250), failingEvery: 3)
        let steps = (1...9).map { _ in disturbance.next() }
        #expect(steps.map { $0.error != nil } == [false, false, true, false, false, true, false, false, true])
        #expect(steps.allSatisfy { $0.delay == .milliseconds(250) })
        // It is retried like a real network failure.
        #expect(steps[2].error?.failure.isTemporary == true)
        #expect(steps[2].error?.failure.reason == "simulated failure")
    }

    @Test func everyRequestMayFail() {
        var disturbance = Disturbance(failingEvery: 1)
        #expect((1...5).allSatisfy { _ in disturbance.next().error != nil })
    }

    @Test(arguments: [Disturbance(), Disturbance(delay: .seconds(-1), failingEvery: -7)])
    func noneDisturbsNothing(disturbance: Disturbance) {
        var disturbance = disturbance
        #expect((1...100).allSatisfy { _ in disturbance.next() == Disturbance.Step(delay: .zero, error: nil) })
    }

    @Test("BEHAVIOURS 6.5: a disturbed transfer starts later")
    func later() async throws {
        let test = try NetworkTest()
        test.putGallery(["a"])
        test.start(test.makeController(disturbance: Disturbance(delay: .seconds(7))))
        test.wishes.ask(for: test.list)
        try await test.until { test.clock.alarms == [.seconds(7)] }
        #expect(try test.status.isRunning && test.server.connectionCount == 0)
        test.clock.advance(to: .seconds(7))
        try await test.until { !test.wishes.isStanding(test.list) }
        #expect(try test.status.state == .updated)
        // A transfer that is no longer wanted does not start.
        test.wishes.ask(for: test.list)
        try await test.until { test.clock.alarms == [.seconds(14)] }
        test.wishes.stop(test.list)
        try await test.until { try test.status.state == .cancelled && test.clock.alarms.isEmpty }
        #expect(test.paths.count == 1)
    }

    @Test("BEHAVIOURS 6.5: a changed disturbance applies to later transfers")
    func changed() async throws {
        let test = try NetworkTest()
        test.putGallery(["a"])
        let controller = test.start(test.makeController(disturbance: Disturbance(delay: .seconds(7))))
        test.wishes.ask(for: test.list)
        try await test.until { test.clock.alarms == [.seconds(7)] }
        test.wishes.stop(test.list)
        try await test.until { test.clock.alarms.isEmpty }
        await controller.use(nil, Disturbance())
        try await test.refresh()
        #expect(try test.status.state == .updated && test.paths.count == 1)
    }

    @Test("BEHAVIOURS 6.5: every nth transfer fails unsent and is retried like others")
    func fails() async throws {
        let test = try NetworkTest()
        let ids = (0..<8).map { "n\($0)" }
        test.putGallery(ids)
        let controller = test.start(test.makeController(width: 1, disturbance: Disturbance(failingEvery: 3)))
        try await test.refresh()
        test.wishes.state(
            try ids.map { Wish(try test.thumbnail($0), importance: .visible) }, by: test.wishes.makeWisher())
        // Every third of nine, including the list.
        try await test.until { test.activity.failureCount == 3 && test.paths.count == 6 }
        #expect(test.activity.failures.allSatisfy { $0.failure == Failure("simulated failure", remedy: .time) })
        try await test.letTimePass(for: controller) { test.activity.failureCount == 0 }
        #expect(try ids.allSatisfy { try test.photo($0).thumbnail.isCurrent })
        #expect(test.paths.count == 1 + 8)
    }
}
