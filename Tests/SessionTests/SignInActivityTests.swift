import Model
import Testing

@testable import Session

@Suite struct SignInActivityTests {
    private let activity = Activity()
    private let (a, b): (GalleryID, GalleryID)
    private let (one, two): (Origin, Origin)

    init() throws {
        (a, b) = (GalleryID(try Address("http://a.org/")), GalleryID(try Address("http://b.org/")))
        (one, two) = (try #require(Origin("http://one.org")), try #require(Origin("http://two.org")))
    }

    private func question(_ origin: Origin, _ gallery: GalleryID, wasRefused: Bool = false) -> SignInQuestion {
        SignInQuestion(origin: origin, schemes: ["basic"], wasRefused: wasRefused, galleries: [gallery])
    }

    @Test func eachServerHasOneQuestion() async {
        var changes = activity.changes().makeAsyncIterator()
        activity.ask(question(one, a))
        activity.ask(question(two, a))
        activity.ask(question(one, b, wasRefused: true))
        #expect(activity.questions.map(\.origin) == [one, two])
        #expect(activity.questions[0].galleries == [a, b] && activity.questions[0].wasRefused)
        #expect(await changes.next()?.hasSignIns == true)
        activity.withdrawQuestion(.origin(one))
        #expect(activity.questions.map(\.origin) == [two])
    }

    @Test("BEHAVIOURS 5.10: a declined question returns only after a refresh")
    func declined() {
        activity.ask(question(one, a))
        activity.declineQuestion(.origin(one))
        activity.ask(question(one, a))
        // Another gallery needs it too, and its refresh counts as well.
        activity.ask(question(one, b))
        #expect(activity.questions.isEmpty)
        activity.retry(GalleryID(Address(filePath: "/c")))
        activity.ask(question(one, a))
        #expect(activity.questions.isEmpty)
        activity.retry(b)
        activity.ask(question(one, a))
        #expect(activity.questions.count == 1)
    }

    @Test func answersAreReturnedOnce() {
        activity.recordAnswer(for: a)
        activity.recordAnswer(for: a)
        #expect(activity.takeAnswered() == [a] && activity.takeAnswered().isEmpty)
    }
}
