import HTTP
import Logging
import Model
import Session
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Galleries in the buckets of a scripted storage service.
@Suite struct BucketTests {
    private let folder = TestFolder()
    private let log = Log(level: .debug)
    private let activity = Activity()
    private let wishes = Wishes()

    private static let keys = [
        "a.jpg", "b.jpg", "c.jpg", "2024/d.jpg", "2024/May 1/e.jpg", "2024/May 1/Ü &+#50%.jpg", "2025/f.jpg",
        "2025/g.jpg", "2025/h.jpg", "notes.txt",
    ]
    private static let ids = keys.filter { $0.hasSuffix(".jpg") }.sorted()
    private static let key = AccessKey(id: "AKID", secret: "S3cret/+=", sessionToken: "t0ken")

    private func context(_ credentials: CredentialStore = CredentialStore()) throws -> RequestContext {
        RequestContext(
            caches: try CacheFolder(path: folder.path("cache"), log: log, activity: activity, credentials: credentials),
            activity: activity, log: log)
    }

    private func context(keys: [AccessKey]) throws -> RequestContext {
        try context(
            CredentialStore(
                keeping: CredentialKeeping(
                    lookUp: { _ in nil }, keep: { _, _, _ in nil }, accessKeys: { _ in keys })))
    }

    /// Returns a private bucket with a published gallery in the folder `g`.
    private static func published() throws -> StandInBucket {
        try StandInBucket(
            StandInBucket.Rules(
                keys: ["g/p/1", "g/thumbnails/1.jpg"],
                texts: ["g/gallery.xml": NetworkTest.list(["1"], thumbnails: false)], key: key.id))
    }

    /// Runs a controller meanwhile, and waits for its end.
    private func working(_ context: RequestContext, _ body: () async throws -> Void) async throws {
        let controller = NetworkController(
            wishes: wishes, context: context, client: HTTPClient(log: log), schedule: .inQuickSuccession)
        let running = Task { await controller.run() }
        defer { running.cancel() }
        try await body()
        running.cancel()
        await running.value
    }

    /// Asks for a subject and waits until nothing is left to do.
    private func fetch(_ subject: Wish.Subject) async {
        wishes.ask(for: subject)
        for await snapshot in wishes.snapshots() where snapshot.wishes.isEmpty { return }
    }

    /// Asks for a subject again after each answered question, as programs do.
    private func fetch(_ subject: Wish.Subject, of cache: GalleryCache) async throws {
        await fetch(subject)
        var rounds = 0
        while activity.takeAnswered().contains(cache.id), rounds < 5 {
            rounds += 1
            try await cache.writer.retry()
            await fetch(subject)
        }
    }

    private func fetchList(_ cache: GalleryCache) async throws { try await fetch(.list(cache.id), of: cache) }

    private func ids(_ cache: GalleryCache) throws -> [String] {
        var ids: [String] = []
        try cache.read { try $0.forEachPhoto { ids.append($0.galleryID) } }
        return ids.sorted()
    }

    private func failure(_ cache: GalleryCache) throws -> String {
        try cache.read { try $0.gallery() }.failure.map { "\($0)" } ?? ""
    }

    private func lists(_ bucket: StandInBucket) -> [String] {
        bucket.requests.map(\.path).filter { $0.contains("list-type=2") }
    }

    @Test("A public bucket is recognised, read page by page, and remembered")
    func publicBucket() async throws {
        let bucket = try StandInBucket(StandInBucket.Rules(keys: Self.keys))
        let context = try context()
        let cache = try context.caches.open(Address(bucket.url()))
        try await working(context) {
            try await fetchList(cache)
            #expect(try ids(cache) == Self.ids && failure(cache).isEmpty)
            #expect(try cache.read { try $0.source() }?.kind == .s3)
            // The root has six entries, `2024/` two, `May 1/` two, and `2025/` three. The bucket has no gallery file.
            #expect(bucket.requests.count == 1 + 1 + 3 + 1 + 1 + 2 && lists(bucket).count == 7)
            #expect(
                lists(bucket).contains(
                    "/photos/?continuation-token=2&delimiter=%2F&encoding-type=url&list-type=2&prefix=2025%2F"))
            try await fetchList(cache)
            #expect(bucket.requests.count == 9 + 7)
            #expect(bucket.requests.allSatisfy { $0.headers["authorization"] == nil })
            await fetch(.everyPicture(cache.id, .thumbnail))
            await fetch(.everyPicture(cache.id, .original))
            var photos: [Photo] = []
            try cache.read { try $0.forEachPhoto { photos.append($0) } }
            #expect(photos.allSatisfy { $0.original.isCurrent })
            // Amazon takes a `+` in a path for a space, also without a signature.
            let path = "/photos/2024/May%201/%C3%9C%20%26%2B%2350%25.jpg"
            #expect(bucket.requests.contains { $0.path == path && $0.headers["authorization"] == nil })
            #expect(!bucket.requests.contains { $0.path.contains("+") })
        }
    }

    @Test("A folder of a bucket is a gallery, also without a slash or at the address of its list")
    func prefixes() async throws {
        let bucket = try StandInBucket(StandInBucket.Rules(keys: Self.keys))
        let context = try context()
        try await working(context) {
            for path in ["/photos/2024/", "/photos/2024", "/photos/?list-type=2&prefix=2024/"] {
                let cache = try context.caches.open(Address(bucket.url(path)))
                try await fetchList(cache)
                #expect(
                    try ids(cache) == ["May 1/e.jpg", "May 1/Ü &+#50%.jpg", "d.jpg"].sorted(),
                    "\(path)")
            }
        }
    }

    @Test("A key of the user's files opens a private bucket, and the user is not asked")
    func keyOfFiles() async throws {
        let bucket = try StandInBucket(StandInBucket.Rules(keys: Self.keys, key: Self.key.id))
        let context = try context(keys: [AccessKey(id: "OTHER", secret: "x"), Self.key])
        let cache = try context.caches.open(Address(bucket.url()))
        try await working(context) {
            try await fetchList(cache)
            #expect(try ids(cache) == Self.ids)
            #expect(activity.questions.isEmpty)
            await fetch(.everyPicture(cache.id, .original))
            var photos: [Photo] = []
            try cache.read { try $0.forEachPhoto { photos.append($0) } }
            #expect(photos.allSatisfy { $0.original.isCurrent })
        }
        #expect(bucket.requests.last?.headers["x-amz-security-token"] == "t0ken")
        #expect(bucket.requests.first?.headers["authorization"] == nil)
        let words = log.entries.map(\.message).joined()
        #expect(!words.contains("S3cret") && !words.contains("t0ken"))
    }

    @Test("Without a key the user is asked once, and a wrong key is named")
    func question() async throws {
        let bucket = try StandInBucket(StandInBucket.Rules(keys: Self.keys, key: Self.key.id))
        let credentials = CredentialStore()
        let context = try context(credentials)
        let cache = try context.caches.open(Address(bucket.url()))
        let place = SignInPlace.origin(try #require(cache.address.origin))
        try await working(context) {
            try await fetchList(cache)
            let question = try #require(activity.questions.first)
            #expect(question.wantsAccessKey && !question.wasRefused && !question.isReadableOnTheWay)
            #expect(try failure(cache).contains("an access key is needed for 127.0.0.1"))
            activity.withdrawQuestion(place)
            credentials.take(question.signIn(name: "WRONG", secret: "x"), for: place, by: [cache.id])
            try await fetchList(cache)
            #expect(activity.questions.first?.wasRefused == true)
            #expect(try failure(cache).contains("refuses the access key"))
            #expect(credentials.refusedUser(at: place) == "WRONG")
            activity.withdrawQuestion(place)
            credentials.take(question.signIn(name: Self.key.id, secret: "x"), for: place, by: [cache.id])
            try await fetchList(cache)
            #expect(try ids(cache) == Self.ids)
        }
    }

    @Test("The key may be in the address")
    func keyInAddress() async throws {
        let bucket = try StandInBucket(StandInBucket.Rules(keys: Self.keys, key: Self.key.id))
        let context = try context()
        let cache = try context.caches.open(Address(bucket.url().replacing("//127", with: "//AKID:S3cret%2F@127")))
        try await working(context) {
            try await fetchList(cache)
            #expect(try ids(cache) == Self.ids && activity.questions.isEmpty)
        }
    }

    @Test("The key in a published gallery's address opens the gallery in each run")
    func keyInAddressOfList() async throws {
        let bucket = try Self.published()
        let address = try Address(bucket.url("/photos/g").replacing("//127", with: "//AKID:S3cret%2F@127"))
        for _ in 0..<2 {
            let run = try context()
            let cache = try run.caches.open(address)
            try await working(run) {
                try await fetchList(cache)
                #expect(try ids(cache) == ["1"] && failure(cache).isEmpty && activity.questions.isEmpty)
            }
        }
    }

    @Test("Vitrine learns the region from a refusal, once")
    func region() async throws {
        let bucket = try StandInBucket(StandInBucket.Rules(keys: Self.keys, key: Self.key.id, region: "garage"))
        let context = try context(keys: [Self.key])
        let cache = try context.caches.open(Address(bucket.url()))
        try await working(context) {
            try await fetchList(cache)
            #expect(try ids(cache) == Self.ids)
            // The service moves again. Vitrine does not follow it forever.
            let count = bucket.requests.count
            bucket.rules.withLock { $0.region = "elsewhere" }
            try await fetchList(cache)
            #expect(bucket.requests.count < count + 6)
            #expect(activity.questions.first?.region == "elsewhere")
        }
    }

    @Test("If a key may not list the bucket, the error does not call the key wrong")
    func unlisted() async throws {
        let bucket = try StandInBucket(StandInBucket.Rules(keys: Self.keys, key: Self.key.id, isUnlisted: true))
        let context = try context(keys: [Self.key])
        let cache = try context.caches.open(Address(bucket.url()))
        try await working(context) {
            try await fetchList(cache)
            #expect(activity.questions.isEmpty)
            #expect(try failure(cache) == "the server does not allow this with your access key (403)")
            let absent = try context.caches.open(Address(bucket.url("/absent/")))
            try await fetchList(absent)
            #expect(try failure(absent) == "the server has no bucket with this name")
        }
    }

    @Test("A gallery file in a private bucket opens with a key")
    func galleryFile() async throws {
        let bucket = try StandInBucket(
            StandInBucket.Rules(
                keys: ["p/1"], texts: ["index.xml": NetworkTest.list(["1"], thumbnails: false)], key: "AKID"))
        let context = try context(keys: [Self.key])
        let cache = try context.caches.open(Address(bucket.url("/photos/index.xml")))
        try await working(context) {
            for _ in 0..<2 {
                try await fetchList(cache)
                #expect(try ids(cache) == ["1"] && cache.read { try $0.source() }?.kind == .list)
            }
            await fetch(.everyPicture(cache.id, .original))
            let photo = try #require(try cache.read { try $0.photo(galleryID: "1") })
            #expect(photo.original.isCurrent && activity.questions.isEmpty)
        }
    }

    @Test("A published gallery opens at the address of its folder, and an update needs one request")
    func publishedFolder() async throws {
        let bucket = try Self.published()
        let context = try context(keys: [Self.key])
        let cache = try context.caches.open(Address(bucket.url("/photos/g")))
        try await working(context) {
            try await fetchList(cache)
            #expect(try ids(cache) == ["1"] && activity.questions.isEmpty)
            let source = try #require(try cache.read { try $0.source() })
            #expect(source.kind == .list && source.root.text == bucket.url("/photos/g/gallery.xml"))
            let count = bucket.requests.count
            try await fetchList(cache)
            #expect(bucket.requests.count == count + 1)
            await fetch(.everyPicture(cache.id, .original))
            #expect(try cache.read { try $0.photo(galleryID: "1") }?.original.isCurrent == true)
        }
    }

    @Test("A known bucket becomes a published gallery after an update, and then an update needs one request")
    func publishedLater() async throws {
        let bucket = try StandInBucket(StandInBucket.Rules(keys: ["g/1.jpg", "g/2024/2.jpg"]))
        let context = try context()
        let cache = try context.caches.open(Address(bucket.url("/photos/g")))
        try await working(context) {
            try await fetchList(cache)
            #expect(try ids(cache) == ["1.jpg", "2024/2.jpg"] && cache.read { try $0.source() }?.kind == .s3)
            // A file of another kind with the same name changes nothing.
            bucket.rules.withLock { rules in
                rules.keys += ["g/gallery.xml", "g/thumbnails/1.jpg"]
                rules.texts["g/gallery.xml"] = "<notes/>"
            }
            try await fetchList(cache)
            #expect(try ids(cache) == ["1.jpg", "2024/2.jpg", "thumbnails/1.jpg"] && failure(cache).isEmpty)
            bucket.rules.withLock { $0.texts["g/gallery.xml"] = NetworkTest.list(["1"], thumbnails: false) }
            try await fetchList(cache)
            let source = try #require(try cache.read { try $0.source() })
            #expect(try ids(cache) == ["1"] && source.kind == .list && source.folders.isEmpty)
            let count = bucket.requests.count
            try await fetchList(cache)
            #expect(bucket.requests.count == count + 1)
        }
    }

    @Test("A later run opens the photos of a published gallery with the key, without an update")
    func laterRun() async throws {
        let bucket = try Self.published()
        let address = try Address(bucket.url("/photos/g"))
        // The bucket becomes private, and the list stays as it is.
        for isPrivate in [false, true] {
            bucket.rules.withLock { $0.key = isPrivate ? Self.key.id : nil }
            let earlier = try context(keys: [Self.key])
            try await working(earlier) { try await fetchList(earlier.caches.open(address)) }
        }
        let count = bucket.requests.count
        let later = try context(keys: [Self.key])
        let cache = try later.caches.open(address)
        try await working(later) {
            try await fetch(.everyPicture(cache.id, .original), of: cache)
            #expect(try cache.read { try $0.photo(galleryID: "1") }?.original.isCurrent == true)
            #expect(activity.questions.isEmpty)
        }
        #expect(bucket.requests.dropFirst(count).map(\.path) == ["/photos/g/p/1", "/photos/g/p/1"])
    }

    @Test("A bucket in another region of Amazon is found there, and remembered")
    func movedBucket() async throws {
        let home = "http://photos.s3.eu-west-1.amazonaws.com/"
        let proxy = try ScriptedServer { request in
            guard request.path.hasPrefix(home) else {
                let region = "<Endpoint>photos.s3.eu-west-1.amazonaws.com</Endpoint>"
                return .answer(
                    301, "<Error><Code>PermanentRedirect</Code>\(region)</Error>",
                    headers: ["x-amz-bucket-region: eu-west-1"])
            }
            return .answer(200, StandInBucket.page(["2024/a.jpg"]))
        }
        var configuration = HTTPConfiguration(connectTimeout: 60, stallTimeout: 60)
        configuration.proxies = ProxyChoice { $0 == "http_proxy" ? "127.0.0.1:\(proxy.port)" : nil }
        let context = try context()
        let cache = try context.caches.open(Address("http://photos.s3.us-east-1.amazonaws.com/2024/"))
        let request = try #require(try GalleryListRequest.make(for: .list(cache.id), in: context))
        for count in [3, 4] {
            try await request.perform(over: HTTPClient(configuration, log: log))
            #expect(try ids(cache) == ["a.jpg"] && proxy.requests.count == count)
        }
        #expect(try cache.read { try $0.source() }?.root.host == "photos.s3.eu-west-1.amazonaws.com")
    }

    @Test("An endless list of pages is refused, and the photos stay", arguments: ["repeated", "empty", "cut"])
    func hostile(kind: String) async throws {
        let bucket = try StandInBucket(StandInBucket.Rules(keys: Self.keys))
        let context = try context()
        let cache = try context.caches.open(Address(bucket.url()))
        try await working(context) {
            try await fetchList(cache)
            let before = bucket.requests.count
            bucket.rules.withLock { rules in
                switch kind {
                case "repeated":
                    rules.pages["2"] = .answer(200, StandInBucket.page(["c.jpg"], next: "2"))
                case "empty":
                    for number in 2..<200 {
                        rules.pages["\(number)"] = .answer(200, StandInBucket.page([], next: "\(number + 1)"))
                    }
                default:
                    rules.pages["2"] = .answer(200, String(StandInBucket.page(["c.jpg", "d.jpg"]).dropLast(60)))
                }
            }
            try await fetchList(cache)
            #expect(try !failure(cache).isEmpty && ids(cache) == Self.ids)
            #expect(bucket.requests.count <= before + 110)
        }
    }

    @Test("A key goes to no server that only a list or a redirect names")
    func secrecy() async throws {
        let other = try ScriptedServer { _ in StandInBucket.refusal(403, "AccessDenied") }
        let bucket = try StandInBucket(StandInBucket.Rules(keys: Self.keys, key: Self.key.id))
        let context = try context(keys: [Self.key])
        let cache = try context.caches.open(Address(bucket.url()))
        try await working(context) {
            try await fetchList(cache)
            let count = bucket.requests.count
            bucket.rules.withLock { rules in
                rules.key = nil
                rules.pages[""] = .answer(307, headers: ["Location: \(other.url("/photos/"))"])
            }
            try await fetchList(cache)
            #expect(bucket.requests.count > count && other.requests.count >= 1)
            #expect(other.requests.allSatisfy { $0.headers["authorization"] == nil })
            #expect(other.requests.allSatisfy { $0.headers["x-amz-security-token"] == nil })
            #expect(try ids(cache) == Self.ids)
            // A gallery of another kind does not make Vitrine look for keys.
            let list = try ScriptedServer { _ in
                .answer(200, NetworkTest.list(["1"]).replacing("p/1", with: other.url("/p/1")))
            }
            let gallery = try context.caches.open(Address(list.url("/index.xml")))
            try await fetchList(gallery)
            await fetch(.everyPicture(gallery.id, .original))
            #expect(activity.questions.isEmpty)
            #expect(other.requests.allSatisfy { $0.headers["authorization"] == nil })
        }
    }
}
