import Foundation
import HTTP
import Logging
import Model
import Session
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// The albums, people and favorites of stand-ins for Immich and Nextcloud.
@Suite(.ownThread, .unlessItHangs) struct AlbumListTests {
    private let galleries: ServedGalleries
    private static let (summer, empty, shared) = (
        "00000000-0000-4000-8000-0000000000b1", "00000000-0000-4000-8000-0000000000b2",
        "00000000-0000-4000-8000-0000000000b3"
    )
    private static let (person, unnamed, hidden) = (
        "00000000-0000-4000-8000-0000000000c1", "00000000-0000-4000-8000-0000000000c2",
        "00000000-0000-4000-8000-0000000000c3"
    )

    init() throws { galleries = try ServedGalleries() }

    private func immich(_ settings: [String: any Sendable] = [:], keys: [String: [String]]? = nil) async throws
        -> ImmichServer
    {
        var all: [String: any Sendable] = [
            "albums": [Self.summer: [1, 2, 3], Self.empty: [], Self.shared: [4]],
            "people": [Self.person: [5], Self.unnamed: [6], Self.hidden: [7]], "hidden": [Self.hidden],
            "names": [
                Self.summer: "Summer", Self.empty: "Empty", Self.shared: "Of others", Self.person: "Grandma",
                Self.hidden: "Hidden",
            ],
        ]
        all.merge(settings) { $1 }
        return try await ImmichServer.start(photos: 10, keys: keys ?? [ImmichServer.key: ["all"]], settings: all)
    }

    /// Opens the gallery of a server, updates its list, and then fetches the albums.
    private func opening(
        _ url: String, _ signIn: SignIn, _ body: (GalleryCache) async throws -> Void
    ) async throws {
        try await galleries.opening(url, signedInAs: signIn) { cache in
            await galleries.fetch(.list(cache.id))
            await galleries.fetch(.albums(cache.id))
            try await body(cache)
        }
    }

    private static let signIn = SignIn.header(name: "x-api-key", value: ImmichServer.key)

    private func list(_ cache: GalleryCache) throws -> AlbumList { try cache.read { try $0.albums() } }

    private func names(_ cache: GalleryCache) throws -> [String] { try list(cache).albums.map(\.name) }

    // MARK: - Immich

    @Test("Immich's favorites, albums and named people are listed, and each opens as a gallery")
    func immichAlbums() async throws {
        let server = try await immich()
        try await opening(server.url("/"), Self.signIn) { cache in
            let list = try list(cache)
            #expect(list.trouble == nil && list.lastSuccess != nil)
            #expect(Set(list.albums.map(\.name)) == ["Favorites", "Summer", "Empty", "Of others", "Grandma"])
            #expect(list.albums.first?.kind == .favorites && list.albums.last?.kind == .person)
            let summer = try #require(list.albums.first { $0.name == "Summer" })
            #expect(summer.count == 3 && summer.address.text == server.url("/albums/\(Self.summer)"))
            // The cover is a photo of the gallery.
            let cover = try #require(summer.cover)
            #expect(try cache.read { try $0.photo(galleryID: cover) }?.name == "IMG_000001.jpg")
            for album in list.albums {
                let opened = try galleries.context.caches.open(album.address)
                galleries.enter(Self.signIn, opened)
                await galleries.fetch(.list(opened.id))
                let count = try opened.read { try $0.gallery() }.photoCount
                #expect(count == album.count ?? 1, "\(album.name): \(count)")
            }
        }
    }

    @Test("Before version 3, the albums of other users need a request of their own", arguments: [2, 3])
    func othersAlbums(version: Int) async throws {
        let server = try await immich(["version": version, "others": [Self.shared]])
        try await opening(server.url("/"), Self.signIn) { cache in
            let (names, trouble) = (try names(cache), try list(cache).trouble)
            #expect(names.count { $0 == "Of others" } == 1 && names.count { $0 == "Summer" } == 1)
            #expect(trouble == nil)
        }
    }

    @Test("People are read in pages, and only as long as they have names")
    func peoplePages() async throws {
        let ids = (0..<2_500).map { String(format: "00000000-0000-4000-8000-%012x", $0 + 4_096) }
        let named = Dictionary(uniqueKeysWithValues: ids.prefix(1_001).map { ($0, "Name \($0)") })
        let people = Dictionary(uniqueKeysWithValues: ids.map { ($0, [1]) })
        let server = try await immich(["people": people, "names": named, "albums": [String: [Int]]()])
        try await opening(server.url("/"), Self.signIn) { cache in
            let albums = try list(cache).albums
            #expect(albums.count { $0.kind == .person } == 1_001)
            #expect(server.requests.count { $0.hasPrefix("GET /api/people") } == 3)
            // The third page has no names, so nothing would follow even if there were a fourth.
            #expect(server.requests.contains("GET /api/people 3 200"))
        }
    }

    @Test(
        "A list without permission is named, and the others are shown",
        arguments: [
            (["asset.read", "person.read"], ["Favorites", "Grandma"], "the API key lacks the permission album.read"),
            (["asset.read", "album.read"], nil, "the API key lacks the permission person.read"),
            (["asset.read"], ["Favorites"], "the API key lacks the permissions album.read and person.read"),
        ])
    func permissions(allowed: [String], expected: [String]?, trouble: String) async throws {
        let server = try await immich(keys: [ImmichServer.key: allowed])
        try await opening(server.url("/"), Self.signIn) { cache in
            let list = try list(cache)
            #expect(expected.map { $0 == list.albums.map(\.name) } ?? (list.albums.count == 4))
            #expect(list.trouble == trouble)
            #expect(galleries.activity.questions.isEmpty && galleries.activity.failures.isEmpty)
        }
    }

    @Test("A list that a new key does not allow keeps its albums")
    func lessPermission() async throws {
        let server = try await immich(keys: [ImmichServer.key: ["all"], "less": ["asset.read", "person.read"]])
        try await opening(server.url("/"), Self.signIn) { cache in
            let before = try list(cache)
            galleries.enter(.header(name: "x-api-key", value: "less"), cache)
            await galleries.fetch(.albums(cache.id))
            #expect(try Set(list(cache).albums) == Set(before.albums))
            #expect(try list(cache).trouble == "the API key lacks the permission album.read")
        }
    }

    @Test("A refused key leads to a question, and the old albums stay")
    func refusedKey() async throws {
        let server = try await immich()
        try await opening(server.url("/"), Self.signIn) { cache in
            let before = try list(cache)
            galleries.enter(.header(name: "x-api-key", value: "wrong"), cache)
            await galleries.fetch(.albums(cache.id))
            #expect(galleries.activity.questions.first?.keyHeader == "x-api-key")
            #expect(try list(cache).albums == before.albums)
            let trouble = try #require(try list(cache).trouble)
            #expect(trouble.hasSuffix("refuses the API key") && !galleries.activity.isReadingAlbums(of: cache.id))
        }
    }

    @Test("An answer of another form changes nothing")
    func otherAnswer() async throws {
        let server = try await immich()
        try await opening(server.url("/"), Self.signIn) { cache in
            let before = try list(cache).albums
            try server.order(["raw": ["/api/albums": #"{"message":"hello"}"#]])
            await galleries.fetch(.albums(cache.id))
            let after = try list(cache)
            #expect(after.albums == before && after.trouble != nil)
        }
    }

    @Test("A gallery that is no photo library needs no request")
    func others() async throws {
        let server = try ScriptedServer { _ in .answer(200, "<list/>", headers: ["Content-Type: application/xml"]) }
        try await galleries.opening(server.url("/list.xml")) { cache in
            await galleries.fetch(.list(cache.id))
            let before = server.requests.count
            await galleries.fetch(.albums(cache.id))
            let list = try list(cache)
            #expect(server.requests.count == before && list == AlbumList())
        }
    }

    // MARK: - Nextcloud

    private func nextcloud(_ files: TestFolder) async throws -> NextcloudServer {
        let picture = try Data(contentsOf: URL(fileURLWithPath: Built.testGallery + "/images/tiny.jpg"))
        files.write("a.jpg", Array(picture))
        files.write("2024/b.jpg", Array(picture))
        return try await NextcloudServer.start(
            serving: files.path, shares: ["Ab3dEf6hIj9kLmN": .init(of: "2024")],
            albums: ["Summer 2024": ["a.jpg", "2024/b.jpg"], "Ünder": ["a.jpg"]], login: "me@example.org")
    }

    @Test(
        "Nextcloud's albums are listed with their counts, and each opens as a gallery",
        arguments: ["/", "/remote.php/dav/files/me/2024/", "/apps/photos/albums/Summer%202024"])
    func nextcloudAlbums(path: String) async throws {
        let files = TestFolder()
        let server = try await nextcloud(files)
        let signIn = SignIn.password(user: "me@example.org", password: NextcloudServer.password)
        try await opening(server.url(path), signIn) { cache in
            let albums = try list(cache).albums.sorted { $0.name < $1.name }
            #expect(albums.map(\.name) == ["Summer 2024", "Ünder"], "\(server.requests)")
            #expect(albums.map(\.count) == [2, 1] && albums.allSatisfy { $0.kind == .album })
            for album in albums {
                let opened = try galleries.context.caches.open(album.address)
                galleries.enter(signIn, opened)
                await galleries.fetch(.list(opened.id))
                #expect(try opened.read { try $0.gallery() }.photoCount == album.count, "\(server.requests)")
            }
        }
    }

    @Test("A public share has no albums, and asks no account")
    func share() async throws {
        let files = TestFolder()
        let server = try await nextcloud(files)
        try await galleries.opening(server.url("/s/Ab3dEf6hIj9kLmN")) { cache in
            await galleries.fetch(.list(cache.id))
            let before = server.requests.count
            await galleries.fetch(.albums(cache.id))
            let list = try list(cache)
            #expect(list.albums.isEmpty && list.trouble == nil && list.lastSuccess != nil)
            #expect(server.requests.count == before)
        }
    }
}
