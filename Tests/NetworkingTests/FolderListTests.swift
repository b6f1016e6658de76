import Foundation
import Glibc
import HTTP
import Logging
import Model
import Session
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Galleries that are local folders without a list.
@Suite struct FolderListTests {
    private let folder = TestFolder()
    private let client = HTTPClient(log: Log())
    private let context: RequestContext
    private let cache: GalleryCache

    init() throws {
        let log = Log()
        let caches = try CacheFolder(path: folder.path("cache"), log: log)
        context = RequestContext(
            caches: caches, activity: Activity(), log: log, now: { Timestamp(milliseconds: 42_000) })
        folder.write("album/one.jpg", NetworkTest.picture("one"))
        cache = try caches.open(Address(filePath: folder.path("album")))
    }

    private func write(_ name: String, _ text: String = "picture", at seconds: Int = 1_154_245_637) {
        folder.write("album/" + name, NetworkTest.picture(text))
        var times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
        utimensat(AT_FDCWD, folder.path("album/" + name), &times, 0)
    }

    private func list() async throws {
        let request = try #require(try FolderListRequest.make(for: .list(cache.id), in: context))
        try await request.perform(over: client)
    }

    private var photos: [Photo] {
        get throws {
            var photos: [Photo] = []
            try cache.read { try $0.forEachPhoto { photos.append($0) } }
            return photos.sorted { $0.galleryID < $1.galleryID }
        }
    }

    private func photo(_ id: String) throws -> Photo { try #require(try cache.read { try $0.photo(galleryID: id) }) }

    private func find(_ id: String, _ rendition: Rendition = .original) async throws {
        let subject = Wish.Subject.picture(cache.id, try photo(id).key, rendition)
        let request = try #require(try LocalPhotoRequest.make(for: subject, in: context))
        try await request.perform(over: client)
    }

    @Test("The pictures of all subfolders are photos, with their paths as ids and the files' times as dates")
    func recursion() async throws {
        write("b/two.JPG", at: 1_000)
        write("b/c/three.heic")
        folder.write("album/notes.txt", "no picture")
        folder.write("album/.hidden.jpg", "hidden")
        try await list()
        #expect(try photos.map(\.galleryID) == ["b/c/three.heic", "b/two.JPG", "one.jpg"])
        #expect(try photos.map(\.name) == ["three.heic", "two.JPG", "one.jpg"])
        #expect(try photo("b/two.JPG").date == Timestamp(milliseconds: 1_000_000))
        let record = try cache.read { try $0.gallery() }
        #expect(record.photoCount == 3 && record.lastSuccess == Timestamp(milliseconds: 42_000))
    }

    @Test("Videos are rows, without those of live photos, and stay where they are")
    func videos() async throws {
        for name in ["a.mov", "a.heic", "b.mov", "b.jpg", "c.mp4", "c.jpg"] { write(name) }
        folder.write("album/d.mkv", String(decoding: [0x1A, 0x45], as: UTF8.self))
        folder.write("album/e.mp4", "....ftypisom")
        try await list()
        #expect(
            try photos.map(\.galleryID)
                == ["a.heic", "b.jpg", "c.jpg", "c.mp4", "d.mkv", "e.mp4", "one.jpg"])
        #expect(try photos.filter(\.isVideoFile).map(\.galleryID) == ["c.mp4", "d.mkv", "e.mp4"])
        #expect(try photos.allSatisfy { !$0.isRemoteVideo })
        try await find("e.mp4", .thumbnail)
        let video = try photo("e.mp4")
        #expect(video.isInPlace && video.original.held == video.original.edition)
        // The bytes decide, not the name.
        await #expect {
            try await find("d.mkv")
        } throws: {
            "\(RequestError($0).failure)".contains("not a video")
        }
    }

    @Test("A folder with a list file is read from the list")
    func listFile() async throws {
        folder.write("album/gallery.xml", "<album/>")
        #expect(try FolderListRequest.make(for: .list(cache.id), in: context) == nil)
        #expect(try GalleryListRequest.make(for: .list(cache.id), in: context) != nil)
    }

    @Test("A folder whose list file was removed is a folder again, without the name in the list")
    func removedListFile() async throws {
        folder.write(
            "album/gallery.xml",
            """
            <album name="Summer"><photo id="1" name="One" date="2006-07-30T07:47:17Z">
            <image kind="image" srcURL="one.jpg"/><image kind="thumbnail" srcURL="one.jpg"/></photo></album>
            """)
        let request = try #require(try GalleryListRequest.make(for: .list(cache.id), in: context))
        try await request.perform(over: client)
        #expect(try cache.read { try $0.galleryName() } == "Summer")
        #expect(try cache.read { try $0.gallery() }.kind == .list)
        try FileManager.default.removeItem(atPath: folder.path("album/gallery.xml"))
        try await list()
        #expect(try photos.map(\.galleryID) == ["one.jpg"])
        #expect(try cache.read { try $0.galleryName() } == nil)
        #expect(try cache.read { try $0.gallery() }.kind == .folder)
        #expect(try cache.read { try $0.source() } == nil)
    }

    @Test("A photo stays where it is, and the cache has no copy")
    func inPlace() async throws {
        try await list()
        try await find("one.jpg")
        let key = try photo("one.jpg").key
        let stored = try #require(try cache.read { try $0.photoFile(of: key) })
        #expect(cache.files.path(stored) == folder.path("album/one.jpg"))
        let file = try cache.files.open(stored)
        defer { close(file) }
        #expect(cache.files.isIntact(stored))
        #expect(try FileManager.default.contentsOfDirectory(atPath: cache.folder + "/photos").isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("album")) == ["one.jpg"])
    }

    @Test("The wish for a thumbnail finds the photo from which it is made")
    func thumbnails() async throws {
        try await list()
        try await find("one.jpg", .thumbnail)
        let key = try photo("one.jpg").key
        #expect(try cache.read { try $0.thumbnailsToMake() } == [key])
    }

    @Test(
        "The time when a photo was taken replaces the time of its file, and the next listing keeps it",
        arguments: ["2001-02-03T04:05:06", "2001-02-03T04:05:06Z"])
    func taken(time: String) async throws {
        write("one.jpg", "old")
        try await list()
        try await find("one.jpg")
        let before = try photo("one.jpg")
        var metadata = PhotoMetadata(format: "JPEG", width: 40, height: 30)
        metadata.takenAt = time
        try await cache.writer.store(metadata, of: before.key, edition: before.original.edition)
        let taken = try #require(time.hasSuffix("Z") ? Timestamp(iso8601: time) : Timestamp(localTime: time))
        #expect(try photo("one.jpg").date == taken)
        try await list()
        #expect(try photo("one.jpg").date == taken && photo("one.jpg").original.isCurrent)
        // Another picture may have been taken at another time.
        write("one.jpg", "another", at: 2_000)
        try await list()
        #expect(try photo("one.jpg").date == Timestamp(milliseconds: 2_000_000))
    }

    @Test("Removing cached photos leaves the user's files alone")
    func removal() async throws {
        try await list()
        try await find("one.jpg")
        #expect(try await cache.writer.dropPhotos([photo("one.jpg").key]) == 0)
        #expect(try photo("one.jpg").isInPlace)
        try await cache.writer.clear(photosOnly: false)
        try cache.sweep()
        #expect(FileManager.default.fileExists(atPath: folder.path("album/one.jpg")))
    }

    @Test("A replaced file with the same date is a new edition")
    func replaced() async throws {
        write("one.jpg", "old")
        try await list()
        try await find("one.jpg")
        let before = try photo("one.jpg")
        write("one.jpg", "newer")
        try await list()
        let after = try photo("one.jpg")
        #expect(after.key == before.key && after.date == before.date)
        #expect(after.original.edition == before.original.edition + 1 && !after.original.isCurrent)
        #expect(after.thumbnail.edition == before.thumbnail.edition + 1)
    }

    @Test("A renamed or moved file is another photo, and a removed folder removes its photos")
    func moved() async throws {
        write("b/two.jpg")
        write("b/three.jpg")
        try await list()
        rename(folder.path("album/one.jpg"), folder.path("album/b/one.jpg"))
        try await list()
        #expect(try photos.map(\.galleryID) == ["b/one.jpg", "b/three.jpg", "b/two.jpg"])
        write("last.jpg")
        try FileManager.default.removeItem(atPath: folder.path("album/b"))
        try await list()
        #expect(try photos.map(\.galleryID) == ["last.jpg"])
    }

    @Test("The first photos of a new large folder are committed before the rest, and each photo once")
    func beginning() async throws {
        for number in 0..<1_200 { folder.write("album/\(number % 12)/\(number).jpg", "") }
        try await list()
        let record = try cache.read { try $0.gallery() }
        // The beginning and the rest.
        #expect(record.photoCount == 1_201 && record.listVersion == 2 && record.lastSuccess != nil)
        #expect(try photos.count == 1_201)
        try await list()
        #expect(try cache.read { try $0.gallery() } == record)
    }

    @Test("A search finds the names of folders")
    @MainActor func search() async throws {
        write("Lake Garda 2024/boats/two.jpg")
        try await list()
        func found(_ text: String) async throws -> [String] {
            let all = try FetchedResults(of: cache)
            let results = try await all.arranged(PhotoOrder(), filter: PhotoFilter(text))
            return try results.photos(in: 0..<results.count).compactMap { $0?.galleryID }
        }
        #expect(try await found("garda") == ["Lake Garda 2024/boats/two.jpg"])
        #expect(try await found("boat 2024 two") == ["Lake Garda 2024/boats/two.jpg"])
        #expect(try await found("one") == ["one.jpg"])
        rename(folder.path("album/Lake Garda 2024"), folder.path("album/Alps"))
        try await list()
        #expect(try await found("garda").isEmpty)
        #expect(try await found("alps") == ["Alps/boats/two.jpg"])
        #expect(try await cache.check().complaints.isEmpty)
    }

    @Test("An unchanged folder changes nothing")
    func unchanged() async throws {
        write("b/two.jpg")
        try await list()
        let before = (try photos, try cache.read { try $0.gallery() }.listVersion)
        try await list()
        #expect(try photos == before.0)
        #expect(try cache.read { try $0.gallery() }.listVersion == before.1)
    }

    @Test("An empty or missing folder removes no photos, since its disk may not be connected")
    func disconnected() async throws {
        try await list()
        try FileManager.default.removeItem(atPath: folder.path("album/one.jpg"))
        await #expect(throws: RequestError.self) { try await list() }
        #expect(try photos.count == 1)
    }

    @Test("A photo of a missing folder is looked for only there, since nothing else may be read")
    func missingFolder() async throws {
        try await list()
        #expect(rename(folder.path("album"), folder.path("away")) == 0)
        let subject = Wish.Subject.picture(cache.id, try photo("one.jpg").key, .original)
        let request = try #require(try PhotoRequest.make(for: subject, in: context))
        #expect(try request.plan().addressPolicy == .filesBelow(cache.address.text))
        await #expect(throws: RequestError.transfer(.unreadable(code: ENOENT))) {
            do { try await request.perform(over: client) } catch { throw RequestError(error) }
        }
    }

    @Test(
        "Names of all kinds become different photos",
        arguments: [
            "a b.jpg", "#1.jpg", "100%.jpg", "%41.jpg", "what?.jpg", "1+1.jpg", "Ü.jpg", "U\u{308}.jpg",
            "line\nbreak.jpg",
            "\"quoted\".jpg", "it's.jpg", "&amp;.jpg", "-dash.jpg", "<b>.jpg", "back\\slash.jpg", "semi;colon.jpg",
            String(repeating: "x", count: 251) + ".jpg", "\u{202E}gpj.jpg", "tab\t.jpg", "漢字.jpg", "a:b.jpg", "~.jpg",
        ])
    func names(name: String) async throws {
        write(name)
        try await list()
        try await find(name)
        let found = try photo(name)
        #expect(found.name == name && found.original.isCurrent)
        let stored = try #require(try cache.read { try $0.photoFile(of: found.key) })
        close(try cache.files.open(stored))
    }

    @Test("A name that is not UTF-8 shows its bytes, and the photo can be opened")
    func bytes() async throws {
        let path: [UInt8] = Array(folder.path("album/caf").utf8) + [0xE9] + Array(".jpg".utf8) + [0]
        let file = open(path.map { CChar(bitPattern: $0) }, O_WRONLY | O_CREAT, 0o600)
        let picture = NetworkTest.picture("x")
        #expect(picture.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) } == picture.count)
        close(file)
        try await list()
        try await find("caf\u{FFFD}E9.jpg")
        let key = try photo("caf\u{FFFD}E9.jpg").key
        let stored = try #require(try cache.read { try $0.photoFile(of: key) })
        close(try cache.files.open(stored))
    }

    @Test("A file behind a link that appeared after the listing is not opened")
    func link() async throws {
        write("b/two.jpg")
        try await list()
        folder.write("secret/two.jpg", NetworkTest.picture("secret"))
        try FileManager.default.removeItem(atPath: folder.path("album/b"))
        #expect(symlink("../secret", folder.path("album/b")) == 0)
        await #expect(throws: RequestError.self) { try await find("b/two.jpg") }
    }

    @Test(
        "A file with the name of a picture and other contents is refused",
        arguments: [("no picture at all", "the file is not a picture"), ("", "the file is empty")])
    func noPicture(text: String, reason: String) async throws {
        folder.write("album/one.jpg", text)
        try await list()
        await #expect {
            try await find("one.jpg")
        } throws: {
            RequestError($0).failure == Failure(reason, remedy: .none)
        }
    }
}

/// Changes in local folders, as the system reports them.
@Suite(.timeLimit(.minutes(2))) struct LocalFoldersTests {
    private let folder = TestFolder()
    private let wishes = Wishes()
    private let activity = Activity()
    private let folders: LocalFolders
    private let context: RequestContext
    private let cache: GalleryCache

    init() throws {
        let log = Log()
        let caches = try CacheFolder(path: folder.path("cache"), log: log, activity: activity)
        folders = LocalFolders(wishes: wishes)
        context = RequestContext(caches: caches, activity: activity, log: log, folders: folders)
        for name in ["one.jpg", "a/two.jpg", "a/b/three.jpg", "c/four.jpg"] {
            folder.write("album/" + name, NetworkTest.picture(name))
        }
        cache = try caches.open(Address(filePath: folder.path("album")))
    }

    private var ids: [String] {
        get throws {
            var ids: [String] = []
            try cache.read { try $0.forEachPhoto { ids.append($0.galleryID) } }
            return ids.sorted()
        }
    }

    private func until(_ wanted: [String]) async throws {
        let changes = cache.changes()
        while try ids != wanted { guard await changes.next() != nil else { throw CancellationError() } }
    }

    private func running(_ body: () async throws -> Void) async throws {
        let controller = NetworkController(
            wishes: wishes, context: context, client: HTTPClient(log: Log()), schedule: .inQuickSuccession)
        let running = [Task { await controller.run() }, Task { [folders] in await folders.run() }]
        defer { for task in running { task.cancel() } }
        wishes.ask(for: .list(cache.id))
        try await until(["a/b/three.jpg", "a/two.jpg", "c/four.jpg", "one.jpg"])
        try await body()
    }

    @Test("New, removed, moved and renamed photos appear without a request of the user")
    func changes() async throws {
        try await running {
            folder.write("album/a/b/new.jpg", NetworkTest.picture("new"))
            try await until(["a/b/new.jpg", "a/b/three.jpg", "a/two.jpg", "c/four.jpg", "one.jpg"])
            unlink(folder.path("album/one.jpg"))
            try await until(["a/b/new.jpg", "a/b/three.jpg", "a/two.jpg", "c/four.jpg"])
            rename(folder.path("album/a/b"), folder.path("album/d"))
            try await until(["a/two.jpg", "c/four.jpg", "d/new.jpg", "d/three.jpg"])
            folder.write("album/d/e/five.jpg", NetworkTest.picture("five"))
            try await until(["a/two.jpg", "c/four.jpg", "d/e/five.jpg", "d/new.jpg", "d/three.jpg"])
            try FileManager.default.removeItem(atPath: folder.path("album/c"))
            try await until(["a/two.jpg", "d/e/five.jpg", "d/new.jpg", "d/three.jpg"])
        }
    }

    @Test("New hidden folders and folders of systems stay out of the list, like those that were there before")
    func hiddenFolders() async throws {
        try await running {
            for name in [".dtrash", "@eaDir", "a/.stversions"] {
                folder.write("outside/files/x.jpg", NetworkTest.picture("x"))
                #expect(rename(folder.path("outside"), folder.path("album/" + name)) == 0)
            }
            // The system reports changes in order, so a listing with this photo knows of the folders.
            folder.write("album/new.jpg", NetworkTest.picture("new"))
            let changes = cache.changes()
            while try !ids.contains("new.jpg") { guard await changes.next() != nil else { throw CancellationError() } }
            #expect(try ids == ["a/b/three.jpg", "a/two.jpg", "c/four.jpg", "new.jpg", "one.jpg"])
        }
    }

    @Test("A folder that is replaced by a link loses its photos, and nothing behind the link is read")
    func link() async throws {
        folder.write("outside/secret.jpg", NetworkTest.picture("secret"))
        try await running {
            rename(folder.path("album/c"), folder.path("moved"))
            #expect(symlink("../outside", folder.path("album/c")) == 0)
            try await until(["a/b/three.jpg", "a/two.jpg", "one.jpg"])
        }
    }

    @Test("A folder that another one took the place of is read once, and no photo counts as skipped")
    func replacedFolder() async throws {
        func list() async throws {
            let request = try #require(try FolderListRequest.make(for: .list(cache.id), in: context))
            try await request.perform(over: HTTPClient(log: Log()))
        }
        try await list()
        try FileManager.default.removeItem(atPath: folder.path("album/a"))
        rename(folder.path("album/c"), folder.path("album/a"))
        let (a, c) = (Array("a/".utf8), Array("c/".utf8))
        folders.record([.files(in: a), .folder(a), .folder(a + Array("b/".utf8)), .folder(c)], in: cache.id)
        try await list()
        #expect(try ids == ["a/four.jpg", "one.jpg"])
        #expect(try cache.read { try $0.gallery() }.skipped == 0)
    }

    @Test("Only changed folders are read again")
    func scope() async throws {
        try await running {
            // The listing of a changed folder does not notice a change of which the system did not tell.
            try await cache.writer.transaction { try $0.execute("UPDATE photo SET name = 'x' WHERE id = 'c/four.jpg'") }
            folder.write("album/a/new.jpg", NetworkTest.picture("new"))
            try await until(["a/b/three.jpg", "a/new.jpg", "a/two.jpg", "c/four.jpg", "one.jpg"])
            #expect(try cache.read { try $0.photo(galleryID: "c/four.jpg") }?.name == "x")
        }
    }
}
