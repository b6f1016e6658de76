import Cells
import Session
import Model
import Settings
import TestSupport
import Testing

@testable import Cache
@testable import UI

@MainActor @Suite(.unlessItHangs) struct PhotosScreenTests {
    private let screens: TestScreens

    init() throws { screens = try TestScreens() }

    private func names(_ rows: Int = 3) -> [String] {
        let frame = screens.frame()
        return stride(from: 1, to: screens.size.rows - 1, by: rows)
            .map { frame.text(inRow: $0).drop { $0 != "P" } }.filter { !$0.isEmpty }.map(String.init)
    }

    @Test("BEHAVIOURS 6.2: each row has a thumbnail, a name and a date")
    func rows() async throws {
        try await screens.sync([
            TestScreens.entry("a", name: "Photo, the first", date: 1_154_245_637),
            TestScreens.entry("b", name: "Photo 2\u{1B}[2J\n日本", date: 1_154_332_037),
        ])
        try await screens.store(TestScreens.picture(red: 255), as: .thumbnail, of: "a")
        screens.open()
        #expect(screens.title.hasPrefix(" example.org/album/index.xml"))
        #expect(screens.title.hasSuffix("1 of 2"))
        try await screens.until { screens.frame()[1, 1].style.background == .rgb(255, 0, 0) }
        let frame = screens.frame()
        for row in 1...3 {
            #expect((1...8).allSatisfy { frame[$0, row].style.background == .rgb(255, 0, 0) })
        }
        #expect(frame.text(inRow: 1) == "          ▌ Photo, the first")
        #expect(frame.text(inRow: 2) == "          ▌ Sun 30 Jul 2006  07:47")
        #expect(frame.text(inRow: 4) == "            Photo 2␛[2J␊日本")
        #expect(frame.text(inRow: 5) == "    …       Mon 31 Jul 2006  07:47")
        #expect(frame.text(inRow: 7).isEmpty)
    }

    @Test("A local folder loses the name that a removed list file gave it")
    func removedListFile() async throws {
        let pictures = TestFolder()
        pictures.write("album/a.jpg", "x")
        let album = Address(filePath: pictures.path("album"))
        var settings = Settings()
        settings.syncOnOpen = false
        let screens = try TestScreens(settings, gallery: album)
        func commit(_ id: String, revision: String, _ source: ListSource?) async throws {
            let draft = try screens.cache.beginSync()
            try draft.add([
                GalleryEntry(
                    id: id, name: "Photo", date: Timestamp(milliseconds: 1_000), photo: album.appending("a.jpg"),
                    thumbnail: nil, revision: revision)
            ])
            _ = try await screens.cache.writer.commit(
                draft.finish(), skipped: 0, validators: Validators(), source: source, removesSource: source == nil,
                at: Timestamp(milliseconds: 2_000))
        }
        try await commit("1", revision: "", ListSource(kind: .list, root: album, galleryName: "Summer"))
        screens.open()
        #expect(screens.title.hasPrefix(" Summer "))
        try await commit("a.jpg", revision: "1", nil)
        try await screens.until { !screens.title.contains("Summer") }
    }

    /// The old pictures stay until the new ones are drawn.
    @Test func redrawsPicturesForOtherCapabilities() async throws {
        try await screens.sync(["a"])
        try await screens.store(TestScreens.picture(red: 255), as: .thumbnail, of: "a")
        screens.open()
        try await screens.until { screens.frame()[1, 1].style.background == .rgb(255, 0, 0) }
        let frames = screens.wantedFrames
        screens.root.adopt(Capabilities(colours: .palette))
        #expect(screens.wantedFrames == frames + 1)
        #expect(screens.frame()[1, 1].style.background == .rgb(255, 0, 0))
        try await screens.until { if case .palette = screens.frame()[1, 1].style.background { true } else { false } }
    }

    @Test("BEHAVIOURS 6.2: an empty gallery and the first update show a text")
    func empty() async throws {
        screens.open()
        screens.activity.setPhase(.getting(Progress(done: 0)), of: screens.cache.id)
        try await screens.until { screens.text.contains("Fetching the list of photos…") }
        #expect(!screens.text.contains("No photos"))
        try await screens.sync([String]())
        screens.activity.endUpdate(of: screens.cache.id)
        try await screens.until { screens.text.contains("No photos") && screens.status.hasPrefix(" Updated: ") }
        // Keys do nothing in an empty list.
        screens.press(Key(.enter), "j", "G")
        #expect(screens.text.contains("No photos"))
    }

    @Test("BEHAVIOURS 6.2: a folder's row shows a thumbnail from below as soon as the thumbnail is in the cache")
    func thumbnailOfAFolder() async throws {
        var entry = try TestScreens.entry("2024/a", date: 1, thumbnail: false)
        entry.revision = "1"
        try await screens.sync([entry])
        var place = Place(gallery: screens.cache.address)
        place.folder = .top
        screens.root.start(at: place)
        try await screens.until { screens.selected == "2024/" }
        var (frame, frames) = (screens.frame(), screens.wantedFrames)
        try await screens.store(TestScreens.picture(red: 255), as: .thumbnail, of: "2024/a")
        // As in the program, each frame follows a request.
        try await screens.until {
            if screens.wantedFrames > frames { (frame, frames) = (screens.frame(), screens.wantedFrames) }
            return frame[1, 1].style.background == .rgb(255, 0, 0)
        }
    }

    @Test("BEHAVIOURS 6.2: photos appear in the list when they enter the cache")
    func live() async throws {
        screens.open()
        try await screens.sync(["a", "b"])
        try await screens.until { names() == ["Photo a", "Photo b"] }
        #expect(screens.selected == "Photo a")
        try await screens.sync(["b", "c"])
        try await screens.until { names() == ["Photo b", "Photo c"] }
        try await screens.sync([TestScreens.entry("b", name: "Photo, renamed", date: 0)])
        try await screens.until { screens.title.hasSuffix("1 of 1") }
        #expect(names() == ["Photo, renamed"] && screens.selected == "Photo, renamed")
    }

    @Test("BEHAVIOURS 3.1: visible thumbnails are fetched first, then a page on each side")
    func wishes() async throws {
        let ids = (0..<40).map { "\($0)" }
        try await screens.sync(ids)
        screens.open(at: "20")
        _ = screens.frame()
        let seen = await screens.wished()
        // Seven photos are visible, the selected one in the middle.
        let visible = try (17...23).map { try Wish(screens.subject("\($0)", .thumbnail), importance: .visible) }
        let near = try (Array(24...30) + (10...16).reversed()).map {
            try Wish(screens.subject("\($0)", .thumbnail), importance: .near)
        }
        #expect(seen.filter { $0.subject != screens.list } == visible + near)
        screens.press("G")
        _ = screens.frame()
        #expect(await screens.importance(of: try screens.subject("39", .thumbnail)) == .visible)
        #expect(await screens.importance(of: try screens.subject("20", .thumbnail)) == nil)
        // Behind the log, which users open to follow the transfers, they continue.
        screens.press("L")
        #expect(await screens.wished().count == 15)
        screens.press("q")
        _ = screens.frame()
        #expect(await screens.wished().count == 15)
    }

    @Test(arguments: [Size(columns: 80, rows: 24), Size(columns: 40, rows: 12), Size(columns: 20, rows: 5)])
    func everySizeShowsTheSelection(size: Size) async throws {
        try await screens.sync((0..<40).map { "\($0)" })
        screens.size = size
        screens.open()
        for (keys, name) in [("", "0"), ("jjjj", "4"), ("k", "3"), ("G", "39"), ("g", "0")] {
            screens.type(keys)
            #expect(screens.selected == "Photo \(name)")
        }
        screens.press(Key(.pageDown), Key(.pageUp), .control("d"), .control("u"))
        #expect(screens.selected == "Photo 0")
    }

    @Test func usesTheRowHeightFromTheSettings() async throws {
        var settings = Settings()
        settings.rowHeight = 2
        let screens = try TestScreens(settings)
        try await screens.sync(["a", "b"])
        screens.open()
        #expect(screens.frame().text(inRow: 1).hasSuffix("Photo a"))
        #expect(screens.frame().text(inRow: 3).hasSuffix("Photo b"))
    }
}
