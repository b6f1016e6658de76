import Formats
import Model
import Session
import Synchronization
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Thumbnails in the first bytes of photos, on servers that offer no others.
@Suite struct EmbeddedThumbnailTests {
    private let test: NetworkTest
    private static let firstBytes = "bytes=0-61439"
    private static let time = "2006-07-30T07:47:17"

    init() throws { test = try NetworkTest() }

    private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xFF, marker, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 0xFF)] + content
    }

    /// The headers of a JPEG of 16 × 16 pixels, and other bytes in place of its pixels.
    private static let thumbnail: [UInt8] =
        [0xFF, 0xD8] + segment(0xC0, [8, 0, 16, 0, 16, 1, 1, 0x11, 0]) + segment(0xDA, [1, 1, 0, 0, 63, 0])
        + Array("pixels".utf8)

    /// A photo of a size in bytes, turned to the right, with its time and perhaps a thumbnail.
    private static func photo(_ size: Int, hasThumbnail: Bool = true) -> [UInt8] {
        let links: [UInt8] = [
            0, 2, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0x87, 0x69, 0, 4, 0, 0, 0, 1, 0, 0, 0, 38,
        ]
        let taken: [UInt8] = [0, 1, 0x90, 0x03, 0, 2, 0, 0, 0, 20, 0, 0, 0, 56, 0, 0, 0, 0]
        let second: [UInt8] = [
            0, 2, 0x02, 0x01, 0, 4, 0, 0, 0, 1, 0, 0, 0, 106, 0x02, 0x02, 0, 4, 0, 0, 0, 1, 0, 0, 0,
            UInt8(thumbnail.count),
        ]
        var tiff: [UInt8] = Array("MM".utf8) + [0, 42, 0, 0, 0, 8] + links + [0, 0, 0, hasThumbnail ? 76 : 0]
        tiff += taken + Array("2006:07:30 07:47:17\0".utf8) + second + [0, 0, 0, 0] + thumbnail
        let head = [0xFF, 0xD8] + segment(0xE1, Array("Exif\0\0".utf8) + tiff)
        return head + Array(repeating: 0x70, count: size - head.count)
    }

    /// The thumbnail as it is stored: with the photo's orientation.
    private static let stored: [UInt8] =
        [0xFF, 0xD8, 0xFF, 0xE1, 0, 34] + Array("Exif\0\0MM".utf8)
        + [0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0] + thumbnail.dropFirst(2)

    /// Commits a list of photos without thumbnails.
    private func list(_ ids: [String] = ["a"], revision: String = "1", at server: String? = nil) async throws {
        let draft = try test.cache.beginSync()
        try draft.add(
            ids.map {
                GalleryEntry(
                    id: $0, name: $0, date: Timestamp(milliseconds: 0), dateOrigin: .unknown,
                    photo: try Address(server ?? test.server.url("/p/\($0)")), thumbnail: nil, revision: revision)
            })
        _ = try await test.cache.writer.commit(
            draft.finish(), skipped: 0, validators: Validators(), isPrivate: true, at: Timestamp(milliseconds: 1))
    }

    /// Serves files, in parts if a request names some.
    private func serve(_ files: [String: [UInt8]], hasRanges: Bool = true) {
        test.answer.withLock {
            $0 = { request in files[request.path].map { Self.answer(request, $0, hasRanges: hasRanges) } }
        }
    }

    private static func answer(
        _ request: ScriptedServer.Request, _ file: [UInt8], hasRanges: Bool = true
    ) -> [ScriptedServer.Step] {
        let ends = request.headers["range"]?.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
        guard hasRanges, let ends, ends.count == 2 else { return .answer(200, file) }
        guard ends[0] < file.count else {
            return .answer(416, "", headers: ["Content-Range: bytes */\(file.count)", "Content-Type: text/html"])
        }
        let part = Array(file[ends[0]...min(ends[1], file.count - 1)])
        return .answer(
            206, part, headers: ["Content-Range: bytes \(ends[0])-\(ends[0] + part.count - 1)/\(file.count)"])
    }

    private func wish(_ id: String = "a") async throws {
        let subject = try test.thumbnail(id)
        test.wishes.ask(for: subject)
        try await test.until { [test] in !test.wishes.isStanding(subject) }
    }

    private func thumbnail(_ id: String = "a") throws -> [UInt8]? {
        try test.cache.read { try $0.thumbnail(of: test.key(id)) }?.bytes
    }

    private var ranges: [String?] { test.server.requests.map { $0.headers["range"] } }

    @Test("BEHAVIOURS 3.8: the first 60 KB of a photo bring its thumbnail, orientation and date")
    func found() async throws {
        try await list()
        serve(["/p/a": Self.photo(3_000_000)])
        test.start()
        try await wish()
        #expect(ranges == [Self.firstBytes])
        #expect(try thumbnail() == Self.stored)
        let photo = try test.photo("a")
        #expect(photo.date == Timestamp(localTime: Self.time))
        #expect(photo.thumbnail == RenditionState(edition: 1, held: 1) && photo.original == RenditionState(edition: 1))
        #expect(test.log.entries.contains { $0.message.contains(": 61440 bytes received in ") })
        try await wish()
        #expect(test.server.requests.count == 1)
    }

    @Test("A server without ranges sends little more than the first bytes")
    func noRanges() async throws {
        try await list()
        serve(["/p/a": Self.photo(30_000_000)], hasRanges: false)
        test.start()
        try await wish()
        #expect(ranges == [Self.firstBytes])
        #expect(try thumbnail() == Self.stored)
        #expect(try test.photo("a").original == RenditionState(edition: 1))
        let received = test.log.entries.compactMap { entry -> Int? in
            guard entry.message.contains(" bytes received in ") else { return nil }
            return entry.message.split(separator: " ").compactMap { Int($0) }.first
        }
        #expect(received.count == 1 && received.allSatisfy { (61_440..<1_000_000).contains($0) })
    }

    @Test("Only a small photo without a thumbnail needs another request", arguments: [524_288, 524_289])
    func following(size: Int) async throws {
        try await list()
        serve(["/p/a": Self.photo(size, hasThumbnail: false)])
        let factory = RequestFactory([EmbeddedThumbnailRequest.self, PhotoRequest.self], test.context)
        let subject = try test.thumbnail("a")
        let request = try #require(try factory.request(for: subject))
        try await request.perform(over: test.client)
        #expect(factory.isIncomplete(subject, after: request) == (size <= 524_288))
        guard let next = try factory.request(for: subject) else { return }
        try await next.perform(over: test.client)
        #expect(try next is PhotoRequest && factory.request(for: subject) == nil)
        #expect(!factory.isIncomplete(subject, after: next))
    }

    @Test("A photo of at most 60 KB is its own thumbnail", arguments: [400, 61_440])
    func tiny(size: Int) async throws {
        try await list()
        let photo = Self.photo(size)
        serve(["/p/a": photo])
        test.start()
        try await wish()
        #expect(try ranges == [Self.firstBytes] && thumbnail() == photo)
    }

    @Test("BEHAVIOURS 3.8: a small photo without a thumbnail is fetched once and kept", arguments: [61_441, 524_288])
    func small(size: Int) async throws {
        try await list()
        serve(["/p/a": Self.photo(size, hasThumbnail: false)])
        test.start()
        try await wish()
        #expect(ranges == [Self.firstBytes, nil])
        let photo = try test.photo("a")
        #expect(photo.original.isCurrent && photo.size == Int64(size))
        #expect(photo.date == Timestamp(localTime: Self.time))
        #expect(try test.cache.read { try $0.thumbnailsToMake() } == [photo.key])
        try await wish()
        #expect(test.server.requests.count == 2)
    }

    @Test("A bulk fetch of thumbnails fetches every small photo")
    func bulk() async throws {
        let ids = (0..<40).map { "s\($0)" }
        try await list(ids)
        serve(Dictionary(uniqueKeysWithValues: ids.map { ("/p/\($0)", Self.photo(70_000, hasThumbnail: false)) }))
        test.start()
        let all = Wish.Subject.everyPicture(test.cache.id, .thumbnail)
        test.wishes.ask(for: all)
        try await test.until { [test] in !test.wishes.isStanding(all) }
        #expect(test.server.requests.count == 80)
        #expect(try test.cache.read { try $0.thumbnailsToMake() }.count == 40)
    }

    @Test("BEHAVIOURS 3.8: a large photo without a thumbnail is not requested again until its revision changes")
    func large() async throws {
        try await list()
        serve(["/p/a": Self.photo(524_289, hasThumbnail: false)])
        test.start()
        try await wish()
        try await wish()
        #expect(ranges == [Self.firstBytes])
        let photo = try test.photo("a")
        #expect(
            photo.thumbnail == RenditionState(edition: 1, isAbsent: true)
                && photo.original == RenditionState(edition: 1))
        #expect(photo.date == Timestamp(localTime: Self.time) && test.activity.failures.isEmpty)
        #expect(try test.cache.read { try $0.troubleCount() } == 0)
        serve(["/p/a": Self.photo(524_289)])
        try await list(revision: "2")
        try await wish()
        #expect(try ranges == [Self.firstBytes, Self.firstBytes] && thumbnail() == Self.stored)
        #expect(try test.photo("a").thumbnail == RenditionState(edition: 2, held: 2))
    }

    @Test("A photo that the user opens is fetched whole, and then no first bytes are requested")
    func opened() async throws {
        try await list()
        serve(["/p/a": Self.photo(600_000)])
        test.start()
        let subject = try test.full("a")
        test.wishes.ask(for: subject)
        try await test.until { [test] in !test.wishes.isStanding(subject) }
        try await wish()
        #expect(try ranges == [nil] && test.photo("a").original.isCurrent)
    }

    @Test("BEHAVIOURS 3.8: a photo in a list without revisions is fetched whole")
    func withoutRevision() async throws {
        try await list(revision: "")
        serve(["/p/a": Self.photo(600_000)])
        test.start()
        try await wish()
        #expect(try ranges == [nil] && test.photo("a").original.isCurrent)
    }

    @Test("A missing photo, or an answer that is no picture, is a failure of the thumbnail")
    func failures() async throws {
        try await list(["gone", "text"])
        test.put("/p/text", .answer(200, "no picture"))
        test.start()
        for id in ["gone", "text"] {
            try await wish(id)
            guard case .bad? = try test.photo(id).thumbnail.trouble else {
                Issue.record("\(id) has no failure")
                return
            }
        }
        try await wish("gone")
        #expect(test.server.requests.count == 2)
    }

    @Test("A photo counts as one although the server calls it plain text, as for names that it does not know")
    func plainText() async throws {
        try await list(["a", "text"])
        let photo = Self.photo(600_000)
        test.answer.withLock {
            $0 = {
                guard $0.path == "/p/a" else { return .answer(200, "words", headers: ["Content-Type: text/plain"]) }
                return .answer(200, photo, headers: ["Content-Type: text/plain; charset=utf-8"])
            }
        }
        test.start()
        try await wish()
        #expect(try thumbnail() == Self.stored)
        let subject = try test.full("a")
        test.wishes.ask(for: subject)
        try await test.until { [test] in !test.wishes.isStanding(subject) }
        #expect(try test.photo("a").original.isCurrent)
        try await wish("text")
        let expected = Failure("the server sent something that is not a picture", remedy: .none)
        #expect(try test.photo("text").thumbnail.trouble == .bad(expected))
    }

    @Test("nginx sends the first bytes, and less of a short photo")
    func nginx() async throws {
        let folder = TestFolder()
        for (name, size) in [("large", 2_000_000), ("short", 1_000)] {
            folder.write("\(name).jpg", Self.photo(size))
        }
        let server = try Nginx(serving: folder.path)
        test.start()
        for (name, expected) in [("large", Self.stored), ("short", Self.photo(1_000))] {
            try await list([name], at: server.url("/\(name).jpg"))
            try await wish(name)
            #expect(try thumbnail(name) == expected)
        }
        #expect(try server.paths() == ["/large.jpg", "/short.jpg"])
    }

    /// A HEIC photo of three megabytes with a thumbnail and a time.
    private static func heic(isPhotoFirst: Bool = true, size: Int = 3_000_000) -> HEIFFile {
        let coded = [UInt8](repeating: 0x71, count: 5_000)
        var file = HEIFFile(
            photo: .init("hvc1", [UInt8](repeating: 0x70, count: size)), thumbnail: .init("hvc1", coded))
        file.thumbnail?.properties = [HEIFFile.box("ispe", [0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 16])]
        // The EXIF block of a JPEG, without the bytes around it.
        file.exif = Array(photo(400, hasThumbnail: false)[12..<120])
        file.isPhotoFirst = isPhotoFirst
        return file
    }

    @Test("BEHAVIOURS 3.8: the thumbnail of a HEIC photo is fetched alone, wherever it is in the file")
    func heic() async throws {
        test.start()
        for isPhotoFirst in [false, true] {
            let id = "\(isPhotoFirst)"
            let file = Self.heic(isPhotoFirst: isPhotoFirst).bytes
            try await list([id])
            serve(["/p/\(id)": file])
            let before = ranges.count
            try await wish(id)
            let rest = "bytes=\(file.count - 5_000 - 112)-\(file.count - 1)"
            #expect(ranges.dropFirst(before) == [Self.firstBytes] + (isPhotoFirst ? [rest] : []))
            let expected = try #require(HEIFThumbnail(inPhoto: file)?.embedded.picture)
            #expect(try thumbnail(id) == expected)
            let photo = try test.photo(id)
            #expect(photo.date == Timestamp(localTime: Self.time) && photo.original == RenditionState(edition: 1))
        }
    }

    private static let fewBytes = "bytes=0-32767"

    @Test("BEHAVIOURS 3.8: of a photo with the name of a HEIC file, 32 KB are fetched first")
    func heicName() async throws {
        test.start()
        let plain = Self.heic(isPhotoFirst: false)
        var (longList, bare) = (plain, plain)
        longList.photo.properties = [HEIFFile.box("hvcC", [UInt8](repeating: 1, count: 40_000))]
        (bare.thumbnail, bare.exif) = (nil, nil)
        let thumbnail = HEIFThumbnail(inPhoto: plain.bytes)?.embedded.picture
        let cases: [(name: String, file: [UInt8], ranges: [String], thumbnail: [UInt8]?)] = [
            ("a.HEIC", plain.bytes, [Self.fewBytes], thumbnail),
            ("long.heic", longList.bytes, [Self.fewBytes, "bytes=0-65535"], thumbnail),
            ("bare.avif", bare.bytes, [Self.fewBytes], nil),
            ("jpeg.heic", Self.photo(600_000), [Self.fewBytes, Self.firstBytes], Self.stored),
            ("medium.heic", Self.photo(50_000), [Self.fewBytes, Self.firstBytes], Self.photo(50_000)),
            ("small.heic", Self.photo(400), [Self.fewBytes], Self.photo(400)),
        ]
        for (name, file, expected, thumbnail) in cases {
            try await list([name])
            serve(["/p/\(name)": file])
            let before = ranges.count
            try await wish(name)
            #expect(ranges.dropFirst(before).elementsEqual(expected), "\(name)")
            #expect(try self.thumbnail(name) == thumbnail, "\(name)")
        }
    }

    @Test("A bulk fetch of HEIC photos fetches each thumbnail once")
    func bulkOfHEIC() async throws {
        let ids = (0..<600).map { "h\($0)" }
        try await list(ids)
        let file = Self.heic(size: 100_000).bytes
        serve(Dictionary(uniqueKeysWithValues: ids.map { ("/p/\($0)", file) }))
        test.start()
        let all = Wish.Subject.everyPicture(test.cache.id, .thumbnail)
        test.wishes.ask(for: all)
        try await test.until { [test] in !test.wishes.isStanding(all) }
        #expect(test.server.requests.count == 1_200)
        #expect(try ids.allSatisfy { try test.photo($0).thumbnail.isCurrent })
    }

    @Test("The thumbnail of a HEIC photo whose list comes last is found with a third request at most")
    func heicWithListLast() async throws {
        test.start()
        for gap in [0, 100_000] {
            var file = Self.heic()
            (file.isListLast, file.gap) = (true, gap)
            let (id, bytes) = ("\(gap)", file.bytes)
            try await list([id])
            serve(["/p/\(id)": bytes])
            let before = ranges.count
            try await wish(id)
            #expect(ranges.count - before == (gap == 0 ? 2 : 3))
            #expect(try thumbnail(id)?.suffix(5_000) == [UInt8](repeating: 0x71, count: 5_000)[...])
        }
    }

    @Test("A thumbnail of which only the time is missing is stored although the server fails")
    func heicWithoutTime() async throws {
        try await list()
        var file = Self.heic()
        file.isBlockLast = true
        let bytes = file.bytes
        test.answer.withLock {
            $0 = { $0.headers["range"] == Self.firstBytes ? Self.answer($0, bytes) : .answer(404, "gone") }
        }
        test.start()
        try await wish()
        #expect(try ranges.count == 2 && test.photo("a").thumbnail.isCurrent)
    }

    @Test("A server without ranges is not asked for the thumbnail of a HEIC photo")
    func heicWithoutRanges() async throws {
        try await list()
        serve(["/p/a": Self.heic().bytes], hasRanges: false)
        test.start()
        try await wish()
        #expect(ranges == [Self.firstBytes])
        #expect(try test.photo("a").thumbnail == RenditionState(edition: 1, isAbsent: true))
    }

    @Test("A HEIC photo that has changed meanwhile has no thumbnail until the next list", arguments: [1, 3_000_001])
    func heicChanged(size: Int) async throws {
        try await list()
        let (file, other) = (Self.heic().bytes, Self.heic(size: size).bytes)
        test.answer.withLock {
            $0 = { Self.answer($0, $0.headers["range"] == Self.firstBytes ? file : other) }
        }
        test.start()
        try await wish()
        #expect(ranges.count == 2 && ranges.first == Self.firstBytes)
        #expect(try test.photo("a").thumbnail == RenditionState(edition: 1, isAbsent: true))
        #expect(test.activity.failures.isEmpty)
    }

    @Test("A server that sends the whole HEIC photo in place of its thumbnail is stopped")
    func heicWhole() async throws {
        try await list()
        let file = Self.heic(size: 30_000_000).bytes
        test.answer.withLock {
            $0 = { Self.answer($0, file, hasRanges: $0.headers["range"] == Self.firstBytes) }
        }
        test.start()
        try await wish()
        #expect(ranges.count == 2)
        #expect(try test.photo("a").thumbnail == RenditionState(edition: 1, isAbsent: true))
    }

    @Test("A failure of the second request is one of the thumbnail, and a retry begins again")
    func heicFailure() async throws {
        try await list()
        let file = Self.heic().bytes
        test.answer.withLock {
            $0 = { $0.headers["range"] == Self.firstBytes ? Self.answer($0, file) : .answer(404, "gone") }
        }
        test.start()
        try await wish()
        guard case .bad? = try test.photo("a").thumbnail.trouble else {
            Issue.record("there is no failure")
            return
        }
        serve(["/p/a": file])
        try await test.cache.writer.retry()
        try await wish()
        #expect(ranges.count == 4 && ranges[2] == Self.firstBytes)
        #expect(try test.photo("a").thumbnail.isCurrent)
    }
}
