import Model
import Session
import TestSupport
import Testing

@testable import Networking

@Suite struct DisturbanceTests {
    @Test("BEHAVIOURS 6.5: every so-manieth request fails, and each begins later")
    func counts() {
        var disturbance = Disturbance(delay: .milliseconds(250), failingEvery: 3)
        let steps = (1...9).map { _ in disturbance.next() }
        #expect(steps.map { $0.error != nil } == [false, false, true, false, false, true, false, false, true])
        #expect(steps.allSatisfy { $0.delay == .milliseconds(250) })
        // It is tried again as what a network does is.
        #expect(steps[2].error?.failure.isTemporary == true)
        #expect(steps[2].error?.failure.reason == "made to fail for a test")
    }

    @Test func everyOneMayFail() {
        var disturbance = Disturbance(failingEvery: 1)
        #expect((1...5).allSatisfy { _ in disturbance.next().error != nil })
    }

    @Test(arguments: [Disturbance(), Disturbance(delay: .seconds(-1), failingEvery: -7)])
    func noneDisturbsNothing(disturbance: Disturbance) {
        var disturbance = disturbance
        #expect((1...100).allSatisfy { _ in disturbance.next() == Disturbance.Step(delay: .zero, error: nil) })
    }

    @Test("BEHAVIOURS 6.5: a disturbed transfer begins later, and not before")
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
        // What is not wanted any more meanwhile is not begun at all.
        test.wishes.ask(for: test.list)
        try await test.until { test.clock.alarms == [.seconds(14)] }
        test.wishes.stop(test.list)
        try await test.until { try test.status.state == .cancelled && test.clock.alarms.isEmpty }
        #expect(test.paths.count == 1)
    }

    @Test("BEHAVIOURS 6.5: every so-manieth transfer fails without being sent, and is tried again as others are")
    func fails() async throws {
        let test = try NetworkTest()
        let ids = (0..<8).map { "n\($0)" }
        test.putGallery(ids)
        let controller = test.start(test.makeController(width: 1, disturbance: Disturbance(failingEvery: 3)))
        try await test.refresh()
        test.wishes.state(
            try ids.map { Wish(try test.thumbnail($0), importance: .visible) }, by: test.wishes.makeWisher())
        // Of nine, the list included, every third.
        try await test.until { test.activity.failureCount == 3 && test.paths.count == 6 }
        #expect(test.activity.failures.allSatisfy { $0.failure == Failure("made to fail for a test", remedy: .time) })
        try await test.letTimePass(for: controller) { test.activity.failureCount == 0 }
        #expect(try ids.allSatisfy { try test.photo($0).thumbnail.isCurrent })
        #expect(test.paths.count == 1 + 8)
    }
}
