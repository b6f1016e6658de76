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

/// The thumbnails that Vitrine shares with the desktop's programs.
@Suite struct DesktopThumbnailsTests {
    private let folder = TestFolder()
    private let caches: CacheFolder
    private let cache: GalleryCache
    private let renderer: PictureRenderer
    private let pipeline: PicturePipeline

    init() throws {
        let log = Log()
        caches = try CacheFolder(path: folder.path("cache"), log: log)
        cache = try caches.open(Address(filePath: folder.path("album")))
        // This program runs once for each picture. It records the file and the mode, and runs the decoder.
        let decoder = try folder.writeProgram(
            "decoder",
            """
            #!/bin/sh
            echo "$(/usr/bin/readlink /proc/self/fd/0) $1" >>'\(folder.path("decoded"))'
            exec '\(try DecoderProcess.path)' "$@"
            """)
        renderer = PictureRenderer(
            caches: caches, decoder: DecoderClient(path: decoder),
            desktop: DesktopThumbnails(folder: folder.path("thumbnails")), log: log)
        pipeline = PicturePipeline(renderer: renderer, width: 2)
    }

    // MARK: - Names and files

    @Test("The standard's example has the name that the standard states")
    func example() {
        let uri = DesktopPhoto.uri(Array("/home/jens/photos/me.png".utf8))
        #expect(uri == "file:///home/jens/photos/me.png")
    }

    @Test("URIs have the form of GLib for every byte and for names that are not UTF-8")
    func addresses() throws {
        folder.write("names/plain", "")
        var names = (1...255).filter { $0 != UInt8(ascii: "/") }.map { [UInt8(ascii: "a"), UInt8($0)] }
        names += [Array("Grüße 100%25;#?.jpg".utf8), [0xC3, 0x28, 0xFF, 0x20], Array("plain".utf8)]
        let parent = Array((folder.path("names") + "/").utf8)
        for name in names {
            let file = open((parent + name + [0]).map { CChar(bitPattern: $0) }, O_WRONLY | O_CREAT, 0o600)
            try #require(file >= 0)
            close(file)
        }
        // GLib itself, through its program.
        let listed = try Command("/usr/bin/gio", ["list", "--hidden", "--print-uris", folder.path("names")])
        try #require(listed.status == 0)
        #expect(Set(listed.lines) == Set(names.map { DesktopPhoto.uri(parent + $0) }))
    }

    @Test(
        "A written thumbnail has the same pixels and its texts",
        arguments: [
            PixelBuffer.scene(width: 256, height: 171), .noise(width: 31, height: 256), .noise(width: 1, height: 1),
            PixelBuffer(width: 256, height: 256) { _, _ in PixelColor(red: 9, green: 9, blue: 9) }, Self.runs,
        ])
    func writing(picture: PixelBuffer) throws {
        let uri = "file:///a%20photo.jpg"
        let file = PNGEncoding.encode(picture, texts: [(ThumbnailTexts.uri, uri), (ThumbnailTexts.time, "-1")])
        let reply = try DecoderClient(path: try DecoderProcess.path).decode(
            .bytes(file), DecodeRequest(box: picture.size))
        let hasSamePixels = reply.pixels == picture
        #expect(hasSamePixels && reply.isComplete && reply.format == "PNG")
        let texts = ThumbnailTexts(file)
        #expect(texts[ThumbnailTexts.uri] == uri && texts[ThumbnailTexts.time] == "-1")
        #expect(texts[ThumbnailTexts.size] == nil)
    }

    /// A row whose differences contain runs of zeros, with the first and last lengths of most symbols.
    ///
    /// In the first row, the filter guesses the pixel to the left.
    private static let runs: PixelBuffer = {
        let lengths = Array(1...36) + [42, 43, 50, 51, 66, 67, 82, 83, 98, 99, 130, 131, 194, 195, 226, 227]
        var bytes: [UInt8] = []
        for difference in (lengths + Array(255...262) + [600]).flatMap({ [77] + [UInt8](repeating: 0, count: $0) }) {
            bytes.append(difference &+ (bytes.count < 3 ? 0 : bytes[bytes.count - 3]))
        }
        return PixelBuffer(width: bytes.count / 3, height: 1) { x, _ in
            PixelColor(red: bytes[3 * x], green: bytes[3 * x + 1], blue: bytes[3 * x + 2])
        }
    }()

    @Test("Codes have at most 15 bits, and every sequence of bits begins with a code")
    func codes() {
        // Fibonacci's numbers make the deepest tree.
        var counts = [1, 1]
        while counts.count < 60 { counts.append(counts[counts.count - 1] + counts[counts.count - 2]) }
        let lengths = HuffmanZlib.lengths(counts)
        #expect(lengths.max() == 15 && lengths.allSatisfy { $0 > 0 })
        #expect(lengths.reduce(0) { $0 + (1 << (15 - $1)) } == 1 << 15)
    }

    @Test("Damaged thumbnails have no texts that the file does not contain")
    func damage() throws {
        let file = PNGEncoding.encode(.noise(width: 3, height: 3), texts: [(ThumbnailTexts.uri, "file:///a")])
        for length in 0..<file.count {
            let found = ThumbnailTexts(Array(file.prefix(length)))[ThumbnailTexts.uri]
            #expect(found == nil || found == "file:///a")
        }
        // A chunk whose length exceeds the file.
        var long = file
        long.replaceSubrange(33..<37, with: [0xFF, 0xFF, 0xFF, 0xFF])
        #expect(ThumbnailTexts(long)[ThumbnailTexts.uri] == nil)
        var random = SeededNumbers(seed: 7)
        for _ in 0..<5_000 {
            var mutated = file
            mutated[Int.random(in: 8..<80, using: &random)] = UInt8.random(in: 0...255, using: &random)
            _ = ThumbnailTexts(mutated)
        }
    }

    // MARK: - Reading

    @Test(
        "BEHAVIOURS 3.9: with the desktop's current thumbnail, neither the screen nor the cache decodes the photo"
    )
    func reading() async throws {
        try await add("red.jpg", .red)
        try writeThumbnail("large", of: "red.jpg", .green)
        let picture = try await drawn("red.jpg")
        #expect(picture.isGreen)
        try await until { try photo("red.jpg").thumbnail.isCurrent }
        #expect(try await cachedThumbnail("red.jpg").isGreen)
        #expect(decodings("red.jpg") == [])
        // The metadata comes from the photo itself.
        try await until { try cache.read { try $0.metadata(of: photo("red.jpg").key) }?.metadata.width == 64 }
    }

    @Test("The first contact sheet decodes only photos without a thumbnail")
    func countsOfDecodings() async throws {
        let names = (0..<12).map { "\($0).jpg" }
        for name in names { try await add(name, .red) }
        for name in names.dropLast(2) { try writeThumbnail("x-large", of: name, .green) }
        for name in names { _ = try await drawn(name) }
        try await until { try names.allSatisfy { try photo($0).thumbnail.isCurrent } }
        #expect(names.filter { !decodings($0).isEmpty } == names.suffix(2))
    }

    @Test(
        "A thumbnail of another time, size or file is not used",
        arguments: [
            (ThumbnailTexts.time, "1000"), (ThumbnailTexts.size, "5"), (ThumbnailTexts.uri, "file:///other.jpg"),
            (ThumbnailTexts.time, "1154245637.5"), (ThumbnailTexts.time, ""), (ThumbnailTexts.time, "1154245637 "),
        ])
    func outdated(key: String, value: String) async throws {
        try await add("red.jpg", .red)
        try writeThumbnail("large", of: "red.jpg", .green, [key: value])
        #expect(try await !drawn("red.jpg").isGreen)
        try await until { try photo("red.jpg").thumbnail.isCurrent }
        #expect(try await !cachedThumbnail("red.jpg").isGreen)
    }

    @Test(
        "A thumbnail whose URI is in a compressed chunk, as Qt's programs write it, is used and stays",
        arguments: ["zTXt", "iTXt"])
    func compressedURI(type: String) async throws {
        try await add("red.jpg", .red)
        let path = try writeThumbnail("large", of: "red.jpg", .green, uriChunk: type)
        let file = try #require(FileManager.default.contents(atPath: path))
        #expect(try await drawn("red.jpg").isGreen)
        try await until { try photo("red.jpg").thumbnail.isCurrent }
        #expect(try await cachedThumbnail("red.jpg").isGreen)
        #expect(decodings("red.jpg") == [])
        #expect(FileManager.default.contents(atPath: path) == file)
    }

    @Test("A thumbnail of another time is not used, even if its URI is in a compressed chunk")
    func outdatedWithCompressedURI() async throws {
        try await add("red.jpg", .red)
        try writeThumbnail("large", of: "red.jpg", .green, [ThumbnailTexts.time: "1000"], uriChunk: "zTXt")
        #expect(try await !drawn("red.jpg").isGreen)
    }

    @Test("A time with a matching fraction is current")
    func fraction() async throws {
        try await add("red.jpg", .red)
        try writeThumbnail("large", of: "red.jpg", .green, [ThumbnailTexts.time: "1154245637.250000"])
        #expect(try await drawn("red.jpg").isGreen)
    }

    @Test("A bad or truncated thumbnail leads to the photo", arguments: [40, 400])
    func bad(length: Int) async throws {
        try await add("red.jpg", .red)
        let path = try writeThumbnail("large", of: "red.jpg", .green)
        try #require(truncate(path, length) == 0)
        #expect(try await !drawn("red.jpg").isGreen)
        try await until { try photo("red.jpg").thumbnail.isCurrent }
        #expect(try await !cachedThumbnail("red.jpg").isGreen)
    }

    @Test(
        "A thumbnail of 128 pixels serves a small first drawing, and the cache gets a larger thumbnail from the photo")
    func small() async throws {
        try await add("red.jpg", .red)
        try writeThumbnail("normal", of: "red.jpg", .green)
        #expect(try await drawn("red.jpg").isGreen)
        try await until { try photo("red.jpg").thumbnail.isCurrent }
        #expect(try await !cachedThumbnail("red.jpg").isGreen)
    }

    // MARK: - Writing

    @Test("BEHAVIOURS 3.9: Vitrine writes its own thumbnail for the desktop, and uses it again")
    func keeping() async throws {
        try await add("red.jpg", .red)
        try makeFolder("thumbnails", 0o755)
        #expect(try await renderer.makeThumbnail(of: photo("red.jpg").key, in: cache))
        let name = try name("red.jpg")
        #expect(folder.entries("thumbnails/large") == [name])
        let path = folder.path("thumbnails/large/\(name)")
        #expect(try mode(path) == 0o600 && mode(folder.path("thumbnails/large")) == 0o700)
        let bytes = Array(try #require(FileManager.default.contents(atPath: path)))
        let texts = ThumbnailTexts(bytes)
        #expect(texts[ThumbnailTexts.uri] == "file://" + folder.path("album/red.jpg"))
        #expect(texts[ThumbnailTexts.time] == "1154245637")
        #expect(texts[ThumbnailTexts.size] == String(try photo("red.jpg").size ?? 0))
        // GLib accepts it, too.
        let information = try Command(
            "/usr/bin/gio", ["info", "--attributes=thumbnail::*", folder.path("album/red.jpg")],
            environment: ["XDG_CACHE_HOME": folder.path, "HOME": folder.path])
        #expect(information.text.contains("thumbnail::is-valid: TRUE"), "\(information.text)")
        #expect(decodings("red.jpg").count == 1)

        let key = try photo("red.jpg").key
        try await cache.writer.refetch([key])
        try await add("red.jpg", .red)
        #expect(try await renderer.makeThumbnail(of: key, in: cache))
        #expect(decodings("red.jpg").count == 1)
    }

    @Test("The photo's new thumbnail replaces an outdated one")
    func replacing() async throws {
        try await add("red.jpg", .red)
        let path = try writeThumbnail("large", of: "red.jpg", .green, [ThumbnailTexts.time: "1000"])
        #expect(try await renderer.makeThumbnail(of: photo("red.jpg").key, in: cache))
        let texts = ThumbnailTexts(Array(try #require(FileManager.default.contents(atPath: path))))
        #expect(texts[ThumbnailTexts.time] == "1154245637")
        #expect(folder.entries("thumbnails/large").count == 1)
    }

    @Test("Without the desktop's folder, Vitrine writes no thumbnail there")
    func noDesktop() async throws {
        try await add("red.jpg", .red)
        #expect(try await renderer.makeThumbnail(of: photo("red.jpg").key, in: cache))
        #expect(folder.entries("thumbnails").isEmpty)
    }

    @Test("If the folder cannot be written, the cache still gets the thumbnail")
    func unwritable() async throws {
        try await add("red.jpg", .red)
        folder.write("thumbnails/large", "a file in place of the folder")
        #expect(try await renderer.makeThumbnail(of: photo("red.jpg").key, in: cache))
        #expect(try photo("red.jpg").thumbnail.isCurrent)
    }

    @Test("Only complete JPEGs are written, since other thumbnails may lack transparency")
    func formats() async throws {
        try makeFolder("thumbnails", 0o700)
        try await add("picture.jpg", bytes: PNGFile(.red).bytes)
        try await add(
            "cut.jpg", bytes: Array(try Tool.cjpeg(PixelBuffer.noise(width: 64, height: 64).ppm).prefix(2_000)))
        for name in ["picture.jpg", "cut.jpg"] {
            #expect(try await renderer.makeThumbnail(of: photo(name).key, in: cache))
        }
        #expect(folder.entries("thumbnails/large").isEmpty)
    }

    @Test("Thumbnails get no thumbnails, even through a link")
    func ownFolder() async throws {
        let (log, inside) = (Log(), folder.path("thumbnails/large"))
        try makeFolder("thumbnails", 0o700)
        try makeFolder("thumbnails/large", 0o700)
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: inside)
        let desktop = DesktopThumbnails(folder: folder.path("thumbnails"))
        for path in [inside, folder.path("link")] {
            let gallery = try caches.open(Address(filePath: path))
            folder.write("thumbnails/large/a.jpg", try Tool.cjpeg(PixelBuffer.red.ppm))
            try await Self.add("a.jpg", in: gallery, path)
            let key = try #require(try gallery.read { try $0.photo(galleryID: "a.jpg") }).key
            let renderer = PictureRenderer(
                caches: caches, decoder: DecoderClient(path: try DecoderProcess.path), desktop: desktop, log: log)
            #expect(try await renderer.makeThumbnail(of: key, in: gallery))
            #expect(folder.entries("thumbnails/large") == ["a.jpg"])
        }
    }

    @Test("Photos of servers get no thumbnails there")
    func remote() async throws {
        try makeFolder("thumbnails", 0o700)
        let gallery = try caches.open(Address("http://example.org/"))
        let draft = try gallery.beginSync()
        try draft.add([
            GalleryEntry(
                id: "a", name: "a", date: Timestamp(milliseconds: 0), photo: try gallery.address.resolving("a"),
                thumbnail: nil)
        ])
        _ = try await gallery.writer.commit(
            draft.finish(), skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 0))
        let photo = try #require(try gallery.read { try $0.photo(galleryID: "a") })
        let partial = try gallery.files.makePartial(of: photo.key, edition: photo.original.edition)
        let bytes = try Tool.cjpeg(PixelBuffer.red.ppm)
        try FileHandle(fileDescriptor: partial.descriptor, closeOnDealloc: false).write(contentsOf: Data(bytes))
        try await gallery.writer.store(photo: partial, of: photo.key, edition: photo.original.edition)
        #expect(try await renderer.makeThumbnail(of: photo.key, in: gallery))
        #expect(folder.entries("thumbnails").isEmpty)
    }

    // MARK: - Tools

    private func add(_ name: String, _ picture: PixelBuffer) async throws {
        try await add(name, bytes: try Tool.cjpeg(picture.ppm))
    }

    private func add(_ name: String, bytes: [UInt8]) async throws {
        let path = folder.write("album/" + name, bytes)
        var times = [timespec](repeating: timespec(tv_sec: 1_154_245_637, tv_nsec: 250_000_000), count: 2)
        utimensat(AT_FDCWD, path, &times, 0)
        try await Self.add(name, in: cache, folder.path("album"))
    }

    private static func add(_ name: String, in cache: GalleryCache, _ parent: String) async throws {
        let draft = try cache.beginSync(within: [])
        try draft.add([
            GalleryEntry(
                id: name, name: name, date: Timestamp(milliseconds: 0),
                photo: Address(filePath: "\(parent)/\(name)"), thumbnail: nil)
        ])
        _ = try await cache.writer.commit(
            draft.finish(), skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 0))
        let photo = try #require(try cache.read { try $0.photo(galleryID: name) })
        let file = open("\(parent)/\(name)", O_RDONLY)
        defer { close(file) }
        let original = try #require(OriginalFile(file))
        try await cache.writer.store(original: original, of: photo.key, edition: photo.original.edition)
    }

    private func photo(_ name: String) throws -> Photo {
        try #require(try cache.read { try $0.photo(galleryID: name) })
    }

    private func name(_ name: String) throws -> String {
        let file = open(folder.path("album/" + name), O_RDONLY)
        defer { close(file) }
        return try #require(DesktopPhoto(path: Array(folder.path("album/" + name).utf8), file)).fileName
    }

    /// Writes a thumbnail as the desktop's programs do, with some texts replaced.
    ///
    /// - Parameter uriChunk: the type of the chunk with the URI.
    @discardableResult
    private func writeThumbnail(
        _ size: String, of name: String, _ picture: PixelBuffer, _ changes: [String: String] = [:],
        uriChunk: String = "tEXt"
    ) throws -> String {
        let file = open(folder.path("album/" + name), O_RDONLY)
        defer { close(file) }
        let photo = try #require(DesktopPhoto(path: Array(folder.path("album/" + name).utf8), file))
        var png = PNGFile(picture)
        png.chunks = photo.texts.map {
            Self.chunk($0.key == ThumbnailTexts.uri ? uriChunk : "tEXt", $0.key, changes[$0.key] ?? $0.value)
        }
        return folder.write("thumbnails/\(size)/\(photo.fileName)", png.bytes)
    }

    /// Returns a chunk with a text, compressed unless its type is `tEXt`.
    private static func chunk(_ type: String, _ key: String, _ value: String) -> (type: String, content: [UInt8]) {
        let name = Array(key.utf8) + [0]
        switch type {
        case "zTXt": return (type, name + [0] + PNGFile.zlib(Array(value.utf8)))
        // The text is marked as compressed, and has no language and no translated key.
        case "iTXt": return (type, name + [1, 0, 0, 0] + PNGFile.zlib(Array(value.utf8)))
        default: return (type, name + Array(value.utf8))
        }
    }

    private func makeFolder(_ name: String, _ mode: mode_t) throws {
        try #require(mkdir(folder.path(name), mode) == 0)
    }

    private func mode(_ path: String) throws -> mode_t {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return status.st_mode & 0o7777
    }

    /// Draws a photo's thumbnail.
    private func drawn(_ name: String) async throws -> DrawnPicture {
        let style = DrawingStyle(symbols: .half, colours: .full, cellAspect: 0.5)
        let order = PictureOrder.thumbnail(
            of: try photo(name), in: cache.id, size: Size(columns: 8, rows: 3), style: style)
        let changes = pipeline.changes()
        let client = pipeline.makeClient()
        pipeline.want([order], by: client)
        while pipeline.picture(order) == nil, pipeline.failure(order) == nil { _ = await changes.next() }
        return try #require(pipeline.picture(order))
    }

    private func cachedThumbnail(_ name: String) async throws -> PixelBuffer {
        let key = try photo(name).key
        let bytes = try #require(try cache.read { try $0.thumbnail(of: key) }).bytes
        let request = DecodeRequest(box: PixelSize(width: 8, height: 8))
        return try #require(try DecoderClient(path: try DecoderProcess.path).decode(.bytes(bytes), request).pixels)
    }

    /// Returns the requests to decode a photo's pixels.
    private func decodings(_ name: String) -> [DecodeRequest] {
        let notes = (try? String(contentsOfFile: folder.path("decoded"), encoding: .utf8)) ?? ""
        return notes.split(separator: "\n").compactMap { note in
            let words = note.split(separator: " ").map(String.init)
            guard words.count == 2, words[0] == folder.path("album/" + name) else { return nil }
            return try? DecodeRequest(arguments: [words[1]])
        }.filter(\.wantsPixels)
    }

    private func until(_ condition: () throws -> Bool) async throws {
        let changes = cache.changes()
        while try !condition() { _ = await changes.next() }
    }
}

extension PixelBuffer {
    fileprivate static var red: PixelBuffer { flat(PixelColor(red: 250, green: 0, blue: 0), width: 64) }
    fileprivate static var green: PixelBuffer { flat(PixelColor(red: 0, green: 250, blue: 0), width: 40) }

    private static func flat(_ color: PixelColor, width: Int) -> PixelBuffer {
        PixelBuffer(width: width, height: width / 2) { _, _ in color }
    }

    fileprivate var isGreen: Bool { color(0, 0).green > 200 && color(0, 0).red < 50 }
}

extension DrawnPicture {
    fileprivate var isGreen: Bool {
        cells.cells.contains {
            if case .rgb(let red, let green, _) = $0.style.background { green > 200 && red < 50 } else { false }
        }
    }
}
