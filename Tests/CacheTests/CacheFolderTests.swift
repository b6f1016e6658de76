import Foundation
import Glibc
import Logging
import Model
import SQLite
import Synchronization
import TestSupport
import Testing

@testable import Cache

@Suite(.ownThread) struct CacheFolderTests {
    private let folder = TestFolder()
    private let log = Log()
    private let address: Address

    init() throws { address = try Address("http://example.org/index.xml") }

    private func open() throws -> GalleryCache {
        try CacheFolder(path: folder.path("cache"), log: log).open(address)
    }

    private func fill(_ cache: GalleryCache) async throws {
        try await TestCache.sync([TestCache.entry("a")], into: cache)
    }

    @Test func aCacheIsFoundByItsAddress() async throws {
        try await fill(open())
        let again = try open()
        #expect(try again.read { try $0.gallery().photoCount } == 1)
        let caches = try CacheFolder(path: folder.path("cache"), log: log)
        #expect(caches.record(of: address)?.photoCount == 1)
        #expect(caches.record(of: try Address("http://example.org/other.xml")) == nil)
        #expect(caches.galleries().map(\.record?.address) == [address])
    }

    @Test func aGalleryHasOneCacheObject() throws {
        let caches = try CacheFolder(path: folder.path("cache"), log: log)
        #expect(try caches.open(address) === caches.open(Address("HTTP://user:x@EXAMPLE.org:80/index.xml")))
        #expect(try caches.cache(GalleryID(address)) === caches.open(address))
    }

    /// A migration or rescue may take long. Here another connection holds the write lock until an unrelated question has
    /// been answered.
    @Test(.unlessItHangs) func openingOneGalleryDoesNotBlockOthers() async throws {
        let path = folder.path("cache/galleries/\(GalleryID(address))/gallery.sqlite")
        try await fill(open())
        let caches = try CacheFolder(path: folder.path("cache"), log: log)
        let other = try caches.open(Address("http://example.org/other.xml"))
        let connection = try Connection(path: path, access: .readWrite)
        try connection.execute("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE")
        let (isDone, isOpen) = (Gate(), Gate())
        Thread.detachNewThread { [address] in
            if (try? caches.open(address)) != nil { isOpen.open() }
            isDone.open()
        }
        while try descriptors(of: path) < 2 { await Task.yield() }
        #expect(caches.cache(other.id) === other && caches.openCaches.count == 1)
        #expect(try caches.open(other.address) === other && caches.cache(GalleryID(address)) == nil)
        try connection.execute("COMMIT")
        #expect(isDone.wait() && isOpen.wait(seconds: 0))
        #expect(caches.openCaches.count == 2)
    }

    private func descriptors(of path: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
        }
    }

    @Test("A removed gallery loses its cache, and a cache that is open becomes empty")
    func discarded() async throws {
        let caches = try CacheFolder(path: folder.path("cache"), log: log)
        let other = try Address("http://example.org/other.xml")
        for address in [address, other] {
            try await fill(CacheFolder(path: folder.path("cache"), log: log).open(address))
        }
        let open = try caches.open(address)
        try await open.writer.toggleKept()
        try await open.writer.recordOpened(at: Timestamp(milliseconds: 1))
        try await open.writer.recordLeft()
        try await caches.discard(address)
        let record = try open.read { try $0.gallery() }
        #expect(record.photoCount == 0 && !record.isKept && record.seenThrough == nil && record.isEmptied)
        try await open.writer.recordOpened(at: Timestamp(milliseconds: 2))
        #expect(try !open.read { try $0.gallery() }.isEmptied)
        #expect(caches.cache(open.id) === open)
        try await caches.discard(other)
        #expect(folder.entries("cache/galleries") == ["\(open.id)"])
        try await caches.discard(other)
        let elsewhere = try CacheFolder(path: folder.path("cache"), log: log).open(other)
        await #expect(throws: CacheError.locked(path: folder.path("cache/galleries/\(elsewhere.id)"))) {
            try await caches.discard(other)
        }
        withExtendedLifetime(elsewhere) {}
    }

    @Test("The cache of a gallery that was never updated does not count as removed")
    func newGallery() throws {
        let cache = try CacheFolder(path: folder.path("cache"), log: log).open(address)
        #expect(try !cache.read { try $0.gallery() }.isEmptied)
    }

    @Test func cachesArePrivateToTheUser() async throws {
        try await fill(open())
        let enumerator = try #require(FileManager.default.enumerator(atPath: folder.path("cache")))
        for case let path as String in enumerator {
            let full = folder.path("cache/\(path)")
            let attributes = try FileManager.default.attributesOfItem(atPath: full)
            let mode = attributes[.posixPermissions] as? Int ?? 0
            #expect(mode & 0o077 == 0, "\(path) has mode \(String(mode, radix: 8))")
        }
    }

    @Test("A folder with other contents is refused, and nothing in it changes")
    func foldersWithOtherThingsAreRefused() throws {
        folder.write("home/letter", "mine")
        folder.write("albums/galleries/summer/photo", "mine")
        folder.write("empty albums/galleries/.hidden", "")
        folder.write("beside/letter", "mine")
        mkdir(folder.path("beside/galleries"), 0o755)
        folder.write("fake/.vitrine-cache/in", "")
        for name in ["home", "albums", "empty albums", "beside", "fake"] {
            let path = folder.path(name)
            chmod(path, 0o755)
            let before = FileManager.default.subpaths(atPath: path)
            let error = #expect(throws: CacheError.self) { try CacheFolder(path: path, log: log) }
            #expect(error == .notACache(path: path) && error?.description.contains("--cache-dir") == true)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o755 && FileManager.default.subpaths(atPath: path) == before, "\(name)")
        }
    }

    @Test("An empty folder, a cache folder and one of an earlier version are accepted")
    func foldersOfCachesAreTaken() throws {
        mkdir(folder.path("empty"), 0o755)
        folder.write("older/galleries/0123456789abcdef/lock", "")
        folder.write("older and more/galleries/0123456789abcdef/lock", "")
        folder.write("older and more/letter", "")
        try FileManager.default.createDirectory(
            atPath: folder.path("cleared/galleries"), withIntermediateDirectories: true)
        folder.write("marked/.vitrine-cache", "")
        folder.write("marked/letter", "")
        for name in ["empty", "older", "older and more", "cleared", "marked", "new/one"] {
            let path = folder.path(name)
            for _ in 0..<2 { _ = try CacheFolder(path: path, log: log) }
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o700 && folder.entries(name).contains(".vitrine-cache"), "\(name)")
        }
    }

    @Test("Programs that create a cache folder at the same time all succeed", .ownThread)
    func foldersAreMadeTogether() async throws {
        for round in 0..<50 {
            let path = folder.path("cache \(round)")
            try await withThrowingTaskGroup { group in
                for _ in 0..<8 { group.addTask { [log] in _ = try CacheFolder(path: path, log: log) } }
                try await group.waitForAll()
            }
        }
    }

    @Test func linksAreRefused() throws {
        try FileManager.default.createDirectory(atPath: folder.path("elsewhere"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("cache"), withDestinationPath: folder.path("elsewhere"))
        #expect(throws: CacheError.notOurs(path: folder.path("cache"))) { try open() }
        #expect(folder.entries("elsewhere").isEmpty)
    }

    /// Files below such a folder would not be private to the user.
    @Test(arguments: ["galleries", "galleries/ID", "galleries/ID/photos", "galleries/ID/partial"])
    func linksAreRefusedAtEveryDepth(name: String) throws {
        let path = folder.path("cache/" + name.replacing("ID", with: "\(GalleryID(address))"))
        for isLink in [true, false] {
            _ = try? FileManager.default.removeItem(atPath: folder.path("cache"))
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try FileManager.default.createDirectory(atPath: folder.path("elsewhere"), withIntermediateDirectories: true)
            if isLink {
                try FileManager.default.createSymbolicLink(
                    atPath: path, withDestinationPath: folder.path("elsewhere"))
            } else {
                try Data("a file".utf8).write(to: URL(fileURLWithPath: path))
            }
            #expect(throws: CacheError.notOurs(path: path)) { try open() }
            #expect(folder.entries("elsewhere").isEmpty)
        }
    }

    /// Only root can give a folder to another user.
    @Test(.enabled(if: geteuid() == 0)) func foldersOfOthersAreRefused() throws {
        _ = try open()
        let path = folder.path("cache/galleries/\(GalleryID(address))/photos")
        #expect(chown(path, 12_345, 12_345) == 0)
        #expect(throws: CacheError.notOurs(path: path)) { try open() }
    }

    /// A lock on a removed file has no effect on others.
    @Test func locksOfRemovedFoldersAreInvalid() throws {
        let path = folder.write("caches/one/lock", "")
        let lock = CacheLock(descriptor: Glibc.open(path, O_RDWR), path: path)
        let other = CacheLock(descriptor: Glibc.open(path, O_RDWR), path: path)
        #expect(try lock.claim(.shared) == .held && other.claim(.shared) == .held)
        #expect(try other.claim(.exclusive) == .inUse)
        unlink(path)
        #expect(try other.claim(.shared) == .gone)
        #expect(try CacheLock.take(folder: folder.path("caches/one"), .exclusive) != nil)
        #expect(folder.entries("caches/one") == ["lock"])
    }

    /// A second close could hit a descriptor of another file.
    @Test func descriptorsAreClosedOnce() throws {
        let path = folder.path("cache")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let lock = try CacheLock.take(folder: path, .exclusive)
        let isDone = Gate()
        Thread.detachNewThread {
            for _ in 0..<5_000 { _ = try? CacheLock.take(folder: path, .shared) }
            isDone.open()
        }
        var lost = 0
        repeat {
            for _ in 0..<200 {
                let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
                if close(descriptor) != 0 { lost += 1 }
            }
        } while !isDone.wait(seconds: 0)
        #expect(lost == 0)
        withExtendedLifetime(lock) {}
    }

    @Test func unreadableCachesAreListedAndCanBeRemoved() throws {
        _ = try open()
        let path = folder.path("cache/galleries/\(GalleryID(address))/gallery.sqlite")
        try Data(repeating: 0x55, count: 20_000).write(to: URL(fileURLWithPath: path))
        let caches = try CacheFolder(path: folder.path("cache"), log: log)
        let gallery = try #require(caches.gallery(address))
        #expect(gallery.record == nil && gallery.trouble != nil && caches.galleries().count == 1)
        try gallery.remove()
        #expect(caches.galleries().isEmpty && caches.gallery(address) == nil)
    }

    /// If the photos' folder is a link, its target is left alone.
    @Test func removingFollowsNoLinks() throws {
        _ = try open()
        let path = folder.path("cache/galleries/\(GalleryID(address))/photos")
        let precious = folder.write("elsewhere/precious", "precious")
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder.path("elsewhere"))
        let caches = try CacheFolder(path: folder.path("cache"), log: log)
        try #require(caches.gallery(address)).remove()
        #expect(access(precious, F_OK) == 0 && caches.galleries().isEmpty)
    }

    @Test("BEHAVIOURS 4.3: a damaged database is set aside and replaced by a new one")
    func damagedDatabaseIsSetAside() async throws {
        try await fill(open())
        let path = folder.path("cache/galleries/\(GalleryID(address))/gallery.sqlite")
        try Data(repeating: 0x55, count: 20_000).write(to: URL(fileURLWithPath: path))
        let cache = try open()
        #expect(cache.wasSetAside)
        #expect(try cache.read { try $0.gallery().photoCount } == 0)
        try await fill(cache)
        let names = folder.entries("cache/galleries/\(GalleryID(address))")
        #expect(names.contains { $0.hasPrefix("gallery.sqlite.damaged-") })
        #expect(log.entries.contains { $0.subsystem == .cache && $0.message.contains("damaged") })
    }

    @Test("BEHAVIOURS 4.3: a damaged database stays while another process uses it")
    func damagedDatabaseIsNotTakenFromUnderAnother() async throws {
        let inUse = try open()
        try await fill(inUse)
        let path = folder.path("cache/galleries/\(GalleryID(address))/gallery.sqlite")
        let connection = try Connection(path: path, access: .readWrite)
        try connection.execute("PRAGMA user_version = -1")
        #expect(throws: CacheError.damagedInUse(path: path)) { try open() }
        #expect(try inUse.read { try $0.gallery().photoCount } == 1)
        #expect(folder.entries("cache/galleries/\(GalleryID(address))").allSatisfy { !$0.contains("damaged") })
        try connection.execute("PRAGMA user_version = 1")
    }

    @Test("A gallery whose identifier is another gallery's is refused, and the other gallery keeps its photos")
    func sameIdentifier() async throws {
        let own = try Address("https://nas.example/Mky4ozCtfsO")
        let other = try Address("https://evil.example/vAtmfGnvpgO")
        #expect(GalleryID(own) == GalleryID(other))
        try await fillWithPhoto(own)
        for isOpen in [false, true] {
            let caches = try CacheFolder(path: folder.path("cache"), log: log)
            let opened = try isOpen ? caches.open(own) : nil
            #expect(throws: CacheError.otherGallery(own)) { try caches.open(other) }
            #expect(caches.cache(GalleryID(own)) === opened)
        }
        let cache = try CacheFolder(path: folder.path("cache"), log: log).open(own)
        #expect(try !cache.wasSetAside && cache.sweep() == 0)
        #expect(try cache.read { try $0.photo(galleryID: "a") }?.original.isCurrent == true)
        #expect(folder.entries("cache/galleries/\(cache.id)").allSatisfy { !$0.contains("damaged") })
        #expect(folder.entries("cache/galleries/\(cache.id)/photos").count == 1)
    }

    /// Releases the cache at the end.
    private func fillWithPhoto(_ address: Address) async throws {
        let cache = try CacheFolder(path: folder.path("cache"), log: log).open(address)
        try await fill(cache)
        try await TestCache.store(photo: "mine", of: "a", in: cache)
    }

    @Test func databasesOfNewerVersionsAreRefused() throws {
        _ = try open()
        let path = folder.path("cache/galleries/\(GalleryID(address))/gallery.sqlite")
        let connection = try Connection(path: path, access: .readWrite)
        try connection.execute("PRAGMA user_version = 999")
        #expect(throws: CacheError.newerSchema(path: path)) { try open() }
        #expect(try connection.first("PRAGMA user_version") { $0.int(0) } == 999)
    }

    @Test func orphansAreRemovedAndFilesBeingWrittenStay() async throws {
        let test = try TestCache()
        try await test.sync([TestCache.entry("a")])
        try await test.hold("a")
        let inTheMaking = try test.cache.files.makePartial(of: PhotoKey(1), edition: 1)
        inTheMaking.write("half")
        let base = "cache/galleries/\(test.cache.id)"
        test.folder.write("\(base)/photos/77-1-orphan", "orphan")
        test.folder.write("\(base)/partial/left-behind", "half")
        #expect(try test.cache.sweep() == 2)
        #expect(test.folder.entries("\(base)/photos").count == 1)
        #expect(test.folder.entries("\(base)/partial").count == 1)
        let stored = try await test.cache.writer.store(
            photo: inTheMaking, of: test.key("a"), edition: test.photo("a").original.edition)
        #expect(stored)
    }

    @Test func orphansAreLockedWhileTheyAreRemoved() throws {
        let test = try TestCache()
        let file = test.folder.write("cache/galleries/\(test.cache.id)/photos/77-1-orphan", "orphan")
        let removed = test.cache.files.sweep { _ in
            let descriptor = Glibc.open(file, O_RDONLY)
            defer { close(descriptor) }
            // No process can take the file between the question and the removal.
            #expect(flock(descriptor, LOCK_EX | LOCK_NB) != 0)
            return false
        }
        #expect(removed == 1)
    }

    @Test("Openings of galleries are announced, with those that are open already", .unlessItHangs)
    func openings() async throws {
        let folder = TestFolder()
        let caches = try CacheFolder(path: folder.path("cache"), log: log)
        let first = try caches.open(Address("http://example.org/a.xml"))
        let openings = caches.openings()
        #expect(await openings.next()?.caches.map(\.id) == [first.id])
        let second = try caches.open(Address("http://example.org/b.xml"))
        _ = try caches.open(Address("http://example.org/a.xml"))
        let third = try caches.open(Address("http://example.org/c.xml"))
        #expect(await openings.next()?.galleries == [second.id, third.id])
        let seen = Mutex<[Set<GalleryID>]>([])
        let relay = caches.relayOpenings { opened in seen.withLock { $0.append(Set(opened.map(\.id))) } }
        let fourth = try caches.open(Address("http://example.org/d.xml"))
        #expect(seen.withLock { $0 } == [[first.id, second.id, third.id], [fourth.id]])
        withExtendedLifetime(relay) {}
    }

    @Test("The cache that was opened last comes first")
    func latestFirst() async throws {
        let folder = TestFolder()
        let caches = try CacheFolder(path: folder.path("a/b/cache"), log: log)
        for (name, time) in [("one", 2), ("two", nil), ("three", 3), ("four", 1)] as [(String, Int64?)] {
            let cache = try caches.open(Address("http://example.org/\(name).xml"))
            if let time { try await cache.writer.recordOpened(at: Timestamp(milliseconds: time)) }
        }
        let found = caches.galleries().compactMap { $0.record?.address.path }
        #expect(found == ["/three.xml", "/one.xml", "/four.xml", "/two.xml"])
    }

    @Test("The user and password in an address are kept for its server")
    func credentials() throws {
        let caches = try CacheFolder(path: TestFolder().path("cache"), log: log)
        let cache = try caches.open(Address("http://me:s3cret@example.org/a.xml"))
        let expected = SignIn.password(user: "me", password: "s3cret")
        #expect(cache.signIn(for: cache.address) == expected)
        _ = try caches.open(Address("http://example.org/a.xml"))
        #expect(cache.signIn(for: cache.address) == expected)
        #expect(cache.isNamedByUser(cache.address) && !cache.isNamedByUser(Address(filePath: "/a.xml")))
        #expect(try !cache.isNamedByUser(Address("http://example.net/a.xml")))
    }

    /// There may be fifty thousand files, so the check of one must not scan the table.
    @Test func orphansAreFoundByRowNumber() async throws {
        let test = try TestCache()
        let plan = try test.cache.read { reader in
            try reader.connection.map("EXPLAIN QUERY PLAN " + CacheReader.isNamed, 1, "1-1-x") { $0.text(3) }
        }
        #expect(plan.count == 1 && plan.allSatisfy { $0.contains("SEARCH") && $0.contains("PRIMARY KEY") })
    }

    @Test func sizesAreCounted() async throws {
        let test = try TestCache()
        try await test.sync([TestCache.entry("a")])
        try await test.hold("a")
        let gallery = try #require(
            try CacheFolder(path: test.folder.path("cache"), log: log).galleries().first)
        #expect(gallery.photosSize == Int64("photo of a".utf8.count))
        #expect(gallery.databaseSize > 4_096)
        #expect(try await test.cache.writer.clear(photosOnly: true) == 1)
        #expect(try gallery.photosSize == 0 && test.photo("a").original.held == nil)
        #expect(try test.photo("a").thumbnail.held != nil)
        try await test.cache.writer.clear(photosOnly: false)
        let left = try test.cache.read { reader in
            try ["photo", "thumbnail", "metadata"].map { table in
                try reader.connection.first("SELECT count(*) FROM \(table)") { $0.int(0) }
            }
        }
        #expect(try test.cache.read { try $0.gallery().photoCount } == 0 && left == [0, 0, 0])
        #expect(try await test.cache.writer.complaints().isEmpty)
    }
}
