import Cells
import Foundation
import Logging
import Model
import PictureTestSupport
import Pixels
import TestSupport
import Testing

@testable import Cache
@testable import Pictures

@Suite struct PicturePipelineTests {
    let folder = TestFolder()
    let cache: GalleryCache
    let caches: CacheFolder
    let pipeline: PicturePipeline
    let renderer: PictureRenderer
    let style = DrawingStyle(symbols: .half, colours: .full, cellAspect: 0.5)
    let size = Size(columns: 8, rows: 3)

    init() throws {
        let log = Log()
        caches = try CacheFolder(path: folder.path("cache"), log: log)
        cache = try caches.open(Address("http://example.org/index.xml"))
        let decoder = DecoderClient(path: try DecoderProcess.path, from: .server)
        renderer = PictureRenderer(caches: caches, decoder: decoder, log: log)
        pipeline = PicturePipeline(renderer: renderer, width: 2)
    }

    func sync(_ ids: [String], thumbnails: Bool = true, date: Int64 = 0) async throws {
        let draft = try cache.beginSync()
        try draft.add(
            try ids.map { id in
                GalleryEntry(
                    id: id, name: id, date: Timestamp(milliseconds: date),
                    photo: try cache.address.resolving("p/\(id)"),
                    thumbnail: thumbnails ? try cache.address.resolving("t/\(id)") : nil)
            })
        _ = try await cache.writer.commit(
            draft.finish(), skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 0))
    }

    func photo(_ id: String) throws -> Photo { try #require(try cache.read { try $0.photo(galleryID: id) }) }

    func store(thumbnail bytes: [UInt8], of id: String) async throws {
        let photo = try photo(id)
        try await cache.writer.store(thumbnail: bytes, of: photo.key, edition: photo.thumbnail.edition)
    }

    func store(photo bytes: [UInt8], of id: String) async throws {
        let photo = try photo(id)
        let partial = try cache.files.makePartial(of: photo.key, edition: photo.original.edition)
        try FileHandle(fileDescriptor: partial.descriptor, closeOnDealloc: false).write(contentsOf: Data(bytes))
        try await cache.writer.store(photo: partial, of: photo.key, edition: photo.original.edition)
    }

    func flat(_ red: UInt8) -> [UInt8] {
        PNGFile(PixelBuffer(width: 40, height: 30) { _, _ in PixelColor(red: red, green: 0, blue: 0) }).bytes
    }

    func thumbnail(_ id: String) throws -> PictureOrder {
        .thumbnail(of: try photo(id), in: cache.id, size: size, style: style)
    }

    func full(_ id: String) throws -> PictureOrder {
        let photo = try photo(id)
        return Viewport(size: size, style: style)
            .order(.picture(cache.id, photo.key, .original), edition: photo.original.held ?? 0)
    }

    /// Orders a picture and waits for the result.
    func finish(_ order: PictureOrder) async {
        let changes = pipeline.changes()
        let client = pipeline.makeClient()
        pipeline.want([order], by: client)
        while pipeline.picture(order) == nil, pipeline.failure(order) == nil { _ = await changes.next() }
        pipeline.want([], by: client)
    }

    /// Waits for the renderer's background writes to the cache.
    func until(_ condition: () throws -> Bool) async throws {
        let changes = cache.changes()
        while try !condition() { _ = await changes.next() }
    }

    @Test("BEHAVIOURS 3.3: thumbnails fill their space, centred, never distorted")
    func fills() async throws {
        try await sync(["a"])
        // Three stripes, of which the middle one fits exactly.
        let stripes = PixelBuffer(width: 300, height: 75) { x, _ in
            PixelColor(red: (100..<200).contains(x) ? 255 : 0, green: 0, blue: 0)
        }
        try await store(thumbnail: PNGFile(stripes).bytes, of: "a")
        let order = try thumbnail("a")
        await finish(order)
        let picture = try #require(pipeline.picture(order))
        #expect(picture.cells.size == size)
        #expect(picture.cells.cells.allSatisfy { $0.style.background == .rgb(255, 0, 0) })
        #expect(picture.width == 300 && picture.height == 75)
    }

    @Test func drawnPicturesAreCached() async throws {
        try await sync(["a"])
        try await store(thumbnail: flat(200), of: "a")
        let order = try thumbnail("a")
        await finish(order)
        try FileManager.default.removeItem(atPath: cache.folder + "/gallery.sqlite")
        #expect(pipeline.picture(order) != nil)
    }

    @Test("BEHAVIOURS 2.6: a new thumbnail replaces the old one once it has been decoded")
    func proven() async throws {
        try await sync(["a"])
        try await store(thumbnail: flat(100), of: "a")
        await finish(try thumbnail("a"))
        try await sync(["a"], date: 1)
        try await store(thumbnail: flat(200), of: "a")
        await finish(try thumbnail("a"))
        let key = try photo("a").key
        try await until { try cache.read { try $0.thumbnail(of: key) }?.isProven == true }
        #expect(try cache.read { try $0.thumbnail(of: key) }?.bytes == flat(200))
    }

    @Test("BEHAVIOURS 3.2: an undecodable thumbnail is bad, and the older one is shown again")
    func undecodable() async throws {
        try await sync(["a"])
        try await store(thumbnail: flat(100), of: "a")
        await finish(try thumbnail("a"))
        try await sync(["a"], date: 1)
        try await store(thumbnail: Array(flat(200).prefix(30)), of: "a")
        let order = try thumbnail("a")
        await finish(order)
        #expect(pipeline.failure(order)?.remedy == Failure.Remedy.none)
        try await until { if case .bad = try photo("a").thumbnail.trouble { true } else { false } }
        let again = try thumbnail("a")
        await finish(again)
        #expect(pipeline.picture(again)?.cells.cells.first?.style.background == .rgb(100, 0, 0))
    }

    @Test("BEHAVIOURS 3.5: an undecodable photo is reported")
    func undecodablePhoto() async throws {
        try await sync(["a"])
        try await store(photo: Array(flat(200).prefix(30)), of: "a")
        let order = try full("a")
        await finish(order)
        #expect(pipeline.failure(order)?.reason.hasPrefix("The picture is damaged") == true)
        try await until { if case .bad = try photo("a").original.trouble { true } else { false } }
    }

    @Test("BEHAVIOURS 3.6: a file that is missing or broken is fetched again", arguments: [true, false])
    func brokenFile(isMissing: Bool) async throws {
        try await sync(["a"])
        try await store(photo: flat(200), of: "a")
        let stored = try #require(try cache.read { try $0.photoFile(of: try photo("a").key) })
        let path = cache.files.path(stored)
        if isMissing {
            try FileManager.default.removeItem(atPath: path)
        } else {
            try Data(flat(200).prefix(30)).write(to: URL(fileURLWithPath: path))
        }
        let order = try full("a")
        await finish(order)
        #expect(pipeline.picture(order) == nil)
        try await until { try photo("a").original.isWanting }
        #expect(try photo("a").original.trouble == nil)
        // The photo arrives again and is drawn: the earlier failure does not block the order.
        try await store(photo: flat(200), of: "a")
        #expect(try full("a") == order)
        await finish(order)
        #expect(pipeline.picture(order) != nil)
    }

    @Test("BEHAVIOURS 3.2: a repaired picture is drawn after a refresh", arguments: Rendition.allCases)
    func mended(rendition: Rendition) async throws {
        func store(_ bytes: [UInt8]) async throws {
            if rendition == .original {
                try await self.store(photo: bytes, of: "a")
            } else {
                try await self.store(thumbnail: bytes, of: "a")
            }
        }
        func order() throws -> PictureOrder { rendition == .original ? try full("a") : try thumbnail("a") }
        try await sync(["a"])
        if rendition == .thumbnail {
            // A good older thumbnail stays visible all the time.
            try await store(flat(100))
            await finish(try order())
            try await sync(["a"], date: 1)
        }
        for round in 1...2 {
            try await store(Array(flat(200).prefix(30 + round)))
            let broken = try order()
            await finish(broken)
            #expect(pipeline.failure(broken)?.remedy == Failure.Remedy.none)
            try await until { if case .bad = try photo("a")[rendition].trouble { true } else { false } }
            if rendition == .thumbnail {
                let older = try order()
                await finish(older)
                #expect(pipeline.picture(older)?.cells.cells.first?.style.background == .rgb(100, 0, 0))
            }
            try await cache.writer.retry()
            #expect(try photo("a")[rendition].isWanting)
        }
        try await store(flat(200))
        let good = try order()
        await finish(good)
        #expect(pipeline.picture(good)?.cells.cells.first?.style.background == .rgb(200, 0, 0))
    }

    /// The list and the photo's screen draw the same bad thumbnail, and both notice.
    @Test func badThumbnailsAreRejectedOnce() async throws {
        try await sync(["a"])
        try await store(thumbnail: flat(100), of: "a")
        await finish(try thumbnail("a"))
        try await sync(["a"], date: 1)
        try await store(thumbnail: Array(flat(200).prefix(30)), of: "a")
        let (list, large) = (
            try thumbnail("a"), PictureOrder.preview(of: try photo("a"), in: cache.id, size: size, style: style)
        )
        // Both have read it before either writes to the cache.
        await finish(list)
        await finish(large)
        try await until { if case .bad = try photo("a").thumbnail.trouble { true } else { false } }
        let key = try photo("a").key
        #expect(try cache.read { try $0.thumbnail(of: key) }?.bytes == flat(100))
    }

    @Test(arguments: ["crashes", "hangs"]) func dyingDecodersDoNotRejectThePicture(name: String) async throws {
        let decoder = DecoderClient(path: BrokenDecoders.path(name), budget: 100)
        let broken = PicturePipeline(renderer: PictureRenderer(caches: caches, decoder: decoder, log: Log()), width: 1)
        try await sync(["a"])
        try await store(thumbnail: flat(100), of: "a")
        try await store(photo: flat(100), of: "a")
        let changes = cache.changes()
        for order in [try thumbnail("a"), try full("a")] {
            let changes = broken.changes()
            let client = broken.makeClient()
            broken.want([order], by: client)
            while broken.failure(order) == nil { _ = await changes.next() }
            #expect(broken.failure(order)?.remedy == .time)
            broken.want([], by: client)
            #expect(broken.failure(order) == nil, "a new order retries")
        }
        // A write of the test itself, after all that the renderer might have written.
        try await cache.writer.recordOpened(at: Timestamp(milliseconds: 7))
        while let change = await changes.next(), change["gallery"] == nil {
            #expect(change["photo"] == nil && change["thumbnail"] == nil)
        }
        #expect(try photo("a").thumbnail.isCurrent && photo("a").original.isCurrent)
    }
}
