import Cache
import Cells
import Session
import Model
import Settings
import Synchronization
import TestSupport
import Testing
import Text

@testable import UI

@MainActor @Suite(.unlessItHangs) struct PhotoActionsTests {
    private let screens: TestScreens

    init() async throws {
        screens = try await TestScreens.offering(["a", "b", "c"], columns: 120)
    }

    /// Opens the gallery at the second photo.
    private func open(isPhotoOpen: Bool) {
        screens.open(at: "b", isPhotoOpen: isPhotoOpen)
    }

    @Test(arguments: [false, true]) func opensAPhotoInAnotherProgram(isPhotoOpen: Bool) async throws {
        open(isPhotoOpen: isPhotoOpen)
        screens.press("o")
        try await screens.until { screens.status == " Opened in another program: “Photo b”." }
        #expect(screens.opened.photos.withLock { $0 } == [[try screens.photo("b").key]])
        screens.opened.failure.withLock { $0 = "There is no display to open it on." }
        screens.press("o")
        try await screens.until { screens.status == " There is no display to open it on." }
        #expect(screens.opened.photos.withLock { $0.count } == 1)
    }

    @Test(arguments: [false, true]) func copiesTheAddress(isPhotoOpen: Bool) {
        open(isPhotoOpen: isPhotoOpen)
        screens.press("y")
        #expect(screens.copied == ["http://example.org/album/p/b"])
        #expect(screens.status == " Sent the address to the clipboard.")
    }

    @Test("The first addresses are sent whole if the clipboard does not take all")
    func copiesTheFirstAddresses() async throws {
        let ids = (10..<90).map { String(repeating: "x", count: 1_000) + "\($0)" }
        try await screens.sync(ids)
        let keys = try ids.map { try screens.photo($0).key }
        let results = try FetchedResults(of: screens.cache)
        PhotoActions(screens.context, results: results, from: screens.root).perform(.copy, on: keys)
        let copied = try #require(screens.copied.first)
        let sent = copied.split(separator: "\n").map(String.init)
        let addresses = ids.map { "http://example.org/album/p/" + $0 }
        #expect(sent.count < addresses.count && sent == Array(addresses.prefix(sent.count)))
        // The next address and the two line ends would not fit.
        #expect(copied.utf8.count <= Capabilities.clipboardLimit)
        #expect(copied.utf8.count + addresses[0].utf8.count + 2 > Capabilities.clipboardLimit)
        #expect(
            screens.status == " Sent the addresses of the first \(sent.count) of 80 photos to the clipboard.")
    }

    /// Updates the list to so many photos. Returns their keys in list order.
    private func sync(_ count: Int) async throws -> [PhotoKey] {
        try await screens.sync((0..<count).map { "p\($0)" })
        var keys: [PhotoKey] = []
        try screens.cache.read { reader in try reader.forEachPhoto { keys.append($0.key) } }
        return keys
    }

    @Test("The paths of very many photos are read in the background, even if only the last photo is cached")
    func copiesTheLastPath() async throws {
        let keys = try await sync(6_000)
        try await screens.store(TestScreens.picture(red: 9), as: .original, of: "p5999")
        let stored = try #require(try screens.cache.read { try $0.photoFile(of: keys[5_999]) })
        let results = try FetchedResults(of: screens.cache)
        let actions = PhotoActions(screens.context, results: results, from: screens.root)
        actions.perform(.copyPath, on: keys)
        #expect(screens.copied.isEmpty && screens.status.contains("clipboard") == false)
        try await screens.until { screens.status == " Sent the path to the clipboard." }
        #expect(screens.copied == [screens.cache.files.path(stored)])
        actions.perform(.copyPath, on: Array(keys.dropLast()))
        try await screens.until { screens.status.contains("The photo is not cached, so it has no path.") }
        #expect(screens.copied.count == 1)
    }

    @Test("A copy in the background does not replace a newer copy", arguments: [1, 3_000])
    func newestCopy(count: Int) async throws {
        let keys = try await sync(6_000)
        let results = try FetchedResults(of: screens.cache)
        let actions = PhotoActions(screens.context, results: results, from: screens.root)
        actions.perform(.copy, on: keys)
        let older = try #require(screens.context.backgroundCopy)
        // One line is copied at once, and many lines in the background, too.
        actions.perform(.copy, on: Array(keys.suffix(count)))
        let newer = try #require(screens.context.backgroundCopy)
        await older.value
        await newer.value
        #expect(screens.copied.count == 1)
        #expect(screens.copied.first?.hasPrefix("http://example.org/album/p/p\(6_000 - count)") == true)
    }

    @Test("Nothing is copied in a terminal without a clipboard, and a notice says so")
    func copiesNothingWithoutAClipboard() async throws {
        try await screens.store(TestScreens.picture(red: 9), as: .original, of: "b")
        screens.root.adopt(Capabilities(clipboard: false))
        open(isPhotoOpen: false)
        for key in ["y", "Y"] as [Key] {
            screens.press(key)
            #expect(screens.status == " " + ClipboardText.unavailable && screens.copied.isEmpty)
        }
    }

    @Test(arguments: [false, true]) func copiesThePathOfACachedPhoto(isPhotoOpen: Bool) async throws {
        open(isPhotoOpen: isPhotoOpen)
        screens.press("Y")
        #expect(screens.copied.isEmpty && screens.status.contains("so it has no path. Copy its address instead."))
        try await screens.store(TestScreens.picture(red: 9), as: .original, of: "b")
        screens.press("Y")
        let key = try screens.photo("b").key
        let stored = try #require(try screens.cache.read { try $0.photoFile(of: key) })
        #expect(screens.copied == [screens.cache.files.path(stored)])
    }

    /// Opens a local folder whose only photo has a file with this name.
    private static func openLocal(_ name: [UInt8]) async throws -> (screens: TestScreens, path: [UInt8]) {
        var settings = Settings()
        settings.syncOnOpen = false
        let local = try TestScreens(settings, gallery: Address(filePath: "/pictures"))
        let path = Array("/pictures/".utf8) + name
        let entry = GalleryEntry(
            id: "a", name: "Photo a", date: Timestamp(milliseconds: 1_000), photo: Address(filePath: path),
            thumbnail: nil)
        try await local.sync([entry])
        local.open(at: "a")
        return (local, path)
    }

    @Test("Y copies the exact path of a local file, with invisible characters")
    func copiesTheExactPath() async throws {
        let name = "\u{2600}\u{FE0F} \u{645}\u{6CC}\u{200C}\u{631}\u{648}\u{645}\u{200F}.jpg"
        let (local, path) = try await Self.openLocal(Array(name.utf8))
        local.press("Y")
        #expect(local.copied.map { Array($0.utf8) } == [path])
        #expect(local.status == " Sent the path to the clipboard.")
    }

    @Test(
        "Y copies no path with control characters, line separators or other bytes than UTF-8",
        arguments: [[0x61, 0x0A], [0x61, 0x1B], [0x61, 0xC2, 0x9B], [0x61, 0xE2, 0x80, 0xA8], [0x61, 0xFF]]
            as [[UInt8]])
    func refusesUnsafePaths(name: [UInt8]) async throws {
        let (local, _) = try await Self.openLocal(name)
        local.press("Y")
        #expect(local.copied.isEmpty && local.text.contains("Vitrine copies no path with control characters"))
    }

    @Test func anEmptyGalleryHasNothingToActOn() async throws {
        try await screens.sync([])
        screens.open()
        screens.press("o", "y", "Y")
        #expect(screens.copied.isEmpty && screens.opened.photos.withLock { $0.isEmpty })
    }

    @Test func deletesAPhotoFromTheCacheOnly() async throws {
        try await screens.store(TestScreens.picture(red: 9), as: .original, of: "b")
        open(isPhotoOpen: false)
        screens.press("D")
        try await screens.until { screens.status == " Deleted from the cache, not from the gallery: “Photo b”." }
        #expect(try screens.photo("b").original.held == nil)
        #expect(await screens.importance(of: try screens.subject("b", .original)) == nil)
        screens.press(Key(.delete))
        try await screens.until { screens.status.contains("Nothing to delete: “Photo b” is not cached.") }
    }

    /// The wish for a photo that the user left ends when the photo arrives.
    @Test func deletingDoesNotFetchALeftPhotoAgain() async throws {
        open(isPhotoOpen: true)
        _ = screens.frame()
        screens.press("q")
        _ = screens.frame()
        let subject = try screens.subject("b", .original)
        #expect(await screens.importance(of: subject) == .rest)
        try await screens.store(TestScreens.picture(red: 9), as: .original, of: "b")
        try await screens.until {
            _ = screens.frame()
            return await screens.importance(of: subject) == nil
        }
        screens.press("D")
        try await screens.until { screens.status.contains("Deleted from the cache") }
        _ = screens.frame()
        #expect(await screens.importance(of: subject) == nil)
    }

    @Test func deletingTheOpenPhotoClosesItsScreen() async throws {
        open(isPhotoOpen: true)
        screens.press("D")
        #expect(
            screens.status.contains("Nothing to delete: the photo is not cached.") && screens.root.place.isPhotoOpen)
        try await screens.store(TestScreens.picture(red: 9), as: .original, of: "b")
        try await screens.until { !screens.text.contains("Loading") }
        screens.press("D")
        try await screens.until { screens.status == " Deleted from the cache, not from the gallery: “Photo b”." }
        #expect(!screens.root.place.isPhotoOpen && screens.root.place.photo == "b")
        _ = screens.frame()
        // A wish would fetch it again at once.
        #expect(await screens.importance(of: try screens.subject("b", .original)) == nil)
    }

    @Test(
        "A deleted photo is not fetched again, even if its newer edition was loading for the photo screen or a reload",
        arguments: [false, true], [false, true])
    func deletingAnOutdatedPhoto(isLeft: Bool, isReloaded: Bool) async throws {
        try await screens.store(TestScreens.picture(red: 9), as: .original, of: "b")
        open(isPhotoOpen: true)
        try await screens.until { !screens.text.contains("Loading") }
        let subject = try screens.subject("b", .original)
        try await screens.cache.writer.refetch([try screens.photo("b").key])
        if isReloaded { screens.wishes.ask(for: subject) }
        screens.activity.setProgress(Progress(done: 10, total: 1_000), of: subject)
        try await screens.until { screens.status.hasPrefix(" Loading… ") }
        if isLeft {
            screens.press("q")
            _ = screens.frame()
        }
        #expect(await screens.importance(of: subject) != nil)
        screens.press("D")
        try await screens.until { screens.status.contains("Deleted from the cache") }
        _ = screens.frame()
        #expect(await screens.importance(of: subject) == nil)
    }

    @Test func deletingSeveralPhotosAsksFirst() async throws {
        try await screens.store(TestScreens.picture(red: 9), as: .original, of: "a")
        open(isPhotoOpen: false)
        let keys = try ["a", "b"].map { try screens.photo($0).key }
        let results = try FetchedResults(of: screens.cache)
        let actions = PhotoActions(screens.context, results: results, from: screens.root)
        actions.perform(.delete, on: keys)
        #expect(screens.status == " Delete 2 photos from the cache? (y/n)")
        screens.press("n")
        #expect(try screens.photo("a").original.held != nil)
        actions.perform(.delete, on: keys)
        screens.press("y")
        // Only one of them was cached.
        try await screens.until { screens.status.contains("Deleted from the cache, not from the gallery: 1 photo.") }
        #expect(try screens.photo("a").original.held == nil)
    }

    @Test(arguments: [false, true]) func reloadingKeepsTheOldPhotoVisible(isPhotoOpen: Bool) async throws {
        try await screens.store(TestScreens.picture(red: 9), as: .original, of: "b")
        open(isPhotoOpen: isPhotoOpen)
        screens.press(.control("r"))
        try await screens.until { screens.status == " Reloading “Photo b”." }
        let state = try screens.photo("b").original
        #expect(state.isWanting && state.held == 1)
        let asked = try #require(await screens.wishes.snapshots().next()?.asked)
        #expect(try Set(asked.keys) == [screens.subject("b", .original), screens.subject("b", .thumbnail)])
    }

    @Test("A reload of very many photos marks all as outdated, and requests the first ones in a few steps")
    func reloadsVeryManyPhotos() async throws {
        let keys = try await sync(2_100)
        try await screens.store(TestScreens.picture(red: 9), as: .original, of: "p0")
        for id in ["p0", "p2099"] { try await screens.store(TestScreens.picture(red: 9), as: .thumbnail, of: id) }
        let steps = Mutex(0)
        let relay = screens.wishes.relay { _ in steps.withLock { $0 += 1 } }
        let results = try FetchedResults(of: screens.cache)
        PhotoActions(screens.context, results: results, from: screens.root).perform(.renew, on: keys)
        try await screens.until { screens.status.contains("Reloading") }
        let numbers = [2_100, 2_048].map { NumberFormat.current.text($0) }
        #expect(
            screens.status
                == " Reloading \(numbers[0]) photos: the first \(numbers[1]) now, the others when you view them.")
        let asked = try #require(await screens.wishes.snapshots().next()?.asked)
        let thumbnails = keys.prefix(2_048).map { Wish.Subject.picture(screens.cache.id, $0, .thumbnail) }
        #expect(try Set(asked.keys) == Set(thumbnails + [screens.subject("p0", .original)]))
        #expect(await screens.wished().allSatisfy { $0.importance < .visible }, "the screen's thumbnails come first")
        for id in ["p0", "p2099"] {
            let state = try screens.photo(id).thumbnail
            #expect(state.isWanting && state.held == 1)
        }
        #expect(steps.withLock { $0 } < 10)
        withExtendedLifetime(relay) {}
    }

    @Test func offlineRefusesToReload() async throws {
        var settings = Settings()
        settings.offline = true
        let screens = try TestScreens(settings)
        try await screens.sync(["a"])
        screens.open()
        screens.press(.control("r"))
        #expect(screens.status == " Offline: type “:set offline no” to fetch photos.")
    }

    @Test func showInListLeavesTheFilter() async throws {
        screens.open(at: "a")
        screens.press("f")
        screens.type("b")
        try await screens.until { screens.title.contains("1 of 1") }
        screens.press(Key(.enter), Key(.enter))
        #expect(screens.title.hasPrefix(" Photo b"))
        screens.press(Key(.enter))
        try await screens.until { screens.title.contains("2 of 3") }
        #expect(screens.selected == "Photo b" && !screens.root.place.isPhotoOpen)
    }

    @Test func aSlideshowStartsFromTheList() async throws {
        for id in ["a", "b", "c"] { try await screens.store(TestScreens.picture(red: 9), as: .original, of: id) }
        screens.open(at: "b")
        screens.press("S")
        try await screens.until { screens.title.contains("2 of 3 · fit · slideshow") }
        _ = await screens.waits.nextBegin()
        screens.waits.pass()
        try await screens.until { screens.title.hasPrefix(" Photo c ") }
        screens.press("q")
        #expect(screens.selected == "Photo c")
    }

    @Test func aSlideshowOfSomePhotosShowsOnlyThose() throws {
        let slideshow = Slideshow(screens.context)
        let keys = [5, 9, 2].map { PhotoKey($0) }
        slideshow.start(over: keys)
        #expect(slideshow.slides(after: keys[1], limit: 2, where: { _ in true }) == [keys[2], keys[0]])
        // A photo outside the slides leads to the first one.
        #expect(slideshow.slides(after: PhotoKey(7), limit: 2, where: { _ in true }) == [keys[0], keys[1]])
        // Photos that are not listed do not count towards the limit.
        #expect(slideshow.slides(after: keys[1], limit: 1, where: { $0 != keys[2] }) == [keys[0]])
        slideshow.stop()
        #expect(slideshow.slides.isEmpty)
    }

    @Test func refreshesAllGalleries() async throws {
        let other = try Address("http://other.example.org/")
        let screens = try TestScreens(remembered: [other])
        screens.open()
        screens.wishes.fulfil(screens.list)
        screens.press("R")
        #expect(screens.status == " Updating 2 galleries.")
        for await snapshot in screens.wishes.snapshots() where snapshot.asked.count == 2 { break }
        #expect(screens.caches.cache(GalleryID(other)) != nil)
    }
}
