import Cells
import Commands
import Model
import Session
import Settings
import TestSupport
import Testing

@testable import Cache
@testable import UI

/// The screen with the albums of a photo server.
@MainActor @Suite(.unlessItHangs) struct AlbumsScreenTests {
    private let server = "http://example.org"

    /// Makes screens with a gallery on a photo server, and stores albums.
    private func screens(
        _ albums: [Album]? = nil, kind: GalleryKind = .immich, photos: [String] = [], trouble: String? = nil,
        isListed: Bool = true, _ change: (inout Settings) -> Void = { _ in }
    ) async throws -> TestScreens {
        var settings = Settings()
        settings.syncOnOpen = false
        change(&settings)
        let address = try Address("http://example.org/album/index.xml")
        let screens = try TestScreens(
            settings, remembered: isListed ? [address] : [], now: Timestamp(milliseconds: 1_767_528_000_000))
        let draft = try screens.cache.beginSync()
        try draft.add(photos.enumerated().map { try TestScreens.entry($1, date: Int64($0)) })
        _ = try await screens.cache.writer.commit(
            draft.finish(), skipped: 0, validators: Validators(),
            source: ListSource(kind: kind, root: try Address(server + "/")), at: Timestamp(milliseconds: 5))
        if let albums { try await store(albums, trouble: trouble, screens) }
        return screens
    }

    private func store(_ albums: [Album], trouble: String? = nil, _ screens: TestScreens) async throws {
        try await screens.cache.writer.replaceAlbums(
            albums, trouble: trouble, at: Timestamp(milliseconds: 1_767_520_000_000))
    }

    private func album(
        _ name: String, _ kind: Album.Kind = .album, count: Int? = nil, cover: String? = nil
    ) throws -> Album {
        let id = name.filter(\.isLetter).lowercased()
        return Album(
            kind, at: try Address("\(server)/\(kind == .person ? "people" : "albums")/\(id)"), name: name, count: count,
            cover: cover)
    }

    private var some: [Album] {
        get throws {
            [
                Album(.favorites, at: try Address("\(server)/favorites"), name: "Favorites"),
                try album("Summer on the coast", count: 42), try album("Été 2024", count: 1),
                try album("Grandma", .person),
            ]
        }
    }

    private func subject(_ screens: TestScreens) -> Wish.Subject { .albums(screens.cache.id) }

    private func top(_ screens: TestScreens) -> Screen? { screens.root.children.last }

    // MARK: - The list

    @Test("A key in the gallery lists the cached albums at once, and requests an update")
    func fromGallery() async throws {
        let screens = try await screens(some)
        screens.open()
        screens.press("A")
        #expect(top(screens) is AlbumsScreen && screens.title.hasPrefix(" Albums of example.org/album/index.xml"))
        #expect(screens.title.hasSuffix("1 of 4") && screens.selected == "Favorites")
        for text in ["Summer on the coast", "album · 42 items", "album · 1 item", "Grandma", "person"] {
            #expect(screens.text.contains(text), "\(text)")
        }
        // Their name says that they are favorites.
        #expect(!screens.text.contains("favorites"))
        #expect(screens.status.contains("Updated: ") && screens.wishes.isStanding(subject(screens)))
        screens.press(Key(.escape))
        #expect(screens.root.openGallery != nil && top(screens) is PhotosScreen)
    }

    @Test("The same key in the list of galleries shows the albums of the selected gallery")
    func fromGalleries() async throws {
        let screens = try await screens(some)
        screens.press("A")
        #expect(top(screens) is AlbumsScreen && screens.root.openGallery == nil)
        screens.press("q")
        #expect(top(screens) is GalleriesScreen)
    }

    @Test("A gallery without albums says so, and so does a gallery that was never opened")
    func refused() async throws {
        let screens = try await screens(kind: .web)
        screens.press("A")
        #expect(screens.text.contains("Vitrine lists albums only of Immich, Nextcloud, PhotoPrism and Piwigo servers."))
        let other = try TestScreens(remembered: [try Address("http://photos.example.net/")])
        other.press("A")
        #expect(other.text.contains("Open this gallery first"))
        #expect(top(other) is GalleriesScreen && other.caches.openCaches.count == 1)
    }

    @Test("New albums appear while the screen is open, and the selection stays on its album")
    func follows() async throws {
        let screens = try await screens(some)
        screens.press("A", "j", "j")
        #expect(screens.selected == "Été 2024")
        try await store([try album("New")] + some, screens)
        try await screens.until { screens.text.contains("New") }
        #expect(screens.selected == "Été 2024" && screens.title.hasSuffix("4 of 5"))
        try await store([try album("New")], screens)
        try await screens.until { screens.title.hasSuffix("1 of 1") }
        #expect(screens.selected == "New")
    }

    @Test("The cover is the thumbnail of the gallery's photo, and a missing one is requested")
    func covers() async throws {
        let screens = try await screens(
            [try album("With", cover: "a"), try album("Unknown", cover: "z"), try album("Without")], photos: ["a", "b"])
        screens.press("A")
        #expect(screens.text.contains("…"))
        #expect(await screens.importance(of: try screens.subject("a", .thumbnail)) == .visible)
        try await screens.store(TestScreens.picture(red: 200), as: .thumbnail, of: "a")
        try await screens.until { !screens.text.contains("…") }
        screens.press("q")
        #expect(await screens.importance(of: try screens.subject("a", .thumbnail)) == nil)
    }

    // MARK: - Opening

    @Test("Enter opens the album under its name; going back leads to the albums and then to the gallery")
    func opens() async throws {
        let screens = try await screens(some)
        screens.open()
        screens.press("A", "j", Key(.enter))
        #expect(screens.root.openGallery?.cache.address.text == "\(server)/albums/summeronthecoast")
        #expect(screens.title.hasPrefix(" Summer on the coast"))
        // The key for the albums returns to them.
        screens.press("A")
        #expect(top(screens) is AlbumsScreen && screens.selected == "Summer on the coast")
        screens.press(Key(.enter), "q")
        #expect(top(screens) is AlbumsScreen && screens.root.openGallery?.cache === screens.cache)
        screens.press("q")
        #expect(top(screens) is PhotosScreen)
        screens.press("q")
        #expect(top(screens) is GalleriesScreen)
    }

    @Test("The next run knows the name of an opened album")
    func keptName() async throws {
        let screens = try await screens(some)
        screens.press("A", "j", Key(.enter))
        let album = try #require(screens.root.openGallery?.cache)
        // No screen shows that the name is stored.
        let changes = album.changes()
        while try album.read({ try $0.galleryName() }) != "Summer on the coast" { _ = await changes.next() }
        screens.context.galleryNames = [:]
        screens.press("q", "q")
        #expect(screens.context.title(of: album.address) == "example.org/albums/summeronthecoast")
        screens.root.start(at: Place(gallery: album.address))
        #expect(screens.title.hasPrefix(" Summer on the coast"))
    }

    @Test("An opened album can be added to the list of galleries, with its name as the title")
    func added() async throws {
        let screens = try await screens(some)
        screens.press("A", "j", Key(.enter), "q", "q")
        #expect(screens.text.contains("not in the list: press a to add it"))
        screens.press("a", "s")
        try await screens.until { screens.status == " Saved the list of galleries." }
        let list = try #require(screens.saved.lists.withLock { $0.last })
        #expect(try list.title(of: Address("\(server)/albums/summeronthecoast")) == "Summer on the coast")
    }

    @Test("Below an opened album, the list of galleries keeps the gallery of the albums, and selects the one left last")
    func origin() async throws {
        let screens = try await screens(some, isListed: false)
        let (gallery, albums) = ("http://example.org/album/index.xml", ["summeronthecoast", "grandma"])
        screens.open()
        screens.press("A", "j", Key(.enter), "q", "q", "q")
        #expect(top(screens) is GalleriesScreen && screens.selected?.hasPrefix(gallery) == true)
        #expect(screens.text.contains(albums[0]))
        // The albums open from the gallery's row, too. Another album takes the place of the first one.
        screens.press("A", "G", Key(.enter), "q", "q")
        #expect(screens.selected?.contains(albums[1]) == true)
        #expect(screens.text.contains(gallery) && !screens.text.contains(albums[0]))
    }

    // MARK: - Search

    @Test("A search goes to the next match as the user types, and n and N go on")
    func searches() async throws {
        let screens = try await screens(some + [try album("Late summer")])
        screens.press("A", "/")
        #expect(screens.status == " Type to search.")
        screens.type("sum")
        #expect(screens.selected == "Summer on the coast" && screens.status.hasPrefix(" 2 found"))
        screens.press(Key(.enter), "n")
        #expect(screens.selected == "Late summer" && screens.title.hasSuffix("“sum” 2 of 2"))
        screens.press("n")
        #expect(screens.selected == "Summer on the coast")
        screens.press("N", "/")
        screens.type("ete")
        #expect(screens.selected == "Été 2024")
        screens.press(Key(.escape))
        #expect(screens.selected == "Late summer" && screens.title.hasSuffix("“sum” 2 of 2"))
        screens.press(":")
        screens.type("search winter")
        screens.press(Key(.enter))
        #expect(screens.status == " No match for “winter”.")
    }

    @Test("Escape returns to the album that was selected before the search, even if the list has changed")
    func escapesAfterAChange() async throws {
        let screens = try await screens(some)
        screens.press("A", "j", "j", "/")
        screens.type("sum")
        #expect(screens.selected == "Summer on the coast")
        try await store([try album("New")] + some, screens)
        try await screens.until { screens.title.hasSuffix("3 of 5") }
        screens.press(Key(.escape))
        #expect(screens.selected == "Été 2024" && screens.title.hasSuffix("4 of 5"))
    }

    // MARK: - States

    @Test("While the first albums arrive, the screen says so; x cancels and r requests again")
    func fetching() async throws {
        let screens = try await screens()
        screens.press("A")
        #expect(screens.text.contains("Fetching the albums…"))
        screens.activity.setReadingAlbums(true, of: screens.cache.id)
        try await screens.until { screens.text.contains("Press x to cancel.") }
        screens.press("x")
        #expect(!screens.wishes.isStanding(subject(screens)))
        screens.activity.setReadingAlbums(false, of: screens.cache.id)
        try await screens.until { screens.text.contains("Albums not fetched yet") }
        #expect(screens.text.contains("Press r to fetch the albums."))
        screens.press("r")
        #expect(screens.wishes.isStanding(subject(screens)))
    }

    @Test("If a request ends after the reading of the albums, its end still replaces the hint to stop it")
    func fulfilled() async throws {
        let screens = try await screens(some)
        screens.press("A")
        screens.activity.setReadingAlbums(true, of: screens.cache.id)
        try await screens.until { screens.status.hasPrefix(" Updating…") }
        screens.activity.setReadingAlbums(false, of: screens.cache.id)
        try await screens.until { !screens.status.hasPrefix(" Updating…") }
        #expect(screens.status.contains("x stop"))
        let frames = screens.wantedFrames
        screens.wishes.fulfil(subject(screens))
        try await screens.until { screens.wantedFrames > frames && screens.status.contains("r refresh") }
    }

    @Test("A server without albums says so in one sentence")
    func none() async throws {
        let screens = try await screens([])
        screens.press("A")
        #expect(screens.text.contains("This server lists no albums."))
        #expect(screens.text.contains("Press r to check for albums."))
    }

    @Test("A failure is a sentence, in place of the albums or below them")
    func failed() async throws {
        let empty = try await screens()
        try await empty.cache.writer.recordAlbumTrouble("the server answered 500 (server error)")
        empty.press("A")
        #expect(empty.text.contains("The server answered 500 (server error)"))
        #expect(empty.text.contains("Press r to try again."))
        let listed = try await screens(some, trouble: "the API key lacks the permission person.read")
        listed.press("A")
        #expect(listed.status.hasPrefix(" The API key lacks the permission person.read"))
        #expect(listed.text.contains("Summer on the coast"))
    }

    @Test("Before a retry, the status line tells its time")
    func retry() async throws {
        let screens = try await screens(some, trouble: "the server is unreachable")
        screens.press("A")
        let now = screens.context.now()
        screens.activity.recordFailure(
            FailureReport(
                subject(screens), Failure("the server is unreachable", remedy: .time), attempts: 1, first: now,
                last: now,
                next: Timestamp(milliseconds: now.milliseconds + 60_000)))
        try await screens.until { screens.status.hasPrefix(" Retry at ") }
        #expect(screens.status.contains("The server is unreachable"))
    }

    @Test("Offline, the screen shows the cached albums and requests nothing")
    func offline() async throws {
        let screens = try await screens(some) { $0.offline = true }
        screens.press("A")
        #expect(screens.text.contains("Summer on the coast") && !screens.wishes.isStanding(subject(screens)))
        screens.press("r")
        #expect(screens.status == " Offline: type “:set offline no” to refresh.")
        let empty = try await self.screens { $0.offline = true }
        empty.press("A")
        #expect(empty.text.contains("The albums are not in the cache"))
        #expect(empty.text.contains("Type “:set offline no” to fetch the albums."))
    }

    @Test("After a sign-in, the albums are requested again")
    func signedIn() async throws {
        let screens = try await screens(some)
        screens.press("A")
        screens.wishes.fulfil(subject(screens))
        screens.activity.recordAnswer(for: screens.cache.id)
        // No screen shows the wish.
        for await snapshot in screens.wishes.snapshots() where snapshot.asked[subject(screens)] != nil { break }
    }

    @Test(
        "Every window size has the selected album, and names without control characters", arguments: [20, 40, 80, 200])
    func sizes(columns: Int) async throws {
        let albums = try (0..<300).map { try album("Album \($0)", cover: $0 == 7 ? "a" : nil) }
        let screens = try await screens(albums + [try album("Evil\u{1B}[2J")], photos: ["a"])
        screens.press("A", "G")
        for rows in [5, 12, 24, 60] {
            screens.size = Size(columns: columns, rows: rows)
            #expect(screens.selected?.hasPrefix("E") == true, "\(columns)x\(rows)")
            #expect(!screens.text.contains("\u{1B}"))
        }
        screens.press("?")
        #expect(screens.text.contains("open the album") || columns < 40)
    }
}
