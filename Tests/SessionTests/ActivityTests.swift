import Model
import Numbers
import Concurrency
import Testing

@testable import Session

@Suite struct ActivityTests {
    private let gallery: GalleryID
    private let activity = Activity()

    init() throws { gallery = GalleryID(try Address("http://example.org/")) }

    private func thumbnail(_ key: Int64) -> Wish.Subject { .picture(gallery, PhotoKey(key), .thumbnail) }

    /// Reports received bytes at a time in seconds.
    private func receive(_ total: ByteCount, at seconds: Double) {
        activity.setTraffic(
            TrafficReport(running: 1, received: total), at: Timestamp(milliseconds: Int64(seconds * 1000)))
    }

    // MARK: - Traffic

    @Test func speedsFollowFromReceivedBytes() async {
        let changes = activity.changes()
        // Bytes before the first report belong to no second.
        receive(5_000, at: 100)
        #expect(await changes.next() == Activity.Change(hasTraffic: true))
        #expect(activity.speeds.count == 60 && activity.speeds.allSatisfy { $0 == 0 })
        receive(5_300, at: 100.5)
        receive(6_000, at: 101)
        receive(6_500, at: 101.5)
        #expect(activity.speeds.suffix(3) == [0, 300, 1_200] && activity.speed == 1_000)
        // Seconds without a report.
        receive(6_600, at: 105)
        #expect(activity.speeds.suffix(6) == [300, 1_200, 0, 0, 0, 100] && activity.speed == 100)
        receive(6_600, at: 107)
        #expect(activity.speeds.suffix(3) == [100, 0, 0] && activity.speed == 0)
        #expect(activity.traffic?.received == 6_600)
    }

    @Test func speedsAreForgottenAfterAMinute() {
        receive(0, at: 1_000)
        receive(700, at: 1_001)
        receive(700, at: 1_060)
        #expect(activity.speeds.first == 700 && activity.speeds.dropFirst().allSatisfy { $0 == 0 })
        receive(700, at: 1_061)
        #expect(activity.speeds.allSatisfy { $0 == 0 })
    }

    @Test(arguments: [-1e9, -61, -59, -1, 59, 61, 1e9]) func aChangedClockIsHarmless(jump: Double) {
        receive(0, at: 2e9)
        receive(100, at: 2e9 + 1)
        receive(300, at: 2e9 + 1 + jump)
        receive(600, at: 2e9 + 2 + jump)
        let expected: Int64 = jump == -59 || jump == -1 ? 600 : 300
        #expect(activity.speeds.last == expected && activity.speeds.reduce(0, +) <= 600)
    }

    @Test func aRestartedCountIsNoTraffic() {
        receive(1_000, at: 10)
        receive(10, at: 11)
        receive(20, at: 12)
        #expect(activity.speeds.suffix(3) == [0, 0, 10])
    }

    @Test func theControllerLearnsWhetherTransfersAreShown() async {
        let interest = activity.trafficInterest()
        #expect(await interest.next() == TrafficInterest(isWatched: false))
        #expect(!activity.isTrafficWatched)
        var one: TrafficWatch? = activity.watchTraffic()
        #expect(await interest.next() == TrafficInterest(isWatched: true))
        let other = activity.watchTraffic()
        one = nil
        #expect(activity.isTrafficWatched && one == nil)
        withExtendedLifetime(other) {}
        // A late listener gets the current value at once.
        #expect(await activity.trafficInterest().next() == TrafficInterest(isWatched: activity.isTrafficWatched))
    }

    @Test func watchingEndsWithTheLastWatch() async {
        let interest = activity.trafficInterest()
        var watches = [activity.watchTraffic(), activity.watchTraffic()]
        #expect(await interest.next() == TrafficInterest(isWatched: true))
        watches.removeLast()
        #expect(activity.isTrafficWatched)
        watches.removeLast()
        #expect(!activity.isTrafficWatched)
        #expect(await interest.next() == TrafficInterest(isWatched: false))
    }

    // MARK: - Failures

    private func report(
        _ key: Int64, _ reason: String = "the server answered 503", attempts: Int = 1, at time: Int64
    ) -> FailureReport {
        let moment = Timestamp(milliseconds: time)
        return FailureReport(
            thumbnail(key), Failure(reason, remedy: .time), attempts: attempts, first: moment, last: moment,
            next: Timestamp(milliseconds: time + 1000))
    }

    @Test func theNewestFailureIsFirst() async {
        let changes = activity.changes()
        activity.recordFailure(report(1, at: 1))
        activity.recordFailure(report(2, at: 2))
        activity.recordFailure(report(1, "no answer", attempts: 2, at: 3))
        let change = Activity.Change(hasFailures: true, failures: [thumbnail(1), thumbnail(2)])
        #expect(await changes.next() == change)
        #expect(activity.failures.map(\.subject) == [thumbnail(1), thumbnail(2)])
        #expect(activity.failures[0].failure.reason == "no answer")
        #expect(activity.failures[0].first.milliseconds == 1 && activity.failures[0].last.milliseconds == 3)
        activity.removeFailure(of: thumbnail(1))
        #expect(activity.failures.map(\.subject) == [thumbnail(2)])
        activity.clearFailures()
        #expect(activity.failures.isEmpty && activity.failureCount == 0)
    }

    @Test("Failures that arrive in any order are in the order of their times, and the oldest is dropped first")
    func failuresInAnyOrder() {
        let count = Int64(FailureList.maximumCount)
        for time in (1...count).reversed() { activity.recordFailure(report(time, at: time)) }
        activity.recordFailure(report(2, at: 2))
        #expect(activity.failures.map(\.last.milliseconds) == Array((1...count).reversed()))
        activity.recordFailure(report(0, at: count + 1))
        #expect(activity.failures.first?.subject == thumbnail(0) && activity.failures.last?.subject == thumbnail(2))
    }

    /// A first attempt starts a new history.
    @Test func aNewAttemptHasItsOwnHistory() {
        activity.recordFailure(report(1, attempts: 5, at: 1))
        activity.recordFailure(report(1, at: 9))
        #expect(activity.failures == [report(1, at: 9)])
    }

    @Test func anUnwantedSubjectStaysAFailure() {
        activity.recordFailure(report(1, attempts: 3, at: 1))
        activity.setRetry(of: thumbnail(1), at: nil)
        var expected = report(1, attempts: 3, at: 1)
        expected.next = nil
        #expect(activity.failures == [expected])
    }

    @Test func failuresGoWithTheirGallery() throws {
        activity.recordFailure(report(1, at: 1))
        let other = Wish.Subject.list(GalleryID(try Address("http://example.org/other")))
        activity.recordFailure(
            FailureReport(
                other, Failure("gone", remedy: .none), attempts: 1, first: Timestamp(milliseconds: 2),
                last: Timestamp(milliseconds: 2)))
        activity.removeFailures(of: gallery)
        #expect(activity.failures.map(\.subject) == [other])
        activity.recordFailure(report(1, at: 3))
        #expect(activity.failures.map(\.subject) == [thumbnail(1), other])
    }

    @Test("A cleared failure that another process sends again stays cleared, and a newer one does not")
    func clearedFailures() {
        for clear in [{ self.activity.clearFailures() }, { self.activity.removeFailures(of: self.gallery) }] {
            let time = activity.failures.first?.last.milliseconds ?? 0
            activity.recordFailure(report(1, at: time + 1))
            clear()
            var again = report(1, at: time + 1)
            again.next = nil
            activity.recordFailure(again)
            #expect(activity.failures.isEmpty)
            activity.recordFailure(report(1, attempts: 2, at: time + 2))
            #expect(activity.failures.map(\.last.milliseconds) == [time + 2])
        }
    }

    @Test func oldFailuresAreDropped() {
        for key in 0..<1_500 { activity.recordFailure(report(Int64(key), at: Int64(key))) }
        #expect(activity.failureCount == 1_000)
        #expect(activity.failures.first?.subject == thumbnail(1_499))
        #expect(activity.failures.last?.subject == thumbnail(500))
    }

    @Test("A change of many subjects is divided into changes that have all of them, and its last one has the rest")
    func dividedChange() {
        var change = Activity.Change()
        change.pictures = Set((1...7).map { thumbnail(Int64($0)) })
        change.failures = Set((1...4).map { thumbnail(Int64($0)) })
        change.galleries = [gallery]
        (change.hasNotices, change.hasFailures) = (true, true)
        #expect(change.divided(maximumSubjects: 11) == [change])
        let parts = change.divided(maximumSubjects: 3)
        #expect(parts.count == 6)
        #expect(parts.allSatisfy { $0.pictures.count + $0.failures.count <= 3 })
        #expect(parts.dropLast().allSatisfy { $0.galleries.isEmpty && !$0.hasNotices })
        #expect(parts.last?.pictures.isEmpty == true && parts.last?.galleries == [gallery])
        var whole = Activity.Change()
        for part in parts { whole.merge(part) }
        #expect(whole == change)
    }

    @Test func subjectsWithoutAFailurePostNoChange() async {
        let changes = activity.changes()
        activity.removeFailure(of: thumbnail(1))
        activity.setRetry(of: thumbnail(1), at: nil)
        activity.removeFailures(of: gallery)
        activity.postNotice("something else")
        #expect(await changes.next() == Activity.Change(hasNotices: true))
    }

    @Test("A failed request without a planned attempt is far away only while the disk fails")
    func attemptWithoutATime() {
        let watch = RetryWatch(activity) { Timestamp(milliseconds: 0) }
        activity.recordFailure(
            FailureReport(
                thumbnail(1), Failure("no answer", remedy: .time), attempts: 1, first: Timestamp(milliseconds: 0),
                last: Timestamp(milliseconds: 0), next: nil))
        #expect(!watch.isFarAway(thumbnail(1), after: nil))
        activity.report(.full)
        #expect(watch.isFarAway(thumbnail(1), after: nil))
    }
}
