import Cells
import Session
import Model
import Settings
import TestSupport
import Testing

@testable import Cache
@testable import UI

@MainActor @Suite(.unlessItHangs) struct GalleryEditingTests {
    private let preset = Address(filePath: "/usr/share/vitrine/TestGallery")

    private func screens(_ hosts: String..., presets: [Address] = []) throws -> TestScreens {
        try TestScreens(presets: presets, remembered: hosts.map { try Address("http://\($0)/") })
    }

    /// Returns the screen's lines in the place of names.
    private func names(_ screens: TestScreens) -> [String] {
        let frame = screens.frame()
        return stride(from: 1, to: screens.size.rows - 2, by: 2).map { frame.text(inRow: $0) }
            .map { String($0.dropFirst(3)) }.filter { !$0.isEmpty }
    }

    private func saved(_ screens: TestScreens) async -> String? {
        await screens.context.galleries.settled()
        return screens.saved.lists.withLock { $0.last?.text.split(separator: "\n").dropFirst().joined(separator: "\n") }
    }

    @Test func aVisitedGalleryIsShownAndCanBeAdded() async throws {
        let screens = try screens("one")
        screens.open()
        screens.press("q")
        #expect(screens.selected == screens.cache.address.text)
        #expect(screens.text.contains("not in the list: press a to add it") && !screens.title.contains("not saved"))
        screens.press("a")
        #expect(!screens.text.contains("not in the list") && screens.title.hasSuffix("not saved"))
        #expect(screens.selected == screens.cache.address.text && names(screens).count == 2)
        screens.press("s")
        #expect(await saved(screens) == "http://one/\n\(screens.cache.address)")
        // If the gallery is in the list, the key opens the address field.
        screens.press("a")
        #expect(screens.frame().cursor != nil)
    }

    @Test("A visited gallery is shown beside unsaved changes, and can be added to them")
    func visitedAfterChanges() async throws {
        let screens = try screens("one")
        let galleries = try #require(screens.root.children.first as? GalleriesScreen)
        for host in ["two", "three"] {
            try galleries.select(Address("http://\(host)/"), above: [])
            #expect(screens.selected == "http://\(host)/" && screens.text.contains("press a to add it"))
            screens.press("a")
            #expect(screens.frame().cursor == nil && screens.title.hasSuffix("not saved"))
        }
        screens.press("s")
        #expect(await saved(screens) == "http://one/\nhttp://two/\nhttp://three/")
    }

    @Test func aVisitedGalleryCanBeRemoved() throws {
        let screens = try screens("one")
        screens.root.start(at: Place(gallery: try Address("http://two/")))
        screens.press("q")
        #expect(names(screens) == ["http://one/", "http://two/"])
        screens.press("g", "G", "d")
        if screens.status.contains("l from the list only") { screens.press("l") }
        #expect(names(screens) == ["http://one/"] && !screens.title.contains("not saved"))
    }

    @Test func removingAVisitedGalleryCanDeleteItsCache() async throws {
        let screens = try screens("one")
        let other = try Address("http://two/")
        do { _ = try CacheFolder(path: screens.folder.path("cache"), log: screens.log).open(other) }
        (screens.root.children.first as? GalleriesScreen)?.select(other, above: [])
        try await screens.until { screens.text.contains("0 photos") }
        screens.press("d", "c")
        #expect(names(screens) == ["http://one/"] && screens.title.hasSuffix("not saved"))
        screens.press("s")
        #expect(screens.status.contains("Saved the list of galleries"))
        #expect(await screens.root.finish() == nil)
        #expect(screens.caches.gallery(other) == nil)
    }

    @Test func aCacheStaysWhileTheListCannotBeSaved() async throws {
        let screens = try screens("one")
        let other = try Address("http://one/")
        do { _ = try CacheFolder(path: screens.folder.path("cache"), log: screens.log).open(other) }
        screens.press("?", Key(.escape))
        try await screens.until { screens.text.contains("0 photos") }
        screens.saved.failure.withLock { $0 = .file(path: "/galleries", reason: "No space left on device") }
        screens.press("d", "c", "s")
        await screens.context.galleries.settled()
        #expect(screens.caches.gallery(other) != nil && screens.title.hasSuffix("not saved"))
        screens.press("s")
        #expect(await screens.root.finish() == nil)
        #expect(screens.caches.gallery(other) == nil)
    }

    @Test func aVisitedGalleryWithANewAddressIsListedOnce() async throws {
        let screens = try screens("one")
        screens.open()
        screens.press("q", "a", "e", .control("u"))
        screens.type("two")
        screens.press(Key(.enter), Key(.enter), "s")
        #expect(await saved(screens) == "http://one/\nhttp://two/")
        #expect(names(screens) == ["http://one/", "http://two/"])
    }

    @Test("BEHAVIOURS 6.1: a gallery's address and title can be edited")
    func edited() async throws {
        let screens = try screens("one", "two")
        screens.press("j", "e")
        #expect(screens.text.contains("Address: http://two/"))
        screens.press(.control("u"))
        screens.type("one")
        screens.press(Key(.enter))
        #expect(screens.status == " This gallery is already in the list.")
        screens.press(.control("u"))
        screens.type("ftp://three")
        screens.press(Key(.enter))
        #expect(screens.status.contains("ftp: addresses are not supported"))
        screens.press(.control("u"))
        screens.type("three")
        screens.press(Key(.enter))
        screens.type("  At the lake ")
        screens.press(Key(.enter))
        #expect(names(screens) == ["http://one/", "At the lake"] && screens.selected == "At the lake")
        #expect(screens.text.contains("http://three/ · never opened"))
        screens.press("s")
        #expect(await saved(screens) == "http://one/\nhttp://three/\t\tAt the lake")
        // The opened gallery has the same title.
        screens.press(Key(.enter))
        #expect(screens.title.hasPrefix(" At the lake"))
        screens.press("q", "e", Key(.enter), .control("u"), Key(.enter))
        #expect(names(screens) == ["http://one/", "http://three/"])
        screens.press(Key(.escape), "g", "e", .control("u"))
        screens.type("four")
        screens.press(Key(.escape))
        #expect(names(screens).first == "http://one/")
    }

    @Test func aPresetCanHaveATitleButNoOtherAddress() async throws {
        let screens = try screens("one", presets: [preset])
        screens.press("e")
        #expect(screens.text.contains("Title:"))
        screens.type("Try this")
        screens.press(Key(.enter), "s")
        #expect(names(screens) == ["Try this", "http://one/"])
        #expect(await saved(screens) == "http://one/\n\(preset)\t\tTry this")
    }

    @Test func galleriesCanBeReordered() async throws {
        let screens = try screens("one", "two", "three", presets: [preset])
        // The preset stays at the top; no gallery moves above it.
        screens.press("-", "+", "j", "-")
        #expect(!screens.title.contains("not saved"))
        screens.press("+")
        #expect(names(screens).dropFirst() == ["http://two/", "http://one/", "http://three/"])
        #expect(screens.selected == "http://one/")
        screens.press("+", "+")
        #expect(names(screens).dropFirst() == ["http://two/", "http://three/", "http://one/"])
        screens.press("-", "s")
        #expect(await saved(screens) == "http://two/\nhttp://one/\nhttp://three/")
    }

    @Test("BEHAVIOURS 6.1: removing a gallery deletes its cache only if the user says so")
    func removed() async throws {
        let screens = try screens("one")
        let other = try Address("http://one/")
        // Another process has it open, or had.
        let others = try CacheFolder(path: screens.folder.path("cache"), log: screens.log)
        do {
            let cache = try others.open(other)
            try await cache.writer.recordOpened(at: Timestamp(milliseconds: 1))
        }
        screens.size.columns = 200
        screens.press("?", Key(.escape))
        try await screens.until { screens.text.contains("0 photos") }
        screens.press("d")
        #expect(
            screens.status.contains(
                #/Remove “http://one/”\?  l from the list only  c and its cache, [\d.]+ KB  n no/#)
        )
        screens.press("n")
        #expect(names(screens).count == 1)
        screens.press("d", "l", "s")
        #expect(await saved(screens) == "")
        #expect(screens.text.contains("No galleries yet") && screens.caches.gallery(other) != nil)
        screens.press("a")
        screens.type("one")
        screens.press(Key(.enter))
        try await screens.until { screens.text.contains("0 photos") }
        screens.press("s", "d", "c")
        #expect(screens.caches.gallery(other) != nil, "nothing counts before it is saved")
        screens.press("s")
        // The other process still has it open.
        try await screens.until { screens.status.contains("another process") || screens.status.contains("in use") }
        #expect(screens.caches.gallery(other) != nil)
    }

    @Test("BEHAVIOURS 5.8: a cache is deleted before the program ends")
    func removedOnQuitting() async throws {
        let screens = try screens("one")
        let other = try Address("http://one/")
        do { _ = try CacheFolder(path: screens.folder.path("cache"), log: screens.log).open(other) }
        screens.press("?", Key(.escape))
        try await screens.until { screens.text.contains("0 photos") }
        screens.press("d", "c", "s", "Q")
        #expect(screens.quits == 1)
        #expect(await screens.root.finish() == nil)
        #expect(screens.caches.gallery(other) == nil)
    }

    @Test func theCacheOfAnOpenGalleryIsEmptied() async throws {
        let screens = try screens()
        try await screens.sync(["a"])
        try await screens.store(TestScreens.picture(red: 1), as: .original, of: "a")
        let moment = Timestamp(milliseconds: 0)
        screens.activity.recordFailure(
            FailureReport(
                screens.list, Failure("gone", remedy: .none), attempts: 1, first: moment, last: moment))
        try await screens.caches.discard(screens.cache.address)
        #expect(try screens.cache.read { try $0.gallery() }.photoCount == 0)
        #expect(screens.activity.failures.isEmpty)
        // The cache of a gallery that is not open is removed.
        let other = try Address("http://other/")
        do {
            let others = try CacheFolder(path: screens.folder.path("cache"), log: screens.log)
            _ = try others.open(other)
        }
        #expect(screens.caches.gallery(other) != nil)
        try await screens.caches.discard(other)
        #expect(screens.caches.gallery(other) == nil)
    }

    @Test func aGalleryCanBeUpdatedAndStopped() async throws {
        let screens = try screens("one")
        let list = Wish.Subject.list(GalleryID(try Address("http://one/")))
        screens.press("r")
        #expect(screens.status == " Updating one/.")
        screens.press("e", Key(.enter))
        screens.type("At the lake")
        screens.press(Key(.enter), "s", "r")
        #expect(screens.status == " Updating At the lake.")
        for await snapshot in screens.wishes.snapshots() where snapshot.asked[list] != nil { break }
        screens.press("x")
        #expect(!screens.wishes.isStanding(list))
    }

    @Test func wideRowsHaveColumnsForSizesAndErrors() async throws {
        let screens = try TestScreens(remembered: [Address("http://example.org/album/index.xml")])
        try await screens.sync(["a", "b"])
        try await screens.note(.bad(Failure("gone", remedy: .none)), for: .original, of: "a")
        screens.open()
        screens.press("q")
        // The first look-up may have older facts.
        try await screens.until { screens.text.contains("1 error") }
        #expect(screens.text.contains(#/2 photos · Updated: .* · [\d.]+ KB · 1 error/#))
        #expect(screens.text.contains(#/example\.org/album/index\.xml +list/#))
        screens.size.columns = 120
        #expect(screens.text.contains(#/example\.org/album/index\.xml +list +2 photos +[\d.]+ KB +1 error/#))
    }
}
