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
        #expect(disturbance.isNone)
        #expect((1...100).allSatisfy { _ in disturbance.next() == Disturbance.Step(delay: .zero, error: nil) })
    }
}
