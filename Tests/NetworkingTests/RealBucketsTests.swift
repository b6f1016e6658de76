import HTTP
import Logging
import Model
import Numbers
import Session
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Galleries in buckets of real storage services, which check signatures.
@Suite(.ownThread) struct RealBucketsTests {
    private let folder = TestFolder()
    private let log = Log(level: .debug)
    private let client: HTTPClient
    private let credentials = CredentialStore()
    private let context: RequestContext
    /// The services do not accept names that are not UTF-8.
    private let tree: NastyTree

    init() throws {
        client = HTTPClient(log: log)
        context = RequestContext(
            caches: try CacheFolder(path: folder.path("cache"), log: log, credentials: credentials),
            activity: Activity(), log: log)
        tree = try NastyTree(isText: true)
    }

    private func list(_ cache: GalleryCache) async throws {
        try await #require(try GalleryListRequest.make(for: .list(cache.id), in: context)).perform(over: client)
    }

    private func failure(_ cache: GalleryCache) async -> RequestError? {
        do { try await list(cache) } catch { return RequestError(error) }
        return nil
    }

    private func take(_ id: String, _ secret: String, for cache: GalleryCache) throws {
        credentials.take(
            .accessKey(AccessKey(id: id, secret: secret)), for: .origin(try #require(cache.address.origin)),
            by: [cache.id])
    }

    private func photos(_ cache: GalleryCache) throws -> [Photo] {
        var photos: [Photo] = []
        try cache.read { try $0.forEachPhoto { photos.append($0) } }
        return photos
    }

    /// Expects all photos of the tree. Thumbnails and photos must be available.
    private func expectPhotos(_ cache: GalleryCache, _ kind: BucketServer.Kind) async throws {
        try await list(cache)
        let photos = try photos(cache)
        let ids = NastyTree.sorted(photos.map(\.galleryID))
        let expected = kind.ids(of: tree).filter { !$0.hasPrefix(".") }
        #expect(ids.map { Array($0.utf8) } == expected.map { Array($0.utf8) })
        let record = try cache.read { try $0.gallery() }
        #expect(record.skipped == 0 && record.kind == .s3)
        var refused: [String] = []
        for photo in photos {
            for rendition in [Rendition.thumbnail, .original] {
                let subject = Wish.Subject.picture(cache.id, photo.key, rendition)
                let request: any NetworkRequest =
                    if let embedded = try EmbeddedThumbnailRequest.make(for: subject, in: context) { embedded } else {
                        try #require(try PhotoRequest.make(for: subject, in: context))
                    }
                do { try await request.perform(over: client) } catch { refused.append(photo.galleryID) }
            }
        }
        #expect(refused.isEmpty)
        // The second listing finds the same.
        try await list(cache)
        #expect(try NastyTree.sorted(self.photos(cache).map(\.galleryID)) == ids)
    }

    /// Expects valid signatures of conditional requests and of requests for parts.
    private func expectConditionalAnswers(_ cache: GalleryCache) async throws {
        for photo in try photos(cache) {
            let address = try #require(try cache.read { try $0.source(of: photo.key, .original) }?.address)
            var plan = FetchPlan(address: address, signIn: cache.signIn(for: address), limit: 1 << 20)
            let first = try await Response.to(plan, over: client, with: TransferPermit())
            plan.validators = first.validators
            #expect(try await Response.to(plan, over: client, with: TransferPermit()).isUnchanged)
            plan.validators = Validators()
            plan.resumption = HTTPRequest.Resumption(
                offset: 5, validator: try #require(first.validators.etag), url: nil, whole: first.head.length)
            #expect(try await Response.to(plan, over: client, with: TransferPermit()).head.status == 206)
        }
    }

    @Test("SeaweedFS: a public and a private bucket have the photos of the disk, and wrong keys are refused")
    func seaweed() async throws {
        let server = try await BucketServer.Kind.seaweed.start(with: tree)
        let open = try context.caches.open(Address(server.url("/open/")))
        try await expectPhotos(open, .seaweed)
        #expect(try photos(open).allSatisfy { $0.date.seconds > 1_700_000_000 })
        let closed = try context.caches.open(Address(server.url("/photos")))
        guard case .signIn(let question)? = await failure(closed) else {
            Issue.record("The bucket is open.")
            return
        }
        #expect(question.wantsAccessKey && !question.wasRefused)
        for (id, secret) in [(BucketServer.key, "wrong"), ("WRONG", BucketServer.secret)] {
            try take(id, secret, for: closed)
            guard case .signIn(let question)? = await failure(closed) else {
                Issue.record("The key was accepted.")
                return
            }
            #expect(question.wasRefused)
        }
        // This key reads objects, and lists nothing.
        try take("READER", BucketServer.secret, for: closed)
        let refusal = try #require(await failure(closed)).failure
        #expect("\(refusal)" == "the server does not allow this with your access key (403)")
        try take(BucketServer.key, BucketServer.secret, for: closed)
        try await expectPhotos(closed, .seaweed)
        try await expectConditionalAnswers(closed)
        let part = try context.caches.open(Address(server.url("/photos/2024%20%231%20&%2050%25+%C3%9C")))
        try await list(part)
        #expect(try photos(part).map(\.galleryID).contains("inside.jpg"))
        let absent = try context.caches.open(Address(server.url("/absent/")))
        #expect(await failure(absent).map { "\($0.failure)" } == "the server has no bucket with this name")
        let words = log.entries.map(\.message).joined()
        #expect(!words.contains(BucketServer.secret))
    }

    @Test("rclone: the buckets have the photos of the disk", arguments: [BucketServer.Kind.rclone, .openRclone])
    func rclone(kind: BucketServer.Kind) async throws {
        let server = try await kind.start(with: tree)
        let cache = try context.caches.open(Address(server.url("/photos/")))
        if kind == .rclone {
            guard case .signIn(let question)? = await failure(cache) else {
                Issue.record("The bucket is open.")
                return
            }
            #expect(question.wantsAccessKey && !question.wasRefused)
            try take(BucketServer.key, BucketServer.secret, for: cache)
        }
        try await expectPhotos(cache, kind)
    }
}
