import Cells
import Session
import Model
import Numbers
import Settings
import TestSupport
import Testing

@testable import UI

@MainActor @Suite(.unlessItHangs) struct GalleriesScreenTests {
    private let preset = Address(filePath: "/usr/share/vitrine/TestGallery")

    private func screens(_ hosts: String..., presets: [Address] = []) throws -> TestScreens {
        try TestScreens(presets: presets, remembered: hosts.map { try Address("http://\($0)/") })
    }

    private func add(_ text: String, to screens: TestScreens) {
        screens.press("a")
        screens.type(text)
        screens.press(Key(.enter))
    }

    /// Returns the addresses on the screen, from top to bottom.
    private func addresses(_ screens: TestScreens) -> [String] {
        let frame = screens.frame()
        return stride(from: 1, to: screens.size.rows - 2, by: 2).map { frame.text(inRow: $0) }
            .map { String($0.dropFirst(3)) }.filter { $0.contains("://") || $0.hasPrefix("/") }
    }

    private func saved(_ screens: TestScreens) -> [[String]] {
        screens.saved.lists.withLock { $0.map { $0.addresses.map(\.text) } }
    }

    @Test("BEHAVIOURS 2.2, 6.1: an empty list says how to add a gallery")
    func empty() throws {
        let screens = try screens()
        #expect(screens.title.hasPrefix(" Galleries"))
        #expect(screens.text.contains("No galleries yet: press a to add one."))
        #expect(screens.status.hasPrefix(" No gallery"))
        screens.press("d", "s", Key(.enter), "j")
        #expect(screens.text.contains("No galleries yet"))
    }

    @Test(
        "BEHAVIOURS 6.1: typed addresses are trimmed and completed",
        arguments: [
            ("  example.org/a.xml ", "http://example.org/a.xml"), ("HTTPS://Example.org", "https://example.org/"),
            ("localhost:8080/x", "http://localhost:8080/x"), ("/srv/photos/", "/srv/photos"),
            ("./here", "/pictures/here"),
        ])
    func completed(typed: String, address: String) throws {
        let screens = try screens()
        add(typed, to: screens)
        #expect(addresses(screens) == [address] && screens.selected == address)
        #expect(screens.status.hasPrefix(" 1 gallery"))
    }

    @Test("A typed path of a photo adds the photo's folder")
    func addedByAPhoto() async throws {
        let pictures = TestFolder()
        let screens = try screens()
        add(pictures.write("album/a.jpg", "x"), to: screens)
        try await screens.until { screens.status.hasPrefix(" 1 gallery") }
        screens.press("s")
        await screens.context.galleries.settled()
        #expect(saved(screens) == [[Address(filePath: pictures.path("album")).text]])
    }

    @Test(
        "A typed s3:// address is in the user’s storage service, even after spaces",
        arguments: ["s3://photos/a", "  s3://photos/a"])
    func buckets(typed: String) throws {
        let screens = try screens()
        screens.context.buckets = { BucketService(region: "eu-west-1") }
        add(typed, to: screens)
        #expect(addresses(screens) == ["https://photos.s3.eu-west-1.amazonaws.com/a"])
    }

    @Test(
        "A local folder is shown and edited as a path, if the path can be typed",
        arguments: [
            ("/tmp/My Söm 100%", "/tmp/My Söm 100%"), ("/tmp/a%20b", "/tmp/a%20b"),
            ("file:///tmp/a%20", "file:///tmp/a%20"),
        ])
    func localFolders(typed: String, shown: String) throws {
        let screens = try screens()
        add(typed, to: screens)
        #expect(screens.selected == shown)
        screens.press("e")
        #expect(screens.text.contains("Address: \(shown)"))
        screens.press(Key(.enter))
        screens.type("Home")
        screens.press(Key(.enter))
        #expect(addresses(screens).isEmpty && screens.text.contains("\(shown) · never opened"))
        screens.press("e", Key(.enter), .control("u"), Key(.enter))
        #expect(addresses(screens) == [shown])
    }

    @Test(
        "BEHAVIOURS 6.1: an invalid address is refused, with the reason, and can be corrected",
        arguments: [
            ("ftp://example.org/", "ftp: addresses are not supported; use http, https, file or a path."),
            ("   ", "The address is empty."), ("http://", "The address has no host."),
            ("http://a b/", "“a b” is not a valid host name."),
            ("example.org:99999", "“99999” is not a valid port."),
        ])
    func refused(typed: String, reason: String) throws {
        let screens = try screens()
        add(typed, to: screens)
        #expect(screens.status == " \(reason)")
        #expect(screens.text.contains("Address: \(typed)".trimmingCharacters(in: .whitespaces)))
        #expect(addresses(screens).isEmpty)
        screens.press(.control("u"))
        screens.type("example.org")
        screens.press(Key(.enter))
        #expect(addresses(screens) == ["http://example.org/"])
    }

    @Test("BEHAVIOURS 6.1: a gallery is listed once; adding it again selects it")
    func noneTwice() throws {
        let screens = try screens("one", "two", presets: [preset])
        let before = addresses(screens)
        #expect(before == ["/usr/share/vitrine/TestGallery", "http://one/", "http://two/"])
        add("HTTP://ONE:80", to: screens)
        #expect(addresses(screens) == before && screens.selected == "http://one/")
        add("/usr/share/../share/vitrine/TestGallery", to: screens)
        #expect(addresses(screens) == before && screens.selected == before[0])
        #expect(!screens.title.contains("not saved"))
    }

    @Test("BEHAVIOURS 6.1: removing selects the next or previous gallery")
    func deletes() throws {
        let screens = try screens("one", "two", "three", presets: [preset])
        screens.press("j", "j", "d")
        #expect(screens.selected == "http://three/")
        screens.press(Key(.delete))
        #expect(screens.selected == "http://one/")
        screens.press("d")
        #expect(screens.selected == "/usr/share/vitrine/TestGallery")
        #expect(addresses(screens).count == 1 && screens.title.hasSuffix("not saved"))
    }

    @Test("BEHAVIOURS 6.1: a built-in gallery can be removed for good, and a command brings it back")
    func builtIn() async throws {
        let screens = try screens("one", presets: [preset])
        screens.press("d")
        #expect(addresses(screens) == ["http://one/"] && screens.title.hasSuffix("not saved"))
        #expect(screens.status == " Removed the built-in gallery. D restores it.")
        screens.press("s")
        await screens.context.galleries.settled()
        #expect(
            screens.context.galleries.presets.isEmpty
                && screens.context.galleries.list.text.hasSuffix("\nno-built-in-galleries\n"))
        screens.press("D")
        #expect(addresses(screens) == ["/usr/share/vitrine/TestGallery", "http://one/"])
        #expect(screens.selected == "/usr/share/vitrine/TestGallery")
        screens.press("s")
        await screens.context.galleries.settled()
        #expect(
            screens.context.galleries.presets == [preset] && !screens.context.galleries.list.text.contains("built-in"))
        screens.press("D")
        #expect(screens.status == " No built-in gallery is missing.")
    }

    @Test("BEHAVIOURS 6.1: a list that lasts only until Vitrine ends is not reported as saved")
    func keptForThisRun() async throws {
        let screens = try screens("one")
        screens.context.galleries.isKept = { false }
        add("two", to: screens)
        screens.press("s")
        try await screens.until { screens.status.hasPrefix(" Kept only until Vitrine ends: ") }
        #expect(!screens.title.contains("not saved"))
    }

    @Test("BEHAVIOURS 6.1: save writes the changes")
    func saves() async throws {
        let screens = try screens("one")
        add("two", to: screens)
        #expect(screens.title.hasSuffix("not saved") && saved(screens).isEmpty)
        screens.press("s")
        try await screens.until { screens.status == " Saved the list of galleries." }
        #expect(saved(screens) == [["http://one/", "http://two/"]])
        #expect(!screens.title.contains("not saved") && screens.selected == "http://two/")
        screens.press("s")
        #expect(screens.status == " No changes to save.")
        // There are no changes to discard now.
        screens.press(Key(.escape), Key(.escape))
        #expect(screens.quits == 0 && addresses(screens).count == 2 && !screens.status.contains("n stay"))
        screens.press("q")
        #expect(screens.quits == 1)
    }

    @Test("BEHAVIOURS 6.1: Escape asks whether to save or discard changes, and does not quit")
    func escapeAsks() async throws {
        let screens = try screens("one", "two")
        screens.press("d")
        add("three", to: screens)
        screens.press(Key(.escape))
        #expect(
            screens.text.contains("Unsaved changes:  s save  d discard  n stay"))
        #expect(addresses(screens) == ["http://two/", "http://three/"])
        screens.press("n")
        #expect(addresses(screens) == ["http://two/", "http://three/"] && screens.title.hasSuffix("not saved"))
        screens.press(Key(.escape), "d")
        #expect(addresses(screens) == ["http://one/", "http://two/"] && !screens.title.contains("not saved"))
        add("three", to: screens)
        screens.press(Key(.escape), "s")
        await screens.context.galleries.settled()
        #expect(saved(screens) == [["http://one/", "http://two/", "http://three/"]] && screens.quits == 0)
    }

    @Test(
        "BEHAVIOURS 6.1: quitting with changes asks whether to save or discard them first",
        arguments: ["q", "Q"] as [Character], [false, true])
    func quittingAsks(key: Character, isHelpOpen: Bool) async throws {
        guard !isHelpOpen || key == "Q" else { return }
        let screens = try screens("one", "two")
        screens.press("d")
        if isHelpOpen { screens.press("L") }
        screens.press(.character(key))
        #expect(
            screens.quits == 0
                && screens.status == " Quit with unsaved changes?  s save and quit  d discard and quit  n stay")
        screens.press(Key(.escape))
        #expect(screens.quits == 0 && saved(screens).isEmpty)
        screens.press(.character(key), "d")
        #expect(screens.quits == 1 && saved(screens).isEmpty)
        if isHelpOpen { screens.press(Key(.escape)) }
        screens.press("d", .character(key), "s")
        #expect(screens.quits == 2)
        await screens.context.galleries.settled()
        #expect(saved(screens) == [["http://one/"]])
    }

    @Test("BEHAVIOURS 6.1: Escape cancels typing")
    func escapes() throws {
        let screens = try screens("one")
        screens.press("a")
        screens.type("ftp://q")
        #expect(screens.frame().cursor != nil)
        screens.press(Key(.enter), Key(.escape))
        #expect(addresses(screens) == ["http://one/"] && screens.frame().cursor == nil)
        #expect(screens.status.hasPrefix(" 1 gallery"))
        screens.press("a")
        #expect(!screens.text.contains("ftp"))
        #expect(screens.status == " Enter: add  Esc: cancel")
    }

    @Test("At 80 columns the last update and the interval are always visible")
    func aRowKeepsTheDateAndTheInterval() async throws {
        var list = GalleryList()
        let screens = try TestScreens(
            list: {
                let address = try! Address("http://example.org/album/index.xml")
                list.add(address)
                list.setTitle("A gallery with a title of its own", of: address)
                list.setInterval(SyncInterval("2h"), of: address)
                return list
            }())
        try await screens.sync(["a"])
        let reason = String(repeating: "the server answered something long ", count: 4)
        try await screens.cache.writer.recordSyncFailure(Failure(reason, remedy: .time))
        screens.press("?", Key(.escape))
        try await screens.until { screens.text.contains("Update failed") }
        let line = screens.frame().text(inRow: 2)
        #expect(line.contains("Update failed") && line.contains("Updated: 2006-07-30 07:47:17 · every 2h"), "\(line)")
    }

    @Test("BEHAVIOURS 6.1: the help and the log keep unsaved changes", arguments: ["?", "L"] as [Character])
    func looksAway(key: Character) throws {
        let screens = try screens("one")
        add("two", to: screens)
        screens.press(.character(key), Key(.escape))
        #expect(addresses(screens) == ["http://one/", "http://two/"] && screens.selected == "http://two/")
        #expect(screens.title.hasSuffix("not saved"))
    }

    @Test("BEHAVIOURS 6.1: Enter saves the list and opens the selected gallery")
    func opens() async throws {
        let screens = try screens("one")
        add(screens.cache.address.text, to: screens)
        screens.press(Key(.enter))
        #expect(screens.title.hasPrefix(" example.org/album/index.xml"))
        #expect(screens.root.place.gallery == screens.cache.address)
        screens.press("q")
        #expect(screens.selected == screens.cache.address.text && !screens.title.contains("not saved"))
        await screens.context.galleries.settled()
        #expect(saved(screens) == [["http://one/", screens.cache.address.text]])
    }

    @Test("BEHAVIOURS 6.1: a failed save is reported and can be repeated")
    func savingFails() async throws {
        let screens = try screens("one")
        screens.press("d")
        screens.saved.failure.withLock { $0 = .file(path: "/galleries", reason: "No space left on device") }
        screens.press("s")
        try await screens.until { screens.status == " /galleries: No space left on device." }
        screens.press("s")
        try await screens.until { screens.status == " Saved the list of galleries." }
        #expect(saved(screens) == [[]])
    }

    @Test(
        "BEHAVIOURS 5.8: a list saved just before quitting is written, or the failure is reported",
        arguments: [true, false])
    func savedOnQuitting(isWritten: Bool) async throws {
        let screens = try screens("one")
        screens.press("d")
        if !isWritten {
            screens.saved.failure.withLock { $0 = .file(path: "/galleries", reason: "Disk quota exceeded") }
        }
        screens.press("s", "Q")
        #expect(screens.quits == 1)
        #expect(await screens.root.finish() == (isWritten ? nil : "/galleries: Disk quota exceeded."))
        #expect(saved(screens) == (isWritten ? [[]] : []))
    }

    @Test("BEHAVIOURS 4.2: keep can be toggled and is shown in the row")
    func marksToBeKept() async throws {
        let screens = try screens("one")
        add(screens.cache.address.text, to: screens)
        try await screens.sync(["a"])
        screens.press("s", "K")
        try await screens.until { screens.text.contains(#/1 photo · Updated: [-: \d]+ · kept/#) }
        #expect(try screens.cache.read { try $0.gallery() }.isKept)
        screens.press("K")
        try await screens.until { !screens.text.contains(" · kept") }
        #expect(try !screens.cache.read { try $0.gallery() }.isKept)
    }

    /// Typed text applies to the gallery that was selected when typing began.
    @Test(
        "Typing keeps the selected gallery",
        arguments: [Key(.down), Key(.up), Key(.pageDown), Key(.pageUp)])
    func typingKeepsTheSelection(key: Key) throws {
        let screens = try screens("one", "two", "three")
        screens.press("j", "i")
        #expect(screens.text.contains(" Update interval:"))
        screens.press(key)
        screens.type("2h")
        screens.press(Key(.enter))
        #expect(screens.selected == "http://two/")
        let rows = (0..<24).map { screens.frame().text(inRow: $0) }
        let place = try #require(rows.firstIndex { $0.contains("http://two/") })
        #expect(rows[place + 1].contains("every 2") && rows.count { $0.contains("every 2") } == 1)
        screens.press("a", key)
        #expect(screens.selected == "http://two/")
    }

    @Test(arguments: [false, true]) func keepRefusesAGalleryThatWasNeverOpened(isBegun: Bool) async throws {
        let screens = try screens("one")
        let address = try Address("http://one/")
        // Another process made the folder, and ended before it wrote a database.
        if isBegun { screens.folder.write("cache/galleries/\(GalleryID(address))/lock", "") }
        screens.press("K")
        try await screens.until { screens.status.contains("no cache to protect") }
        #expect(screens.text.contains("never opened"))
        // The key made no cache.
        #expect(screens.caches.cache(GalleryID(address)) == nil)
        #expect(screens.caches.gallery(address)?.isEmpty == (isBegun ? true : nil))
    }

    @Test func keepReportsItsFailure() async throws {
        let screens = try screens("one")
        screens.size.columns = 300
        let id = GalleryID(try Address("http://one/"))
        screens.folder.write("cache/galleries/\(id)", "a file where a folder should be")
        screens.press("K")
        try await screens.until { screens.status.contains("is not a folder of yours") }
        #expect(screens.text.contains("never opened"))
    }

    @Test func rowsFollowTheUpdate() async throws {
        let screens = try screens("one")
        add(screens.cache.address.text, to: screens)
        try await screens.sync(["a"])
        var frames = screens.wantedFrames
        // The next look-up may have to wait for the throttle.
        let passing = Task { while await screens.waits.nextBegin() != nil { screens.waits.pass() } }
        screens.activity.setPhase(.getting(Progress(done: 0)), of: screens.cache.id)
        try await screens.until { screens.text.contains("1 photo · Updating") }
        passing.cancel()
        await passing.value
        #expect(screens.wantedFrames > frames)
        // Many progress reports cause only a few frames per second.
        frames = screens.wantedFrames
        let changes = screens.activity.changes()
        for done in 1...50 {
            screens.activity.setPhase(.getting(Progress(done: ByteCount(done))), of: screens.cache.id)
            _ = await changes.next()
        }
        #expect(screens.wantedFrames <= frames + 1)
    }

    @Test("After an update, the list has the gallery's new size")
    func sizesFollowTheUpdate() async throws {
        let screens = try screens("one")
        let list = try #require(screens.root.children.first as? GalleriesScreen)
        add(screens.cache.address.text, to: screens)
        try await screens.sync(["a"])
        let passing = Task { while await screens.waits.nextBegin() != nil { screens.waits.pass() } }
        defer { passing.cancel() }
        screens.activity.setPhase(.getting(Progress(done: 0)), of: screens.cache.id)
        try await screens.until { screens.text.contains("1 photo · Updating") }
        var size: Int64 { list.facts[screens.cache.address]?.size ?? 0 }
        #expect((1..<4_000_000).contains(size))
        try await screens.store([UInt8](repeating: 1, count: 4_000_000), as: .original, of: "a")
        screens.activity.endUpdate(of: screens.cache.id)
        try await screens.until { size > 4_000_000 }
    }

    @Test(
        "After the user leaves a gallery that waits for a retry, its row shows the failure, unless the user stopped it",
        arguments: [false, true])
    func leftDuringAWait(isStopped: Bool) async throws {
        let screens = try screens("one")
        add(screens.cache.address.text, to: screens)
        try await screens.sync(["a"])
        screens.press(Key(.enter))
        let failure = Failure("the server cannot be reached", remedy: .time)
        try await screens.cache.writer.recordSyncFailure(failure)
        screens.activity.setPhase(
            .waiting(failure, until: Timestamp(milliseconds: 1_800_000_000_000)), of: screens.cache.id)
        if isStopped {
            screens.press("x")
            screens.activity.endUpdate(of: screens.cache.id, cancelled: true)
        }
        let passing = Task { while await screens.waits.nextBegin() != nil { screens.waits.pass() } }
        screens.press("q")
        // The controller reports the same for both, because both stop the list's wish.
        screens.activity.endUpdate(of: screens.cache.id, cancelled: true)
        try await screens.until { screens.text.contains("1 photo · Update ") }
        #expect(screens.text.contains(isStopped ? "Update cancelled" : "Update failed"))
        passing.cancel()
        await passing.value
    }

    @Test func rowsShowTheFactsOfEachGallery() async throws {
        let screens = try screens("one", presets: [preset])
        add(screens.cache.address.text, to: screens)
        try await screens.sync(["a"])
        screens.press(Key(.enter), "q")
        try await screens.until { screens.text.contains("1 photo · Update") }
        #expect(screens.text.contains("built in, never opened"))
        #expect(screens.text.components(separatedBy: "never opened").count == 3)
    }
}
