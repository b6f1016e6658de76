import Decoding
import PictureTestSupport
import Pixels
import Testing

/// Cameras' raw files, which are shown by the JPEGs in them.
struct RawTests {
    private static let kinds = ["arw", "cr2", "cr3", "dng", "nef", "orf", "pef", "raf", "rw2", "srw"]

    private static func file(_ kind: String) throws -> [UInt8] {
        try PictureCorpus().bytes("pictures", "raw-\(kind).\(kind)")
    }

    @Test("Each camera's raw file has its name, size and metadata", arguments: kinds)
    func facts(kind: String) throws {
        var request = DecodeRequest.within(80)
        request.product = .facts
        let reply = try decode(try Self.file(kind), request)
        #expect(reply.format == kind.uppercased() && reply.sourceSize == PixelSize(width: 203, height: 149))
        #expect(reply.isComplete && reply.pixels == nil)
        let metadata = reply.metadata
        #expect(metadata.camera?.isEmpty == false && metadata.lens == "A lens of 35 mm")
        #expect(metadata.takenAt == "2024-05-06T07:08:09" && metadata.iso == 400 && metadata.aperture == 2.8)
        #expect(metadata.exposureSeconds == 1.0 / 250 && metadata.focalLength == 35)
        #expect(metadata.latitude == 52.5 && metadata.longitude.map { abs($0 - 13.4) < 1e-9 } == true)
        // The sizes of the thumbnail and the sensor would seem to be the picture's.
        #expect(!metadata.fields.contains { $0.name.contains("Width") || $0.name.contains("Compression") })
    }

    @Test("Raw files need no library, so a server decodes them, except those with a tiny preview")
    func needNoLibrary() throws {
        for kind in Self.kinds {
            let bytes = try Self.file(kind)
            let memory = try SealedMemory(sealing: bytes)
            #expect(Decoder.isPreparedForMany(withPictureOn: memory.descriptor), "\(kind)")
            #expect(bytes.withUnsafeBytes { Decoder.isLeftToPrograms($0) }, "\(kind)")
        }
        let whole = try PictureCorpus().bytes("pictures", "raw-whole.cr2")
        #expect(!whole.withUnsafeBytes { Decoder.isLeftToPrograms($0) })
    }

    // MARK: - The choice of a preview

    private static let red = PixelColor(red: 200, green: 40, blue: 40)
    private static let green = PixelColor(red: 40, green: 160, blue: 40)
    private static let blue = PixelColor(red: 40, green: 40, blue: 200)

    private static func jpeg(_ color: PixelColor, _ width: Int, _ height: Int) throws -> [UInt8] {
        let picture = PixelBuffer(size: PixelSize(width: width, height: height), rows: [], background: color)
        return try Tool.run("/usr/bin/cjpeg", ["-quality", "95"], input: picture.ppm)
    }

    private func color(_ bytes: [UInt8], _ request: DecodeRequest) throws -> PixelColor? {
        let pixels = try #require(try decode(bytes, request).pixels)
        let center = pixels.color(pixels.width / 2, pixels.height / 2)
        return [Self.red, Self.green, Self.blue, .black].first { color in
            abs(Int(color.red) - Int(center.red)) < 20 && abs(Int(color.green) - Int(center.green)) < 20
                && abs(Int(color.blue) - Int(center.blue)) < 20
        }
    }

    @Test("The smallest preview that is large enough is shown")
    func choice() throws {
        var file = RawTIFF()
        // A square one has other proportions, as a thumbnail with black bars has.
        file.jpegs = [
            try Self.jpeg(Self.blue, 160, 120), try Self.jpeg(.black, 45, 45), try Self.jpeg(Self.red, 40, 30),
            try Self.jpeg(Self.green, 80, 60),
        ]
        let bytes = file.bytes
        #expect(try color(bytes, .within(30)) == Self.red && color(bytes, .within(40)) == Self.red)
        #expect(try color(bytes, .within(41)) == Self.green && color(bytes, .within(80)) == Self.green)
        #expect(try color(bytes, .within(81)) == Self.blue && color(bytes, .within(1_000)) == Self.blue)
        var request = DecodeRequest.within(60)
        request.region = try #require(UnitRect(x: 0, y: 0, width: 0.5, height: 0.5))
        #expect(try color(bytes, request) == Self.blue)
        let whole = try decode(bytes, .within(30))
        #expect(whole.sourceSize == PixelSize(width: 160, height: 120) && whole.isComplete && !whole.isCoarse)
        request = .within(100)
        request.haste = .soon
        #expect(try color(bytes, request) == Self.red)
        #expect(try decode(bytes, request).isCoarse)
    }

    @Test("A larger preview replaces a damaged one")
    func damagedPreview() throws {
        var file = RawTIFF()
        let small = try Self.jpeg(Self.red, 40, 30)
        file.jpegs = [Array(small.prefix(small.count / 4)), try Self.jpeg(Self.green, 80, 60)]
        #expect(try color(file.bytes, .within(20)) == Self.green)
        file.jpegs = [try Self.jpeg(Self.green, 80, 60), Array(small.dropLast(30) + Array(repeating: 0, count: 30))]
        #expect(try decode(file.bytes, .within(20)).isComplete)
    }

    @Test("A file without a JPEG is shown by its thumbnail")
    func thumbnail() throws {
        let corpus = try PictureCorpus()
        let bytes = try corpus.bytes("pictures", "raw-thumbnail.dng")
        let reply = try decodeWhole(bytes)
        #expect(
            try reply.pixels == corpus.expected("raw-thumbnail.dng.ppm") && reply.metadata.camera == "A maker A phone")
        // Without its end, it is none.
        for length in stride(from: 8, to: bytes.count - 4_100, by: 997) {
            #expect(throws: DecodeFailure.self) { try decode(Array(bytes[..<length]), .within(80)) }
        }
    }

    @Test("The file's orientation counts, and only without one that of the preview")
    func orientation() throws {
        var file = RawTIFF()
        let jpeg = ExifFile.jpeg(try Self.jpeg(Self.red, 40, 30), inserting: ExifFile(orientation: 6).segment)
        file.jpegs = [jpeg]
        #expect(try decode(file.bytes, .within(40)).orientation == .turnedRight)
        file.orientation = 1
        #expect(try decode(file.bytes, .within(40)).orientation == .upright)
        file.orientation = 3
        #expect(try decode(file.bytes, .within(40)).orientation == .turnedHalf)
    }

    // MARK: - Hostile files

    @Test("A raw file without a JPEG is refused in one sentence")
    func withoutPreview() throws {
        #expect(throws: DecodeFailure.noPreview(format: "DNG")) { try decode(RawTIFF().bytes, .within(80)) }
        #expect(
            DecodeFailure.noPreview(format: "DNG").description == "This DNG file has no preview that Vitrine can show.")
        var file = RawTIFF()
        file.jpegs = [Array("no JPEG".utf8)]
        #expect(throws: DecodeFailure.noPreview(format: "DNG")) { try decode(file.bytes, .within(80)) }
        for (mark, name) in [
            ("FUJIFILMCCD-RAW ", "RAF"), ("\0\0\0\u{18}ftypcrx ", "CR3"), ("IIRO", "ORF"), ("IIU\0", "RW2"),
        ] {
            for length in [0, 4, 100] {
                let bytes = Array(mark.utf8) + [UInt8](repeating: 0, count: length)
                #expect(throws: DecodeFailure.noPreview(format: name)) { try decode(bytes, .within(80)) }
            }
        }
    }

    @Test("Directories in a circle are read once")
    func circles() throws {
        var file = RawTIFF()
        file.jpegs = [try Self.jpeg(Self.red, 40, 30)]
        file.next = 8
        file.further = [8, 8, 9, 0, 0xFFFF_FFFF]
        #expect(try color(file.bytes, .within(40)) == Self.red)
        file.jpegs = []
        #expect(throws: DecodeFailure.noPreview(format: "DNG")) { try decode(file.bytes, .within(80)) }
    }

    @Test("Thousands of directories, entries and previews cost little")
    func excess() throws {
        // Each directory is two bytes and leads to the next one.
        var bytes = RawTIFF().bytes
        let start = bytes.count
        for index in 0..<20_000 {
            bytes += [0, 0] + RawTIFF.word(start + 6 * (index + 1))
        }
        bytes.replaceSubrange(start - 4..<start, with: RawTIFF.word(start))
        #expect(throws: DecodeFailure.noPreview(format: "DNG")) { try decode(bytes, .within(80)) }
        var boxes = Array("\0\0\0\u{18}ftypcrx \0\0\0\0crx isom".utf8)
        for _ in 0..<10_000 { boxes += Array("\0\0\0\u{8}moov\0\0\0\u{8}trak".utf8) }
        #expect(throws: DecodeFailure.noPreview(format: "CR3")) { try decode(boxes, .within(80)) }
    }

    @Test("Each cut of a raw file gives a picture or a failure", arguments: kinds)
    func cuts(kind: String) throws {
        let whole = try Self.file(kind)
        for length in Array(0..<700) + Array(stride(from: 700, to: whole.count, by: 61)) {
            do {
                let reply = try decode(Array(whole[..<length]), .within(30))
                #expect(reply.pixels != nil)
            } catch {
                #expect(error is DecodeFailure)
            }
        }
    }
}

/// Writes a DNG without sensor data: a first directory above one for each JPEG.
private struct RawTIFF {
    var jpegs: [[UInt8]] = []
    var orientation: Int?
    /// The offset of the directory after the first one.
    var next = 0
    /// Further offsets of directories below the first one.
    var further: [Int] = []

    static func word(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }

    private static func entry(_ tag: Int, _ type: UInt8, _ count: Int, _ value: [UInt8]) -> [UInt8] {
        [UInt8(tag & 255), UInt8(tag >> 8), type, 0] + word(count) + value
            + [UInt8](repeating: 0, count: 4 - value.count)
    }

    var bytes: [UInt8] {
        let turned = orientation == nil ? 0 : 1
        let below = jpegs.count + further.count
        let listPlace = 8 + 2 + 12 * (2 + turned) + 4
        let directories = listPlace + 4 * below
        let length = 2 + 24 + 4
        var places: [Int] = []
        var place = directories + length * jpegs.count
        for jpeg in jpegs {
            places.append(place)
            place += jpeg.count
        }
        let offsets = jpegs.indices.map { directories + length * $0 } + further
        // A list of one is in its entry.
        let list = below == 1 ? Self.word(offsets[0]) : Self.word(listPlace)
        var bytes: [UInt8] = [0x49, 0x49, 42, 0] + Self.word(8) + [UInt8(2 + turned), 0]
        if let orientation { bytes += Self.entry(0x0112, 3, 1, [UInt8(orientation), 0]) }
        bytes += Self.entry(0x014A, 4, below, list) + Self.entry(0xC612, 1, 4, [1, 4, 0, 0]) + Self.word(next)
        bytes += offsets.flatMap(Self.word)
        for (jpeg, place) in zip(jpegs, places) {
            bytes +=
                [2, 0] + Self.entry(0x0201, 4, 1, Self.word(place)) + Self.entry(0x0202, 4, 1, Self.word(jpeg.count))
            bytes += Self.word(0)
        }
        return bytes + jpegs.flatMap { $0 }
    }
}
