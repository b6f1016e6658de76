import Cells
import Session
import Model
import TestSupport
import Testing

@testable import Cache
@testable import UI

@MainActor @Suite(.unlessItHangs) struct UpdateTests {
    /// Records the updates that reach it.
    private final class RecordingScreen: Screen {
        let name: String
        let heard: Heard

        final class Heard {
            var names: [String] = []
        }

        init(_ name: String, _ context: ScreenContext, _ heard: Heard, _ children: [RecordingScreen] = []) {
            self.name = name
            self.heard = heard
            super.init(context)
            self.children = children
        }

        override func modelUpdated(_ update: ModelUpdate) { heard.names.append(name) }
    }

    @Test("BEHAVIOURS 7.4: a change travels from the root down, each screen before those inside of it")
    func down() throws {
        let context = try TestScreens().context
        let heard = RecordingScreen.Heard()
        let inner = [RecordingScreen("a1", context, heard), RecordingScreen("a2", context, heard)]
        let screens = [RecordingScreen("a", context, heard, inner), RecordingScreen("b", context, heard)]
        RecordingScreen("root", context, heard, screens).propagate(.log)
        #expect(heard.names == ["root", "a", "a1", "a2", "b"])
    }

    @Test("BEHAVIOURS 7.3: a commit reaches a screen by modelUpdated, and in no other way")
    func onlyWay() async throws {
        let screens = try TestScreens()
        screens.open()
        _ = screens.frame()
        // Hold updates back for a while.
        let deliver = screens.context.feed.deliver
        let arrived = AsyncStream<Void>.makeStream()
        var held: [ModelUpdate] = []
        screens.context.feed.deliver = {
            guard case .results = $0 else { return }
            held.append($0)
            arrived.continuation.yield()
        }
        let frames = screens.wantedFrames
        try await screens.sync(["a"])
        for await _ in arrived.stream { break }
        #expect(screens.wantedFrames == frames && screens.root.place.photo == nil)
        deliver(try #require(held.first))
        #expect(screens.wantedFrames > frames && screens.root.place.photo == "a")
    }

    @Test("BEHAVIOURS 7.3: a wish has no reply; its result is found in the cache")
    func noAnswer() async throws {
        let screens = try TestScreens()
        screens.open()
        let deliver = screens.context.feed.deliver
        var others: [ModelUpdate] = []
        screens.context.feed.deliver = { update in
            switch update {
            case .results, .gallery, .log: break
            default: others.append(update)
            }
            deliver(update)
        }
        screens.wishes.fulfil(screens.list)
        try await screens.sync(["a"])
        try await screens.until { screens.root.place.photo == "a" }
        #expect(screens.selected == "Photo a")
        #expect(others.isEmpty, "nothing but the cache has said anything")
    }

    @Test("BEHAVIOURS 7.4: covered screens process changes, and request no frame")
    func covered() async throws {
        let screens = try TestScreens()
        try await screens.sync(["a"])
        screens.open()
        screens.press("?")
        _ = screens.frame()
        let frames = screens.wantedFrames
        try await screens.sync(["b"])
        try await screens.until { screens.root.place.photo == "b" }
        #expect(screens.wantedFrames == frames)
        screens.press(Key(.escape))
        #expect(screens.selected == "Photo b")
    }

    @Test func aClosedGalleryHearsNothing() async throws {
        let screens = try TestScreens()
        try await screens.sync(["a"])
        screens.open()
        let list = try #require(screens.root.children.last as? PhotosScreen)
        screens.press("q")
        try await screens.sync(["b"])
        let other = try screens.caches.open(Address("http://example.org/other.xml"))
        screens.root.send(.openGallery(other.address))
        try await other.writer.recordUnchanged(at: Timestamp(milliseconds: 0))
        try await screens.until { screens.status.hasPrefix(" Updated: ") }
        #expect(list.selectedGalleryID == nil || list.selectedGalleryID == "a")
        #expect(screens.title.hasPrefix(" example.org/other.xml"))
    }
}
