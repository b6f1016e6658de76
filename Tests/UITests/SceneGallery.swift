import Cells
import Foundation
import Model
import Pictures
import Settings
import TestSupport
import Testing

@testable import Cache
@testable import UI

/// The contents of scenes: the TestGallery at a fixed time.
@MainActor
final class SceneGallery {
    let screens: TestScreens

    /// Sunday, the 4th of January 2026, at noon.
    nonisolated static let now = Timestamp(milliseconds: 1_767_528_000_000)

    /// The user's galleries.
    enum List {
        /// Not even the preset.
        case none
        /// Only the preset, as at the first start.
        case preset
        case several
    }

    /// The opened gallery, which has a title; one never opened; and one with an unreachable server.
    private nonisolated static let addresses = """
        http://example.org/album/index.xml\tevery 30m\tSummer on the coast
        https://photos.example.net/2025/
        http://192.168.1.20:8080/gallery.xml\tnever
        """

    init(_ size: Size, _ list: List, _ change: (inout Settings) -> Void) throws {
        var settings = Settings()
        settings.syncOnOpen = false
        change(&settings)
        let presets = list == .none ? [] : [Address(filePath: "/usr/local/share/vitrine/TestGallery")]
        screens = try TestScreens(
            settings, presets: presets, list: GalleryList(text: list == .several ? Self.addresses : ""),
            now: Self.now)
        screens.size = size
        screens.context.exports.folder = "/home/anna/Pictures"
    }

    /// Returns the time so many seconds from now.
    static func moment(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: now.milliseconds + seconds * 1_000) }

    // MARK: - Contents

    /// The photos of the TestGallery, as its list names them.
    static func entries() throws -> [GalleryEntry] {
        let list = try String(contentsOfFile: Built.testGallery + "/index.xml", encoding: .utf8)
        let base = try Address("http://example.org/album/index.xml")
        return try list.matches(of: #/<photo name="([^"]*)" date="([^"]*)" id="([^"]*)"/#).map { match in
            let (name, date, id) = (match.output.1, match.output.2, String(match.output.3))
            return GalleryEntry(
                id: id, name: name.replacingOccurrences(of: "&amp;", with: "&"),
                date: Timestamp(iso8601: String(date))!,
                photo: try base.resolving("images/\(id).jpg"),
                thumbnail: try base.resolving("thumbnails/\(id).jpg"))
        }
    }

    /// Stores the list, with two new photos, all thumbnails except a missing and a pending one, and two photos.
    func fill() async throws {
        let entries = try Self.entries()
        let news: Set = ["star-tiles", "snow"]
        let time = Self.now.seconds - 117
        try await screens.sync(entries.filter { !news.contains($0.id) }, at: time)
        try await screens.cache.writer.recordLeft()
        try await screens.sync(entries, skipped: 2, at: time)
        for entry in entries where !["october-oak", "owl"].contains(entry.id) {
            try await screens.store(try Self.file("thumbnails/\(entry.id).jpg"), as: .thumbnail, of: entry.id)
        }
        for id in ["lighthouse", "misty-hills"] {
            try await screens.store(try Self.file("images/\(id).jpg"), as: .original, of: id)
        }
        try await screens.note(
            .bad(Failure("the server answered 404 (not found)", remedy: .none)), for: .thumbnail, of: "october-oak")
        try await screens.note(
            .putOff(Failure("the server answered 503 (server error)", remedy: .time)), for: .original, of: "snow")
    }

    private static func file(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: "\(Built.testGallery)/\(name)")))
    }

    /// Stores the photos as files in folders, with all thumbnails, and opens the folder of a photo.
    func openFolders(at photo: String) async throws {
        let folders = [
            "owl": "Animals", "paper-fox": "Animals", "moon": "Sky", "milky-way": "Sky", "snow": "Winter 2010",
        ]
        func path(_ id: String) -> String { folders[id].map { "At home/\($0)/\(id).jpg" } ?? "Journeys/\(id).jpg" }
        let entries = try Self.entries().map { entry in
            var file = entry
            (file.id, file.name, file.revision) = (path(entry.id), "\(entry.id).jpg", "1")
            if ["jetty", "bulge"].contains(entry.id) { file.id = "At home/\(entry.id).jpg" }
            return file
        }
        try await screens.sync(entries, at: Self.now.seconds - 117)
        for (entry, id) in zip(entries, try Self.entries().map(\.id)) {
            try await screens.store(try Self.file("thumbnails/\(id).jpg"), as: .thumbnail, of: entry.id)
        }
        let place = try #require(entries.first { $0.name == photo })
        screens.open(at: place.id)
        screens.press("t")
        let list = try #require(screens.root.children.last as? PhotosScreen)
        try await screens.until { list.lists.folder != nil }
    }

    /// Stores the photos as those of a photo server, with albums, and opens the albums.
    func openAlbums() async throws {
        try await fill()
        let server = try Address("http://example.org/")
        let draft = try screens.cache.beginSync()
        try draft.add(try Self.entries())
        _ = try await screens.cache.writer.commit(
            draft.finish(), skipped: 0, validators: Validators(), source: ListSource(kind: .immich, root: server),
            at: Self.moment(-117))
        let covers = [nil, "lighthouse", "october-oak", nil]
        let albums = [
            Album(.favorites, at: try server.resolving("favorites"), name: "Favorites"),
            Album(
                .album, at: try server.resolving("albums/1"), name: "Summer on the coast", count: 1_042,
                cover: covers[1]),
            Album(.album, at: try server.resolving("albums/2"), name: "Autumn", count: 1, cover: covers[2]),
            Album(.person, at: try server.resolving("people/1"), name: "Grandma"),
        ]
        try await screens.cache.writer.replaceAlbums(albums, at: Self.moment(-60))
        screens.open()
        screens.press("A", "j")
        let list = try #require(screens.root.children.last as? AlbumsScreen)
        try await screens.until {
            let frame = screens.frame()
            guard list.scroll.window.contains(1), let place = list.scroll.frame(of: 1) else { return false }
            return place.rows.contains { row in place.columns.contains { frame[$0, row].isTrueColour } }
        }
    }

    /// Fixes the stored size of a gallery's photos, because database sizes vary.
    func weigh(_ address: Address, _ bytes: UInt64) throws {
        let path = try #require(screens.caches.gallery(address)).folder + "/photos/weight"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        try FileHandle(forWritingTo: URL(fileURLWithPath: path)).truncate(atOffset: bytes)
    }

    /// Opens the list of galleries: one was updated, and one failed.
    func openGalleries() async throws {
        try await fill()
        try weigh(screens.cache.address, 1_340_000_000)
        let lost = try Address("http://192.168.1.20:8080/gallery.xml")
        let cache = try screens.caches.open(lost)
        let draft = try cache.beginSync()
        try draft.add([TestScreens.entry("a", date: 1)])
        _ = try await cache.writer.commit(
            draft.finish(), skipped: 0, validators: Validators(), at: Self.moment(-200_000))
        try await cache.writer.recordSyncFailure(Failure("192.168.1.20:8080 cannot be reached", remedy: .network))
        try weigh(lost, 2_340_000_000)
        let galleries = try #require(screens.root.children.first as? GalleriesScreen)
        galleries.lookUpSizes()
        try await screens.until {
            galleries.facts.count == 2 && galleries.facts.values.allSatisfy { $0.size > 1_000_000_000 }
        }
    }

    /// Waits until the list of galleries has their facts.
    func lookedUp() async throws {
        let galleries = try #require(screens.root.children.first as? GalleriesScreen)
        try await screens.until { galleries.hasLookedUp }
    }

    // MARK: - Actions of the user

    /// Opens the gallery at a photo, presses keys, and waits for the visible pictures.
    func open(at photo: String? = nil, isPhotoOpen: Bool = false, _ keys: Key...) async throws {
        try await fill()
        screens.open(at: photo, isPhotoOpen: isPhotoOpen)
        try await drawn()
        for key in keys { screens.press(key) }
        try await drawn()
    }

    /// Waits until all available pictures are drawn.
    func drawn() async throws {
        try await screens.until { isDrawn }
    }

    /// Waits until the list has so many photos.
    func found(_ count: Int) async throws {
        let list = try #require(screens.root.children.last as? PhotosScreen)
        try await screens.until { !list.lists.isSearching && list.lists.found?.count == count }
        try await drawn()
    }

    /// Waits until the photo's metadata is known.
    func examined() async throws {
        let photo = try screens.photo(#require(screens.root.place.photo))
        let examination = PictureOrder.examination(of: photo, in: screens.cache.id)
        try await screens.until {
            _ = screens.frame()
            return screens.context.pipeline.examination(examination) != nil
        }
    }

    /// Whether the screen shows a picture in its middle.
    var showsPicture: Bool { screens.frame()[screens.size.columns / 2, screens.size.rows / 2].isTrueColour }

    private func photo(at index: Int, of results: FetchedResults) -> Photo? {
        results.key(at: index).flatMap { try? results.photo($0) }
    }

    /// Whether the preview pane shows the picture of its photo, which may be in a folder below, or the photo has none.
    private func isPaneDrawn(_ frame: Surface, _ results: FetchedResults) -> Bool {
        let rows = 1..<screens.size.rows - 1
        let rule = (1..<screens.size.columns - 1).first { column in
            rows.allSatisfy { ["│", "█"].contains(frame[column, $0].text) }
        }
        guard let rule, screens.size.columns >= PhotoPane.leastWidth else { return true }
        let columns = rule + 2..<screens.size.columns
        let lines = rows.map { row in
            columns.reduce("") { $0 + frame[$1, row].text }.trimmingCharacters(in: .whitespaces)
        }
        let named = (0..<results.count).lazy.compactMap { self.photo(at: $0, of: results) }
            .first { photo in lines.contains { $0.count > 2 && photo.name.hasPrefix($0) } }
        guard let named, named.thumbnail.held ?? named.original.held != nil else { return true }
        return rows.contains { row in columns.contains { frame[$0, row].isTrueColour } }
    }

    private var isDrawn: Bool {
        // Dialogs open after the pictures are drawn. The plain interface draws none.
        guard screens.root.modals.notice == nil, screens.root.question == nil, screens.root.commandLine == nil,
            !screens.context.settings.plain
        else {
            return true
        }
        let frame = screens.frame()
        switch screens.root.children.last {
        case let list as PhotosScreen where list.focus is SortMenu: return true
        case let list as PhotosScreen:
            let results = list.lists.shown
            return isPaneDrawn(frame, list.lists.all)
                && list.scroll.window.allSatisfy { index in
                    guard let place = list.scroll.frame(of: index), let key = list.lists.entries.picture(at: index),
                        let photo = try? results.photo(key),
                        photo.thumbnail.held ?? photo.original.held != nil
                    else { return true }
                    return place.rows.contains { row in place.columns.contains { frame[$0, row].isTrueColour } }
                }
        case let screen as PhotoScreen:
            let photo = screens.root.place.photo.flatMap { try? screens.photo($0) }
            guard let photo, let held = photo.original.held else { return true }
            // After a key, the picture of the previous view may still be shown.
            let order = screen.picture.view.order(.picture(screens.cache.id, photo.key, .original), edition: held)
            return screen.picture.isPhotoShown && screens.context.pipeline.picture(order) != nil
        default: return true
        }
    }
}
