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

@Suite struct DarkroomTests {
    private let folder = TestFolder()
    private let cache: GalleryCache
    private let caches: CacheFolder
    private let darkroom: Darkroom
    private let developer: PictureDeveloper
    private let style = DrawingStyle(symbols: .half, colours: .full, cellAspect: 0.5)
    private let room = Size(columns: 8, rows: 3)

    init() throws {
        let log = Log()
        caches = try CacheFolder(path: folder.path("cache"), log: log)
        cache = try caches.open(Address("http://example.org/index.xml"))
        developer = PictureDeveloper(caches: caches, decoder: DecoderClient(path: try DecoderProcess.path), log: log)
        darkroom = Darkroom(developer: developer, width: 2)
    }

    private func sync(_ ids: [String], thumbnails: Bool = true, date: Int64 = 0) async throws {
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

    private func photo(_ id: String) throws -> Photo { try #require(try cache.read { try $0.photo(galleryID: id) }) }

    private func store(thumbnail bytes: [UInt8], of id: String) async throws {
        let photo = try photo(id)
        try await cache.writer.store(thumbnail: bytes, of: photo.key, edition: photo.thumbnail.edition)
    }

    private func store(photo bytes: [UInt8], of id: String) async throws {
        let photo = try photo(id)
        let partial = try cache.files.makePartial()
        try FileHandle(fileDescriptor: partial.descriptor, closeOnDealloc: false).write(contentsOf: Data(bytes))
        try await cache.writer.store(photo: partial, of: photo.key, edition: photo.photo.edition)
    }

    private func flat(_ red: UInt8) -> [UInt8] {
        PNGFile(PixelBuffer(width: 40, height: 30) { _, _ in PixelColor(red: red, green: 0, blue: 0) }).bytes
    }

    private func thumbnail(_ id: String) throws -> PictureOrder {
        .thumbnail(of: try photo(id), in: cache.id, room: room, style: style)
    }

    private func full(_ id: String) throws -> PictureOrder {
        let photo = try photo(id)
        return Viewport(room: room, style: style)
            .order(.picture(cache.id, photo.key, .photo), edition: photo.photo.held ?? 0)
    }

    /// Wants an order and waits until something has become of it.
    private func develop(_ order: PictureOrder) async {
        let developed = darkroom.developed()
        let customer = darkroom.makeCustomer()
        darkroom.want([order], by: customer)
        while darkroom.picture(order) == nil, darkroom.failure(order) == nil { _ = await developed.next() }
        darkroom.want([], by: customer)
    }

    /// Waits for what the developer tells the cache when it has time.
    private func until(_ condition: () throws -> Bool) async throws {
        let changes = cache.changes()
        while try !condition() { _ = await changes.next() }
    }

    @Test("BEHAVIOURS 3.3: thumbnails fill their room, centred, never squashed")
    func fills() async throws {
        try await sync(["a"])
        // Three stripes, of which the middle one is as wide as the room asks for.
        let stripes = PixelBuffer(width: 300, height: 75) { x, _ in
            PixelColor(red: (100..<200).contains(x) ? 255 : 0, green: 0, blue: 0)
        }
        try await store(thumbnail: PNGFile(stripes).bytes, of: "a")
        let order = try thumbnail("a")
        await develop(order)
        let picture = try #require(darkroom.picture(order))
        #expect(picture.cells.size == room)
        #expect(picture.cells.cells.allSatisfy { $0.style.background == .rgb(255, 0, 0) })
        #expect(picture.width == 300 && picture.height == 75)
    }

    @Test func drawnPicturesAreKept() async throws {
        try await sync(["a"])
        try await store(thumbnail: flat(200), of: "a")
        let order = try thumbnail("a")
        await develop(order)
        try FileManager.default.removeItem(atPath: cache.folder + "/gallery.sqlite")
        #expect(darkroom.picture(order) != nil)
    }

    @Test("BEHAVIOURS 2.6: a new thumbnail takes the old one's place when it has proved to be one")
    func proven() async throws {
        try await sync(["a"])
        try await store(thumbnail: flat(100), of: "a")
        await develop(try thumbnail("a"))
        try await sync(["a"], date: 1)
        try await store(thumbnail: flat(200), of: "a")
        await develop(try thumbnail("a"))
        let key = try photo("a").key
        try await until { try cache.read { try $0.thumbnail(of: key) }?.isProven == true }
        #expect(try cache.read { try $0.thumbnail(of: key) }?.bytes == flat(200))
    }

    @Test("BEHAVIOURS 3.2: undecodable is bad, and the older one is shown again")
    func undecodable() async throws {
        try await sync(["a"])
        try await store(thumbnail: flat(100), of: "a")
        await develop(try thumbnail("a"))
        try await sync(["a"], date: 1)
        try await store(thumbnail: Array(flat(200).prefix(30)), of: "a")
        let order = try thumbnail("a")
        await develop(order)
        #expect(darkroom.failure(order)?.remedy == Failure.Remedy.none)
        try await until { if case .bad = try photo("a").thumbnail.trouble { true } else { false } }
        let again = try thumbnail("a")
        await develop(again)
        #expect(darkroom.picture(again)?.cells.cells.first?.style.background == .rgb(100, 0, 0))
    }

    @Test("BEHAVIOURS 3.5: an undecodable photo is said to be one")
    func undecodablePhoto() async throws {
        try await sync(["a"])
        try await store(photo: Array(flat(200).prefix(30)), of: "a")
        let order = try full("a")
        await develop(order)
        #expect(darkroom.failure(order)?.reason.hasPrefix("The picture is damaged") == true)
        try await until { if case .bad = try photo("a").photo.trouble { true } else { false } }
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
        await develop(order)
        #expect(darkroom.picture(order) == nil)
        try await until { try photo("a").photo.isWanting }
        #expect(try photo("a").photo.trouble == nil)
        // It comes again, and is drawn: the same order is not held against it.
        try await store(photo: flat(200), of: "a")
        #expect(try full("a") == order)
        await develop(order)
        #expect(darkroom.picture(order) != nil)
    }

    @Test("BEHAVIOURS 3.2: a mended picture is drawn after a refresh", arguments: Rendition.allCases)
    func mended(rendition: Rendition) async throws {
        func store(_ bytes: [UInt8]) async throws {
            if rendition == .photo {
                try await self.store(photo: bytes, of: "a")
            } else {
                try await self.store(thumbnail: bytes, of: "a")
            }
        }
        func order() throws -> PictureOrder { rendition == .photo ? try full("a") : try thumbnail("a") }
        try await sync(["a"])
        if rendition == .thumbnail {
            // An older one that is good stays visible all the time.
            try await store(flat(100))
            await develop(try order())
            try await sync(["a"], date: 1)
        }
        for round in 1...2 {
            try await store(Array(flat(200).prefix(30 + round)))
            let broken = try order()
            await develop(broken)
            #expect(darkroom.failure(broken)?.remedy == Failure.Remedy.none)
            try await until { if case .bad = try photo("a")[rendition].trouble { true } else { false } }
            if rendition == .thumbnail {
                let older = try order()
                await develop(older)
                #expect(darkroom.picture(older)?.cells.cells.first?.style.background == .rgb(100, 0, 0))
            }
            try await cache.writer.forgiveTroubles()
            #expect(try photo("a")[rendition].isWanting)
        }
        try await store(flat(200))
        let good = try order()
        await develop(good)
        #expect(darkroom.picture(good)?.cells.cells.first?.style.background == .rgb(200, 0, 0))
    }

    /// The list and the photo's screen draw the same thumbnail, and both find that it is none.
    @Test func aThumbnailIsRejectedOnce() async throws {
        try await sync(["a"])
        try await store(thumbnail: flat(100), of: "a")
        await develop(try thumbnail("a"))
        try await sync(["a"], date: 1)
        try await store(thumbnail: Array(flat(200).prefix(30)), of: "a")
        let (list, large) = (
            try thumbnail("a"), PictureOrder.preview(of: try photo("a"), in: cache.id, room: room, style: style)
        )
        // Both have read it before either has been heard.
        await develop(list)
        await develop(large)
        try await until { if case .bad = try photo("a").thumbnail.trouble { true } else { false } }
        let key = try photo("a").key
        #expect(try cache.read { try $0.thumbnail(of: key) }?.bytes == flat(100))
    }

    @Test(arguments: ["crashes", "hangs"]) func aDecoderThatDiesSaysNothingOfThePicture(stub: String) async throws {
        let decoder = DecoderClient(path: Stubs.path(stub), budget: 100)
        let broken = Darkroom(developer: PictureDeveloper(caches: caches, decoder: decoder, log: Log()), width: 1)
        try await sync(["a"])
        try await store(thumbnail: flat(100), of: "a")
        try await store(photo: flat(100), of: "a")
        let changes = cache.changes()
        for order in [try thumbnail("a"), try full("a")] {
            let developed = broken.developed()
            let customer = broken.makeCustomer()
            broken.want([order], by: customer)
            while broken.failure(order) == nil { _ = await developed.next() }
            #expect(broken.failure(order)?.remedy == .time)
            broken.want([], by: customer)
            #expect(broken.failure(order) == nil, "it is tried again when somebody wants it again")
        }
        // A change of ours, after all that the darkroom might have told the cache.
        try await cache.writer.noteOpened(at: Timestamp(milliseconds: 7))
        while let change = await changes.next(), change["gallery"] == nil {
            #expect(change["photo"] == nil && change["thumbnail"] == nil)
        }
        #expect(try photo("a").thumbnail.isCurrent && photo("a").photo.isCurrent)
    }

    @Test("BEHAVIOURS 1.2: a photo without a thumbnail gets one")
    func makesThumbnails() async throws {
        try await sync(["a"], thumbnails: false)
        let large = PixelBuffer.scene(width: 1_000, height: 500)
        try await store(photo: PNGFile(large).bytes, of: "a")
        let order = try thumbnail("a")
        await develop(order)
        #expect(darkroom.picture(order)?.cells.size == room)
        try await until { try photo("a").thumbnail.isCurrent }
        let key = try photo("a").key
        let bytes = try #require(try cache.read { try $0.thumbnail(of: key) }).bytes
        #expect(bytes.starts(with: [0xFF, 0xD8, 0xFF]) && bytes.count < 40_000)
        let again = try thumbnail("a")
        await develop(again)
        #expect(darkroom.picture(again)?.width == 320)
    }

    @Test("BEHAVIOURS 2.5: a thumbnail that is made from the photo is made anew with it")
    func remakesThumbnails() async throws {
        try await sync(["a"], thumbnails: false)
        try await store(photo: flat(100), of: "a")
        #expect(try cache.read { try $0.thumbnailsToMake() } == [photo("a").key])
        await develop(try thumbnail("a"))
        try await until { try photo("a").thumbnail.isCurrent }
        let key = try photo("a").key
        let old = try cache.read { try $0.thumbnail(of: key) }?.bytes
        try await sync(["a"], thumbnails: false, date: 1)
        // The photo that is here is not the one that the gallery speaks of.
        #expect(try cache.read { try $0.thumbnailsToMake() }.isEmpty)
        #expect(try await !developer.makeThumbnail(of: key, in: cache))
        await develop(try thumbnail("a"))
        #expect(try !photo("a").thumbnail.isCurrent)
        try await store(photo: flat(200), of: "a")
        #expect(try cache.read { try $0.thumbnailsToMake() } == [key])
        await develop(try thumbnail("a"))
        try await until { try photo("a").thumbnail.isCurrent }
        #expect(try cache.read { try $0.thumbnail(of: key) }?.bytes != old)
        let order = try thumbnail("a")
        await develop(order)
        #expect(darkroom.picture(order)?.cells.cells.first?.style.background != .rgb(100, 0, 0))
    }

    @Test func badPhotosAreNotDecodedAtEachSync() async throws {
        try await sync(["a"], thumbnails: false)
        try await store(photo: Array(flat(200).prefix(30)), of: "a")
        let key = try photo("a").key
        #expect(try cache.read { try $0.thumbnailsToMake() } == [key])
        await #expect(throws: PictureError.self) { try await developer.makeThumbnail(of: key, in: cache) }
        try await until { if case .bad = try photo("a").photo.trouble { true } else { false } }
        #expect(try cache.read { try $0.thumbnailsToMake() }.isEmpty)
        #expect(try await !developer.makeThumbnail(of: key, in: cache))
    }

    /// A decoder that waits at a gate before each picture, so that nothing is done before everything is wished for.
    @Test func mostImportantFirst() async throws {
        let gate = folder.path("gate")
        mkfifo(gate, 0o600)
        let decoder = folder.write(
            "decoder", "#!/bin/sh\nread -r go < '\(gate)'\nexec '\(try DecoderProcess.path)' \"$@\"\n")
        chmod(decoder, 0o700)
        let opener = open(gate, O_RDWR)
        defer { close(opener) }
        try await sync((0..<6).map { "n\($0)" })
        for number in 0..<6 { try await store(thumbnail: flat(UInt8(number)), of: "n\(number)") }
        let narrow = Darkroom(
            developer: PictureDeveloper(caches: caches, decoder: DecoderClient(path: decoder), log: Log()), width: 1)
        let developed = narrow.developed()
        let (list, photo) = (narrow.makeCustomer(), narrow.makeCustomer())
        let orders = try (0..<6).map { try thumbnail("n\($0)") }
        narrow.want([orders[0], orders[1], orders[2]], by: list, importance: .near)
        narrow.want([orders[5]], by: photo, importance: .lookedAt)
        var order: [PictureOrder] = []
        for _ in 0..<4 {
            write(opener, "\n", 1)
            order += await developed.next()?.orders ?? []
        }
        // The first was under way already.
        #expect(order == [orders[0], orders[5], orders[1], orders[2]])
    }

    @Test func whatNobodyWantsIsStopped() async throws {
        let slow = Darkroom(
            developer: PictureDeveloper(caches: caches, decoder: DecoderClient(path: Stubs.path("hangs")), log: Log()),
            width: 1)
        try await sync(["a"])
        try await store(thumbnail: flat(1), of: "a")
        let developed = slow.developed()
        let customer = slow.makeCustomer()
        let order = try thumbnail("a")
        slow.want([order], by: customer)
        slow.want([], by: customer)
        // It ends long before its budget, with nothing to show for it.
        #expect(await developed.next()?.orders == [order])
        #expect(slow.picture(order) == nil && slow.failure(order) == nil)
    }

    @Test func cacheIsBounded() {
        var cache = BoundedCache<Int, String>(limit: 1_000)
        for number in 0..<10_000 {
            cache.insert("\(number)", for: number, cost: 100)
            #expect(cache.cost <= 1_000 && cache.value(for: number) == "\(number)")
            if number > 0 { _ = cache.value(for: 0) }
        }
        // Used all the time, so it is still there.
        #expect(cache.value(for: 0) == "0")
        cache.insert("huge", for: -1, cost: 5_000)
        #expect(cache.count == 1 && cache.value(for: -1) == "huge")
        cache.remove(-1)
        #expect(cache.cost == 0)
    }
}
