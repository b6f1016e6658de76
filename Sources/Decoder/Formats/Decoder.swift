import BaselineJPEG
import Glibc
import Pixels

/// Decodes pictures nobody vouches for. Runs in the helper process: it is bounded, but the libraries below it are not
/// to be trusted with anything.
///
///     let reply = try Decoder.decode(bytes, DecodeRequest(box: PixelSize(width: 80, height: 80)))
public enum Decoder {
    /// The formats that are read. A new one is one file and one line here.
    static let formats: [any PictureDecoder.Type] = [
        JPEGDecoder.self,
        PNGDecoder.self,
        WebPDecoder.self,
        GIFDecoder.self,
        TIFFDecoder.self,
        HEIFDecoder.self,
    ]

    /// The libraries that read them, with their versions. Those that are loaded when they are needed are there if they can be
    /// loaded now: to be asked for before this process gives up opening files.
    public static var libraries: [String] { formats.compactMap { $0.library } }

    /// As much of a picture as tells its format.
    private static let signatureLength = 16

    /// Loads the libraries that the picture on a descriptor needs and others do not. To be called before this process
    /// gives up opening files and starting threads; it looks at the first bytes alone, and at them for their signature
    /// alone. What fails here fails again, with words, when the picture is decoded.
    public static func prepare(forPictureOn descriptor: CInt) {
        format(ofPictureOn: descriptor)?.prepare()
    }

    /// The format that the first bytes tell, and nothing else of the picture.
    static func format(ofPictureOn descriptor: CInt) -> (any PictureDecoder.Type)? {
        withUnsafeTemporaryAllocation(byteCount: signatureLength, alignment: 1) { buffer in
            let count = pread(descriptor, buffer.baseAddress, buffer.count, 0)
            guard count > 0 else { return nil }
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            return formats.first { $0.recognises(bytes) }
        }
    }

    /// Decodes as much of a picture as the request wants.
    ///
    /// The format is told by the first bytes alone: a name or a content type is a stranger's claim. A picture that breaks
    /// off is an answer, not a failure, as soon as there is a row to show.
    public static func decode(
        _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(DecodeFailure) -> DecodeReply {
        for format in formats where format.recognises(bytes) {
            let reply = try format.decode(bytes, request)
            guard request.product == .thumbnail, let pixels = reply.pixels else { return reply }
            return reply.with(pixels: nil, thumbnail: try JPEGEncoder.encode(pixels), for: request)
        }
        throw UnreadFormat.name(of: bytes).map(DecodeFailure.unsupportedFormat) ?? .notAPicture
    }
}

/// For a process that has copies of itself decode pictures, of whatever formats they turn out to be.
extension Decoder {
    /// Loads the libraries of the formats that most pictures are in, and decodes something: what is made when it is first needed
    /// is made here, and not in each copy anew. The pictures it decodes for that are its own.
    public static func prepareForMany() {
        for format in formats where format.isLoadedAhead { format.prepare() }
        let size = PixelSize(width: 16, height: 16)
        let pixels = PixelBuffer(size: size, rows: [], background: .black)
        guard let file = try? JPEGEncoder.encode(pixels) else { return }
        for product in DecodeRequest.Product.allCases {
            var request = DecodeRequest(box: PixelSize(width: 7, height: 7))
            request.product = product
            guard let again = try? DecodeRequest(packet: request.packet),
                let reply = try? file.withUnsafeBytes({ try decode($0, again) }),
                let memory = try? SealedMemory()
            else { continue }
            try? DecodeOutcome.picture(reply).write(to: memory)
        }
    }

    /// Whether a copy of such a process has loaded what it needs for the picture on a descriptor. It looks at the first bytes alone.
    public static func isPreparedForMany(withPictureOn descriptor: CInt) -> Bool {
        format(ofPictureOn: descriptor)?.isLoadedAhead ?? true
    }
}

/// For a process that decodes one small picture after the other.
extension Decoder {
    /// Decodes a picture of the kind that thumbnails are, without any library; nil for all others, damaged ones among them.
    ///
    /// What reads the picture is `Baseline`, which cannot reach any memory but its own values', whatever the picture is: that is
    /// why pictures may follow each other here. What comes of it is what `decode` would answer, but for rounding, and for colours that
    /// are stored more coarsely than light: the library smooths them where a picture keeps its size, and this does not.
    public static func decodeSmall(_ bytes: [UInt8], _ request: DecodeRequest) -> DecodeReply? {
        guard let picture = BaselinePicture(bytes) else { return nil }
        let size = PixelSize(width: picture.width, height: picture.height)
        // What says anything about itself is not read there: it is upright, and its colours are sRGB's.
        let plan = DecodePlan(stored: size, orientation: .upright, request: request)
        let region = plan.region(of: size)
        let eighths = JPEGDecoder.eighths(for: region, plan.output)
        guard let pixels = picture.decoded(eighths: eighths) else { return nil }
        let source = PixelSize(width: pixels.width, height: pixels.height)
        let part = region.scaled(by: Double(eighths) / 8)
        var output = OutputRows(plan, source: source, region: part, channels: .rgb, conversion: nil)
        let length = source.width * PixelBuffer.bytesPerPixel
        pixels.bytes.withUnsafeBufferPointer { bytes in
            for row in output.sourceRows {
                output.add(UnsafeBufferPointer(rebasing: bytes[row * length..<(row + 1) * length]))
            }
        }
        let facts = PictureFacts(format: JPEGDecoder.name, metadata: PictureMetadata())
        return try? output.reply(facts, isComplete: true)
    }
}

/// One picture format.
protocol PictureDecoder: Sendable {
    /// The library that reads it, with its version; nil where no library of its own does, or where it is not
    /// installed.
    static var library: String? { get }

    /// Whether the first bytes are the format's signature.
    static func recognises(_ bytes: UnsafeRawBufferPointer) -> Bool

    /// Whether what it needs is brought into processes that are to decode many pictures, before it is known of what formats they are.
    /// What is rare, and takes long to load, is not.
    static var isLoadedAhead: Bool { get }

    /// Brings into the process what only this format needs, as long as files can be opened. It looks at no picture, and what
    /// is not there is not missed before a picture is decoded.
    static func prepare()

    /// Decodes a picture whose signature was recognised. Checks `PictureBounds` on the header's claims before it
    /// allocates anything in proportion to them.
    static func decode(_ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest) throws(DecodeFailure) -> DecodeReply
}

extension PictureDecoder {
    static var library: String? { nil }

    static var isLoadedAhead: Bool { true }

    static func prepare() {}
}

/// Formats that are known but not read, so that their pictures get a better answer than "not a picture".
enum UnreadFormat {
    private typealias Signature = (name: String, parts: [(offset: Int, bytes: [UInt8])])

    private static let signatures: [Signature] = [
        ("JPEG XL", [(0, [0xFF, 0x0A])]),
        ("JPEG XL", [(0, [0, 0, 0, 12] + ascii("JXL "))]),
        ("JPEG 2000", [(0, [0, 0, 0, 12] + ascii("jP  "))]),
        ("JPEG 2000", [(0, [0xFF, 0x4F, 0xFF, 0x51])]),
        ("Photoshop", [(0, ascii("8BPS"))]),
        ("OpenEXR", [(0, [0x76, 0x2F, 0x31, 0x01])]),
        ("Canon raw", [(4, ascii("ftypcrx "))]),
    ]

    /// The name of the format these bytes begin, if it is one of them.
    static func name(of bytes: UnsafeRawBufferPointer) -> String? {
        signatures.first { signature in
            signature.parts.allSatisfy { bytes.dropFirst($0.offset).starts(with: $0.bytes) }
        }?.name
    }

    private static func ascii(_ text: StaticString) -> [UInt8] {
        Array(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}

/// What a library says is wrong with a picture, out of the room that it was given for it: the words may be the picture's.
struct LibraryWords {
    /// In plain letters.
    let text: String

    /// Reads as far as there are any.
    init(_ room: UnsafeRawBufferPointer) {
        let words = String(decoding: room.prefix { $0 != 0 }.map { 0x20...0x7E ~= $0 ? $0 : 0x3F }, as: UTF8.self)
        text = words.isEmpty ? "its parts do not fit together" : words
    }
}
