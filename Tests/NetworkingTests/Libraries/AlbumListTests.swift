import Foundation
import HTTP
import Logging
import Model
import Session
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// The albums, people, tags and favorites of stand-ins for photo servers.
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
            "tags": ["Trip": [8]],
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

    private func list(_ cache: GalleryCache) throws -> AlbumList { try cache.albums() }

    private func names(_ cache: GalleryCache) throws -> [String] { try list(cache).albums.map(\.name) }

    // MARK: - Immich

    @Test("Immich's favorites, albums and named people are listed, and each opens as a gallery")
    func immichAlbums() async throws {
        let server = try await immich()
        try await opening(server.url("/"), Self.signIn) { cache in
            let list = try list(cache)
            #expect(list.trouble == nil && list.lastSuccess != nil)
            #expect(Set(list.albums.map(\.name)) == ["Favorites", "Summer", "Empty", "Of others", "Grandma", "Trip"])
            #expect(list.albums.first?.kind == .favorites && list.albums.last?.kind == .tag)
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

    @Test("Immich's tags are listed with their outer tags, and each opens with the photos of the tags in it")
    func immichTags() async throws {
        let server = try await immich([
            "tags": ["Trips/Rome": [1, 2], "Trips/Lake & Sea": [3], "100%": [5], "Ünder/würde?": [6]],
            "albums": [String: [Int]](), "people": [String: [Int]](),
        ])
        try await opening(server.url("/"), Self.signIn) { cache in
            let tags = try list(cache).albums.filter { $0.kind == .tag }
            let names = ["100%", "Trips", "Trips / Lake & Sea", "Trips / Rome", "Ünder", "Ünder / würde?"]
            #expect(tags.map(\.name) == names)
            for (tag, count) in zip(tags, [1, 3, 1, 2, 1, 1]) {
                let record = try await record(of: tag.address)
                #expect(record.photoCount == count, "\(tag.name)")
            }
            // As browsers show it. Pages with a photo have the photo's path in the middle.
            for path in [
                "/tags?path=Trips/Rome", "/tags/photos/1?path=Trips%2FRome", "/tags?path=/Trips%2fLake+%26+Sea/",
            ] {
                let record = try await record(of: try Address(server.url(path)))
                #expect(record.photoCount == (path.contains("Rome") ? 2 : 1), "\(path)")
            }
        }
    }

    /// Updates the list of a gallery on an Immich server. Returns the stored facts about the gallery.
    private func record(of address: Address) async throws -> GalleryRecord {
        let cache = try galleries.context.caches.open(address)
        galleries.enter(Self.signIn, cache)
        await galleries.fetch(.list(cache.id))
        return try cache.read { try $0.gallery() }
    }

    @Test("A tag of many photos is read in pages, and a tag that is gone keeps its photos and says why")
    func immichTagPages() async throws {
        let server = try await ImmichServer.start(
            photos: 2_500, keys: [ImmichServer.key: ["all"], "less": ["asset.read"]],
            settings: ["tags": ["All": Array(0..<2_300)]])
        try await galleries.opening(server.url("/tags?path=All"), signedInAs: Self.signIn) { cache in
            #expect(try await record(of: cache.address).photoCount == 2_300)
            // A request of the detection that is not needed any more may arrive at any time.
            #expect(
                server.requests.filter { $0.contains("/api/tags") || $0.contains("/api/search") } == [
                    "GET /api/tags 200", "POST /api/search/metadata 1 200", "POST /api/search/metadata 2 200",
                    "POST /api/search/metadata 3 200",
                ])
            try server.order(["tags": ["Other": [1]]])
            let after = try await record(of: cache.address)
            #expect(after.photoCount == 2_300)
            #expect(after.failure?.reason.contains("a tag that the server does not have") == true)
            galleries.enter(.header(name: "x-api-key", value: "less"), cache)
            await galleries.fetch(.list(cache.id))
            let refused = try cache.read { try $0.gallery() }
            #expect(refused.photoCount == 2_300 && refused.failure?.reason.contains("tag.read") == true)
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
            (
                ["asset.read", "person.read", "tag.read"], ["Favorites", "Grandma", "Trip"],
                "the API key lacks the permission album.read"
            ),
            (
                ["asset.read", "album.read", "tag.read"], ["Favorites", "Summer", "Empty", "Of others", "Trip"],
                "the API key lacks the permission person.read"
            ),
            (
                ["asset.read", "person.read", "album.read"], ["Favorites", "Summer", "Empty", "Of others", "Grandma"],
                "the API key lacks the permission tag.read"
            ),
            (
                ["asset.read"], ["Favorites"],
                "the API key lacks the permissions album.read, person.read and tag.read"
            ),
        ])
    func permissions(allowed: [String], expected: [String], trouble: String) async throws {
        let server = try await immich(keys: [ImmichServer.key: allowed])
        try await opening(server.url("/"), Self.signIn) { cache in
            let list = try list(cache)
            #expect(Set(list.albums.map(\.name)) == Set(expected))
            #expect(list.trouble == trouble)
            #expect(galleries.activity.questions.isEmpty && galleries.activity.failures.isEmpty)
        }
    }

    @Test(
        "A list that a new key does not allow keeps its albums", arguments: ["album.read", "person.read", "tag.read"])
    func lessPermission(lacking: String) async throws {
        let others = ["asset.read", "album.read", "person.read", "tag.read"].filter { $0 != lacking }
        let server = try await immich(keys: [ImmichServer.key: ["all"], "less": others])
        try await opening(server.url("/"), Self.signIn) { cache in
            let before = try list(cache)
            galleries.enter(.header(name: "x-api-key", value: "less"), cache)
            await galleries.fetch(.albums(cache.id))
            #expect(try Set(list(cache).albums) == Set(before.albums))
            #expect(try list(cache).trouble == "the API key lacks the permission \(lacking)")
        }
    }

    @Test("If the list of tags is broken or too long, the albums and people are still shown")
    func brokenTags() async throws {
        let server = try await immich()
        try await opening(server.url("/"), Self.signIn) { cache in
            let before = try list(cache)
            try server.order(["raw": ["/api/tags": "<!doctype html>"]])
            await galleries.fetch(.albums(cache.id))
            #expect(try Set(list(cache).albums) == Set(before.albums))
            #expect(try list(cache).trouble == "the server does not let you see its tags")
            let many = Dictionary(uniqueKeysWithValues: (0..<5_001).map { ("Tag \($0)", [1]) })
            try server.order(["raw": [String: String]()])
            try server.order(["tags": many])
            await galleries.fetch(.albums(cache.id))
            let after = try list(cache)
            #expect(after.albums.count { $0.kind == .tag } == 5_000 && after.albums.count == 5_005)
            #expect(after.trouble == nil)
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
        for path in ["a.jpg", "2024/b.jpg"] { files.write(path, Array(picture)) }
        return try await NextcloudServer.start(
            serving: files.path, shares: ["Ab3dEf6hIj9kLmN": .init(of: "2024")],
            albums: ["Summer 2024": ["a.jpg", "2024/b.jpg"], "Ünder": ["a.jpg"]],
            sharedAlbums: ["Winter: 2024 (anna)": ["2024/b.jpg"]], login: "me@example.org")
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
            #expect(albums.map(\.name) == ["Summer 2024", "Winter: 2024 (anna)", "Ünder"], "\(server.requests)")
            #expect(albums.map(\.count) == [2, 1, 1] && Set(albums.map(\.kind)) == [.album])
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

    // MARK: - PhotoPrism

    private static let (lake, trip, folder, grandma, concealed) = (
        "aqcd0000000000aa", "aqcd0000000000bb", "aqcd0000000000cc", "js000000000000aa", "js000000000000bb"
    )

    private func photoPrism(scope: String = "*") async throws -> PhotoPrismServer {
        try await PhotoPrismServer.start(
            photos: 12,
            settings: [
                "passwords": [PhotoPrismServer.password: scope],
                "albums": [Self.lake: [1, 2, 4], Self.trip: [4], Self.folder: [5, 6]],
                "types": [Self.trip: "moment", Self.folder: "folder"],
                "people": [Self.grandma: [3], Self.concealed: [4]], "concealed": [Self.concealed],
                "labels": ["cat": [1, 2, 3], "dog-house": [5, 6], "rare": [7]], "customized": ["cat": "tiger"],
                "names": [Self.lake: "Lake", Self.trip: "Trip", Self.folder: "2024/Sea", Self.grandma: "Grand Ma"],
            ])
    }

    @Test("PhotoPrism's favorites, albums, moments, people, labels and folders are listed, and each opens as a gallery")
    func photoPrismAlbums() async throws {
        let server = try await photoPrism()
        let signIn = SignIn.token(PhotoPrismServer.password)
        try await opening(server.url("/"), signIn) { cache throws in
            let list = try list(cache)
            #expect(list.trouble == nil && list.lastSuccess != nil)
            #expect(
                list.albums.map(\.name) == [
                    "Favorites", "Lake", "Trip", "Grand Ma", "Dog House", "Tiger", "2024 / Sea",
                ])
            #expect(list.albums.map(\.kind) == [.favorites, .album, .album, .person, .tag, .tag, .album])
            #expect(list.albums.map(\.count) == [nil, 3, nil, 1, 2, 3, nil])
            #expect(list.albums[1].address.text == server.url("/library/albums/\(Self.lake)/view"))
            // The covers are photos of the gallery.
            let covers = try list.albums.map { album in
                try album.cover.flatMap { cover in try cache.read { try $0.photo(galleryID: cover) }?.name }
            }
            #expect(covers == [nil, "Photo 4", "Photo 4", "Photo 3", "Photo 5", "Photo 1", "Photo 6"])
            for (album, count) in zip(list.albums, [1, 3, 1, 1, 2, 3, 2]) {
                let opened = try galleries.context.caches.open(album.address)
                galleries.enter(signIn, opened)
                await galleries.fetch(.list(opened.id))
                let record = try opened.read { try $0.gallery() }
                #expect(record.photoCount == count, "\(album.name): \(record.photoCount)")
            }
        }
    }

    @Test(
        "The lists that an app password does not allow are named, and keep their albums",
        arguments: [
            ("photos", ["Favorites"], "albums and people"),
            ("photos albums", ["Favorites", "Lake", "Trip", "2024 / Sea"], "people"),
        ])
    func scopes(scope: String, expected: [String], missing: String) async throws {
        let server = try await photoPrism(scope: scope)
        let trouble = "the server does not let you see its \(missing)"
        try await opening(server.url("/"), .token(PhotoPrismServer.password)) { cache throws in
            #expect(try names(cache) == expected && list(cache).trouble == trouble)
            try server.order(["passwords": [PhotoPrismServer.password: "*"]])
            await galleries.fetch(.albums(cache.id))
            let all = try list(cache)
            #expect(all.albums.count == 7 && all.trouble == nil)
            try server.order(["passwords": [PhotoPrismServer.password: scope]])
            await galleries.fetch(.albums(cache.id))
            // Labels are only for some users of a server, so Vitrine does not miss them.
            let kept = all.albums.filter { $0.kind != .tag }
            #expect(try Set(list(cache).albums) == Set(kept) && list(cache).trouble == trouble)
        }
    }

    @Test("PhotoPrism's people are read in pages, without those whom the user has hidden")
    func photoPrismPages() async throws {
        let people = Dictionary(
            uniqueKeysWithValues: (0..<2_001).map { (String(format: "js%014x", $0), [$0 % 5]) })
        let server = try await PhotoPrismServer.start(
            photos: 12, settings: ["people": people, "concealed": [String(format: "js%014x", 7)]])
        try await opening(server.url("/"), .token(PhotoPrismServer.password)) { cache throws in
            #expect(try list(cache).albums.count { $0.kind == .person } == 2_000)
            #expect(server.requests.last { $0.contains("/subjects") } == "GET /api/v1/subjects person 2000 200")
        }
    }

    @Test("A refused app password leads to a question, and the old albums stay")
    func refusedPassword() async throws {
        let server = try await photoPrism()
        try await opening(server.url("/"), .token(PhotoPrismServer.password)) { cache throws in
            let before = try list(cache).albums
            galleries.enter(.token("AAAAAA-BBBBBB-CCCCCC-DDDDDD"), cache)
            await galleries.fetch(.albums(cache.id))
            #expect(galleries.activity.questions.map(\.secretName) == ["app password"])
            #expect(try list(cache).albums == before && before.count == 7)
        }
    }

    // MARK: - Piwigo

    private func piwigo(_ settings: [String: any Sendable] = [:]) async throws -> PiwigoServer {
        var all: [String: any Sendable] = [
            "favorites": [2, 5],
            "tags": [
                "4": ["photos": [1, 4], "name": "Sea"] as [String: any Sendable],
                "5": ["photos": [4], "name": "Night"] as [String: any Sendable],
            ],
            "albums": [
                "2": ["photos": [2, 3], "name": "Lake", "parent": 1] as [String: any Sendable],
                "3": ["photos": [4], "name": "Secret", "private": true] as [String: any Sendable],
            ],
        ]
        all.merge(settings) { $1 }
        return try await PiwigoServer.start(photos: 6, settings: all)
    }

    private static let key = SignIn.header(name: "X-PIWIGO-API", value: PiwigoServer.key)

    @Test("Piwigo's albums are listed with their outer albums, and each opens as a gallery, as do tags")
    func piwigoAlbums() async throws {
        let server = try await piwigo()
        // An album's screen lists all albums, too.
        for path in ["/", "/index.php?/category/2-lake"] {
            try await opening(server.url(path), Self.key) { cache throws in
                let list = try list(cache)
                #expect(list.trouble == nil)
                #expect(
                    list.albums.map(\.name) == ["Favorites", "Album 1", "Album 1 / Lake", "Secret", "Night", "Sea"])
                #expect(list.albums.map(\.count) == [nil, 8, 2, 1, 1, 2])
                let cover = try #require(list.albums[2].cover)
                #expect(try cache.read { try $0.photo(galleryID: cover) }?.name == "Photo IMG_000002")
                for (album, count) in zip(list.albums, [2, 6, 2, 1, 1, 2]) {
                    let opened = try galleries.context.caches.open(album.address)
                    galleries.enter(Self.key, opened)
                    await galleries.fetch(.list(opened.id))
                    let record = try opened.read { try $0.gallery() }
                    #expect(record.photoCount == count, "\(album.name): \(record.photoCount)")
                }
            }
        }
    }

    @Test(
        "The photos of a Piwigo tag are read in pages, although the server counts only those of the page",
        arguments: [6, 7])
    func piwigoTagPages(count: Int) async throws {
        let server = try await PiwigoServer.start(
            photos: 8,
            settings: [
                "perPage": 3, "tags": ["4": ["photos": Array(1...count), "name": "Sea"] as [String: any Sendable]],
            ])
        try await galleries.opening(server.url("/index.php?/tags/4-sea/start-3")) { cache throws in
            await galleries.fetch(.list(cache.id))
            #expect(try cache.read { try $0.gallery() }.photoCount == count, "\(server.requests)")
            #expect(server.requests.last == "POST /ws.php pwg.tags.getImages 2 200")
        }
    }

    @Test("A guest sees Piwigo's public albums, and never replaces those of a user who signed in")
    func piwigoGuest() async throws {
        let server = try await piwigo()
        try await galleries.opening(server.url("/")) { cache throws in
            await galleries.fetch(.list(cache.id))
            await galleries.fetch(.albums(cache.id))
            #expect(
                try names(cache) == ["Album 1", "Album 1 / Lake", "Night", "Sea"]
                    && galleries.activity.questions.isEmpty)
            galleries.enter(Self.key, cache)
            await galleries.fetch(.list(cache.id))
            await galleries.fetch(.albums(cache.id))
            #expect(try names(cache).contains("Secret"))
            // Without the key, as after a restart.
            let question = SignInQuestion(
                origin: try #require(cache.address.origin), keyHeader: "X-PIWIGO-API", schemes: [])
            _ = await galleries.credentials.hasOther(than: Self.key, for: question, in: cache.address)
            await galleries.fetch(.albums(cache.id))
            #expect(try names(cache).contains("Secret"))
            #expect(galleries.activity.questions.map(\.secretName) == ["password or API key"])
        }
    }

    @Test("Guests who see no albums are asked to sign in")
    func closedPiwigo() async throws {
        let server = try await piwigo()
        try await opening(server.url("/"), Self.key) { cache throws in
            try server.order(["raw": ["pwg.categories.getList": #"{"stat":"fail","err":401,"message":"no"}"#]])
            await galleries.fetch(.albums(cache.id))
            #expect(galleries.activity.questions.map(\.secretName) == ["password or API key"])
            let after = try list(cache)
            #expect(after.albums.count == 6 && after.trouble?.hasSuffix("refuses the password or API key") == true)
        }
    }
}
