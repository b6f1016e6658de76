import Model
import Testing

@testable import Session

/// Sign-ins with the browser, between screens and network.
@Suite struct BrowserSignInTests {
    private let activity = Activity()
    private let wishes = Wishes()
    private let server: Address
    private let gallery: GalleryID

    init() throws {
        server = try Address("https://cloud.example.org/")
        gallery = GalleryID(server)
    }

    private func begin() -> BrowserSignIn { activity.beginSignIn(withBrowserAt: server, for: [gallery]) }

    @Test func eachStageIsReported() async {
        let signIn = begin()
        #expect(activity.stage(of: signIn) == .starting)
        var changes = activity.changes().makeAsyncIterator()
        activity.setStage(.waiting(server), of: signIn)
        #expect(await changes.next()?.hasSignIns == true)
        #expect(activity.stage(of: signIn) == .waiting(server))
    }

    @Test func anEndedOrReplacedSignInHasNoStage() {
        let first = begin()
        let second = begin()
        activity.setStage(.granted(.token("x")), of: first)
        #expect(activity.stage(of: first) == nil && activity.stage(of: second) == .starting)
        activity.endSignIn(first)
        #expect(activity.stage(of: second) == .starting)
        activity.endSignIn(second)
        activity.setStage(.granted(.token("x")), of: second)
        #expect(activity.stage(of: second) == nil)
    }

    @Test func theLastWishCounts() async {
        let (first, second) = (begin(), begin())
        var stream = wishes.browserSignIns().makeAsyncIterator()
        #expect(await stream.next()?.signIn == nil)
        wishes.signIn(withBrowser: first)
        wishes.signIn(withBrowser: second)
        #expect(await stream.next()?.signIn == second)
        wishes.signIn(withBrowser: nil)
        #expect(await stream.next() == BrowserSignInWish(signIn: nil))
        wishes.signIn(withBrowser: first)
        var later = wishes.browserSignIns().makeAsyncIterator()
        #expect(await later.next()?.signIn == first)
    }

    @Test func aQuestionKeepsTheServerOfAnEarlierOne() throws {
        let origin = try #require(server.origin)
        activity.ask(SignInQuestion(origin: origin, schemes: ["basic"], browserServer: server, galleries: [gallery]))
        activity.ask(SignInQuestion(origin: origin, schemes: ["basic"], wasRefused: true, galleries: [gallery]))
        #expect(activity.questions.map(\.browserServer) == [server] && activity.questions[0].wasRefused)
    }
}
