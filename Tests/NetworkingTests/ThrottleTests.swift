import Testing

@testable import Networking

@Suite struct ThrottleTests {
    @Test func fewTimesASecond() {
        var pace = Throttle()
        let start = ContinuousClock.now
        let due = (0..<1_000).filter { pace.isDue(at: start + .milliseconds($0)) }
        #expect(due == [0, 250, 500, 750])
        let isDueLater = pace.isDue(at: start + .seconds(60))
        #expect(isDueLater)
    }
}
