import Commands
import Concurrency
import Session
import Cells
import Foundation
import Logging
import Model
import Pictures
import PictureTestSupport
import Pixels
import Settings
import Synchronization
import TestSupport
import Testing

@testable import Cache
@testable import UI

/// All screens over a real cache, built as in the program. The test replaces terminal and network.
@MainActor final class TestScreens {
    let folder = TestFolder()
    let log: Log
    let wishes = Wishes()
    let activity = Activity()
    let waits = ManualWait()
    let caches: CacheFolder
    let cache: GalleryCache
    /// Every saved list of galleries.
    let saved = Saved()
    /// Photos opened in other programs.
    let opened = Opened()
    private(set) var root: RootScreen
    private(set) var context: ScreenContext
    var size = Size(columns: 80, rows: 24)
    /// The number of quits that the root screen requested.
    var quits = 0
    var copied: [String] = []
    /// The number of requested frames.
    var wantedFrames = 0
    private let news = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    final class Saved: Sendable {
        let lists = Mutex<[GalleryList]>([])
        /// The error of the next saves.
        let failure = Mutex<SettingsError?>(nil)
    }

    final class Opened: Sendable {
        let photos = Mutex<[[PhotoKey]]>([])
        /// The error of the next openings.
        let failure = Mutex<String?>(nil)
    }

    init(
        _ settings: Settings = Settings(), arguments: [String]? = nil, presets: [Address] = [],
        remembered: [Address] = [],
        list: GalleryList? = nil,
        keeping: CredentialKeeping? = nil, places: RememberedPlaces? = nil, now: Timestamp? = nil,
        gallery: Address? = nil
    ) throws {
        // Dates are compared as text.
        setenv("TZ", "UTC", 1)
        let clock = { @Sendable in now ?? Timestamp(milliseconds: Log.systemTime()) }
        log = Log(level: .debug, now: { clock().milliseconds })
        caches = try CacheFolder(
            path: folder.path("cache"), log: log, activity: activity, credentials: CredentialStore(keeping: keeping))
        cache = try caches.open(gallery ?? Address("http://example.org/album/index.xml"))
        let developer = PictureRenderer(
            caches: caches, decoder: DecoderClient(path: try DecoderProcess.path, from: .server), log: log)
        let galleries = RememberedGalleries(presets: presets, list: list ?? GalleryList(remembered)) {
            [saved] list, _ in
            if let failure = saved.failure.withLock({ $0.take() }) { throw failure }
            saved.lists.withLock { $0.append(list) }
            return list
        }
        let home = folder.path
        context = ScreenContext(
            caches: caches, wishes: wishes, activity: activity,
            pipeline: PicturePipeline(renderer: developer, width: 1),
            log: log,
            settings: try arguments.map {
                try LiveSettings(try Invocation($0), Locations { $0 == "HOME" ? home : nil })
            } ?? LiveSettings(settings), galleries: galleries, places: places,
            locations: Locations { $0 == "HOME" ? home : nil }, currentFolder: "/pictures",
            capabilities: Capabilities(colours: .full), exportFolder: folder.path("pictures"),
            creationMask: .ownerOnly,
            open: { [opened] keys, _ in
                if let failure = opened.failure.withLock({ $0.take() }) { return failure }
                opened.photos.withLock { $0.append(keys) }
                return nil
            }, wait: { [waits] in try await waits.wait($0) }, now: clock)
        root = RootScreen(context)
        connect()
    }

    private func connect() {
        let deliver = context.feed.deliver
        context.feed.deliver = { [news] update in
            deliver(update)
            news.continuation.yield()
        }
        root.host.onNeedsDisplay = { [weak self] in
            self?.wantedFrames += 1
            self?.news.continuation.yield()
        }
        root.host.onQuit = { [weak self] in self?.quits += 1 }
        root.host.onCopy = { [weak self] in self?.copied.append($0) }
    }

    // MARK: - The terminal

    /// Opens the gallery at a photo.
    func open(at photo: String? = nil, isPhotoOpen: Bool = false) {
        root.start(at: Place(gallery: cache.address, photo: photo, isPhotoOpen: isPhotoOpen))
    }

    func press(_ keys: Key...) { for key in keys { root.handle(InputEvent.key(key)) } }

    func use(_ action: InputEvent.Mouse.Action, _ column: Int, _ row: Int) {
        root.handle(InputEvent.mouse(InputEvent.Mouse(action, at: Point(column: column, row: row))))
    }

    func paste(_ text: String) { root.handle(InputEvent.paste(text)) }

    func bringToFront(_ isInFront: Bool) { root.handle(InputEvent.focus(isInFront)) }

    func type(_ text: String) { for character in text { press(.character(character)) } }

    /// Makes a gallery without automatic updates in a window of so many columns.
    static func offering(_ ids: [String], columns: Int) async throws -> TestScreens {
        var settings = Settings()
        settings.syncOnOpen = false
        let screens = try TestScreens(settings)
        screens.size.columns = columns
        try await screens.sync(ids)
        return screens
    }

    /// Expects that a timer stops while another screen covers this one, and continues afterwards.
    func expectClockStopsBehindAnotherScreen(
        _ interval: Duration, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        _ = frame()
        _ = await waits.nextBegin()
        press("?")
        _ = frame()
        #expect(waits.count == 0, sourceLocation: sourceLocation)
        press(Key(.escape))
        _ = frame()
        #expect(await waits.nextBegin() == interval, sourceLocation: sourceLocation)
    }

    func frame() -> Surface { root.frame(size) }

    var text: String { frame().text }
    var title: String { frame().text(inRow: 0) }
    var status: String { frame().text(inRow: size.rows - 1) }

    /// The text of the first row with the selection mark, without the scroll bar and the preview pane.
    var selected: String? {
        let frame = frame()
        return (0..<size.rows).map { frame.text(inRow: $0) }.first { $0.contains("▌") }
            .map {
                $0.drop { $0 != "▌" }.dropFirst().prefix { !"█│".contains($0) }.trimmingCharacters(in: .whitespaces)
            }
    }

    /// Returns a row's text without the scroll bar.
    func rowBesideBar(_ row: Int) -> String {
        let text = frame().text(inRow: row)
        guard let last = text.last, "█│".contains(last) else { return text }
        return String(text.dropLast().reversed().drop { $0 == " " }.reversed())
    }

    /// A function that makes ``until(_:)`` check its condition again.
    var checkAgain: @Sendable () -> Void { { [news] in news.continuation.yield() } }

    /// Returns when the condition holds. Checks it after every update and frame request.
    ///
    /// Throws after a minute, so that a test whose condition never holds fails instead of hanging.
    func until(_ condition: () async throws -> Bool) async throws {
        if try await condition() { return }
        let clock = BootClock()
        let deadline = clock.now + .seconds(60)
        let alarm = Task { [news] in
            try await clock.sleep(until: deadline)
            news.continuation.yield()
        }
        defer { alarm.cancel() }
        for await _ in news.stream {
            if try await condition() { return }
            if clock.now >= deadline { throw TooLate(screen: text) }
        }
    }

    /// The screen when a condition had not come true for a minute.
    private struct TooLate: Error {
        let screen: String
    }

    // MARK: - The network

    static func entry(_ id: String, name: String? = nil, date: Int64, thumbnail: Bool = true) throws -> GalleryEntry {
        let base = try Address("http://example.org/album/index.xml")
        return GalleryEntry(
            id: id, name: name ?? "Photo \(id)", date: Timestamp(milliseconds: date * 1000),
            photo: try base.resolving("p/\(id)"), thumbnail: thumbnail ? try base.resolving("t/\(id)") : nil)
    }

    func sync(_ entries: [GalleryEntry], skipped: Int = 0, at time: Int64 = 1_154_245_637) async throws {
        let draft = try cache.beginSync()
        try draft.add(entries)
        _ = try await cache.writer.commit(
            draft.finish(), skipped: skipped, validators: Validators(), at: Timestamp(milliseconds: time * 1000))
    }

    /// Updates the list to photos with these ids, in this order.
    func sync(_ ids: [String]) async throws {
        try await sync(ids.enumerated().map { try Self.entry($1, date: Int64($0)) })
    }

    func photo(_ id: String) throws -> Photo { try cache.read { try $0.photo(galleryID: id)! } }

    func subject(_ id: String, _ rendition: Rendition) throws -> Wish.Subject {
        .picture(cache.id, try photo(id).key, rendition)
    }

    func note(_ trouble: RenditionState.Trouble, for rendition: Rendition, of id: String) async throws {
        let photo = try photo(id)
        try await cache.writer.recordTrouble(trouble, for: rendition, of: photo.key, edition: photo[rendition].edition)
    }

    func store(_ bytes: [UInt8], as rendition: Rendition, of id: String) async throws {
        let photo = try photo(id)
        switch rendition {
        case .thumbnail:
            try await cache.writer.store(thumbnail: bytes, of: photo.key, edition: photo.thumbnail.edition)
        case .original:
            let partial = try cache.files.makePartial(of: photo.key, edition: photo.original.edition)
            try FileHandle(fileDescriptor: partial.descriptor, closeOnDealloc: false).write(contentsOf: Data(bytes))
            try await cache.writer.store(photo: partial, of: photo.key, edition: photo.original.edition)
        }
    }

    /// Begins a photo with some received bytes, in a file that lasts as long as the returned object.
    func begin(_ bytes: [UInt8], of id: String) throws -> PartialFile {
        let photo = try photo(id)
        let partial = try cache.files.makePartial(of: photo.key, edition: photo.original.edition)
        try FileHandle(fileDescriptor: partial.descriptor, closeOnDealloc: false).write(contentsOf: Data(bytes))
        return partial
    }

    /// Makes a picture of one colour.
    static func picture(red: UInt8) -> [UInt8] {
        PNGFile(PixelBuffer(width: 40, height: 30) { _, _ in PixelColor(red: red, green: 0, blue: 0) }).bytes
    }

    /// The list's wish.
    var list: Wish.Subject { .list(cache.id) }

    /// Returns the current wishes.
    func wished() async -> [Wish] { await wishes.snapshots().next()?.wishes ?? [] }

    func importance(of subject: Wish.Subject) async -> Importance? {
        await wished().first { $0.subject == subject }?.importance
    }
}

extension RootScreen {
    /// The command line, if it is open.
    var commandLine: CommandPrompt? { if case .command(let prompt) = modals.current { prompt } else { nil } }

    /// The parts of the question, if one is open.
    var question: [String]? { if case .question(let parts, _) = modals.current { parts } else { nil } }
}
