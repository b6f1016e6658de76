import BaselineJPEG
import Glibc
import LossyWebP
import Pixels

/// Decodes untrusted pictures. This code runs in a sandboxed process, because picture libraries may have flaws.
///
///     let reply = try Decoder.decode(bytes, DecodeRequest(box: PixelSize(width: 80, height: 80)))
public enum Decoder {
    /// The supported formats. To add a format, write its decoder and add the type here.
    static let formats: [any PictureDecoder.Type] = [
        JPEGDecoder.self,
        PNGDecoder.self,
        WebPDecoder.self,
        GIFDecoder.self,
        RawDecoder.self,
        TIFFDecoder.self,
        HEIFDecoder.self,
        JXLDecoder.self,
        BMPDecoder.self,
        PNMDecoder.self,
        QOIDecoder.self,
        VideoDecoder.self,
    ]

    /// The names and versions of the picture libraries. A library that is loaded on demand is included only if it can
    /// be loaded now. So read this property before the process enters the sandbox.
    public static var libraries: [String] { formats.compactMap { $0.library } }

    /// The number of bytes at the start of a file that identify its format. Most formats need 16. A TIFF needs more:
    /// its first directory tells whether the file is a camera's raw file.
    private static let signatureLength = 4_096

    /// Loads the libraries that the picture on a descriptor needs. Call this before the process enters the sandbox,
    /// which forbids opening files and starting threads. This function reads only the file's signature. If loading
    /// fails, decoding fails later with a description. Returns true for a video, which `decodeVideo` can decode.
    @discardableResult
    public static func prepare(forPictureOn descriptor: CInt) -> Bool {
        let isVideo = withSignature(ofFileOn: descriptor) { bytes -> Bool? in
            let format = formats.first { $0.recognises(bytes) }
            format?.prepareForOne(bytes)
            return format == VideoDecoder.self
        }
        return isVideo ?? false
    }

    /// Returns the picture's format, according to its signature.
    static func format(ofPictureOn descriptor: CInt) -> (any PictureDecoder.Type)? {
        withSignature(ofFileOn: descriptor) { bytes in formats.first { $0.recognises(bytes) } }
    }

    /// Calls `body` with a file's first bytes. Returns nil if the file has no bytes, or if `body` returns nil.
    static func withSignature<Value>(
        ofFileOn descriptor: CInt, _ body: (UnsafeRawBufferPointer) -> Value?
    ) -> Value? {
        withUnsafeTemporaryAllocation(byteCount: signatureLength, alignment: 1) { buffer in
            // If the file is on a server, one read may return only a part of the bytes.
            var count = 0
            while count < buffer.count {
                let more = pread(descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count, off_t(count))
                if more < 0, errno == EINTR { continue }
                guard more > 0 else { break }
                count += more
            }
            return count > 0 ? body(UnsafeRawBufferPointer(rebasing: buffer[..<count])) : nil
        }
    }

    /// Decodes as much of a picture as the request needs.
    ///
    /// Only the first bytes determine the format: names and content types are untrusted. Decoding a truncated picture
    /// succeeds if there is a row to show.
    public static func decode(
        _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(DecodeFailure) -> DecodeReply {
        for format in formats where format.recognises(bytes) {
            return try finished(format.decode(bytes, request), request)
        }
        throw UnreadFormat.name(of: bytes).map(DecodeFailure.unsupportedFormat) ?? .notAPicture
    }

    /// Decodes a frame of a video, which the decoder reads from its file in pieces.
    ///
    /// - Parameter descriptor: a file that stays open. Its position does not matter.
    public static func decodeVideo(
        on descriptor: CInt, length: Int, _ request: DecodeRequest
    ) throws(DecodeFailure) -> DecodeReply {
        try finished(VideoDecoder.decode(fileOn: descriptor, length: length, request), request)
    }

    /// Returns the final reply. If the request is for a thumbnail, encodes the pixels as a thumbnail.
    static func finished(_ reply: DecodeReply, _ request: DecodeRequest) throws(DecodeFailure) -> DecodeReply {
        guard request.product == .thumbnail, let pixels = reply.pixels else { return reply }
        return reply.with(pixels: nil, thumbnail: try JPEGEncoder.encode(pixels), for: request)
    }
}

/// Preparation of a server process, whose forks decode pictures of any format.
extension Decoder {
    /// Loads the libraries of common formats and decodes sample pictures. Forked processes then need no initialisation.
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

    /// Whether `prepareForMany` loads the libraries for the picture on a descriptor. The function reads only the
    /// file's signature.
    public static func isPreparedForMany(withPictureOn descriptor: CInt) -> Bool {
        format(ofPictureOn: descriptor)?.isLoadedAhead ?? true
    }

    /// Whether a picture needs a library that servers never load. Then a separate decoder process must decode the
    /// picture. This function reads the whole structure of a raw file, so call it inside the sandbox.
    public static func isLeftToPrograms(_ bytes: UnsafeRawBufferPointer) -> Bool {
        formats.contains { $0.isLeftToPrograms(bytes) }
    }
}

/// Decoding of many small pictures in one process.
extension Decoder {
    /// Decodes a simple JPEG or a simple lossy WebP without any library. Returns nil for all other pictures and for
    /// damaged ones.
    ///
    /// `BaselineJPEG` and `LossyWebP` are memory-safe code, so no picture can affect the next one in the same process.
    /// The result equals that of `decode` with two exceptions. Rounding may differ, and the library behind `decode`
    /// smooths the chroma of JPEGs at full size, if the chroma has a lower resolution.
    public static func decodeSmall(_ bytes: [UInt8], _ request: DecodeRequest) -> DecodeReply? {
        if let picture = BaselinePicture(bytes) {
            return reply(
                JPEGDecoder.name, PixelSize(width: picture.width, height: picture.height), request
            ) { eighths in
                picture.decoded(eighths: eighths).map { (PixelSize(width: $0.width, height: $0.height), $0.bytes) }
            }
        }
        if let picture = LossyPicture(bytes) {
            return reply(
                WebPDecoder.name, PixelSize(width: picture.width, height: picture.height), request
            ) { eighths in
                picture.decoded(eighths: eighths).map { (PixelSize(width: $0.width, height: $0.height), $0.bytes) }
            }
        }
        return nil
    }

    /// Decodes at the scale that the request needs, and scales the result.
    private static func reply(
        _ format: String, _ size: PixelSize, _ request: DecodeRequest,
        _ decode: (_ eighths: Int) -> (size: PixelSize, bytes: [UInt8])?
    ) -> DecodeReply? {
        // The decoders of small pictures decline files with metadata, so the picture is upright and in sRGB.
        let plan = DecodePlan(stored: size, orientation: .upright, request: request)
        let region = plan.region(of: size)
        let eighths = JPEGDecoder.eighths(for: region, plan.output)
        guard let (source, bytes) = decode(eighths) else { return nil }
        let part = region.scaled(by: Double(eighths) / 8)
        var output = OutputRows(plan, source: source, region: part, channels: .rgb, conversion: nil)
        let length = source.width * PixelBuffer.bytesPerPixel
        bytes.withUnsafeBufferPointer { bytes in
            for row in output.sourceRows {
                output.add(UnsafeBufferPointer(rebasing: bytes[row * length..<(row + 1) * length]))
            }
        }
        return try? output.reply(PictureFacts(format: format, metadata: PictureMetadata()), isComplete: true)
    }
}

/// A picture format.
protocol PictureDecoder: Sendable {
    /// The format's library with its version. Nil if the format needs no library or the library is missing.
    static var library: String? { get }

    /// Whether a file's first bytes are the format's signature.
    static func recognises(_ bytes: UnsafeRawBufferPointer) -> Bool

    /// Whether servers load the format's library in advance. False for formats that are rare and slow to load.
    static var isLoadedAhead: Bool { get }

    /// Loads the libraries that only this format needs, while the process can still open files. Reads no picture. If
    /// loading fails, `decode` throws later.
    static func prepare()

    /// Loads all libraries that a picture of this format may need, in a process for one picture. These include
    /// libraries that only a few pictures need.
    ///
    /// - Parameter signature: the file's first bytes.
    static func prepareForOne(_ signature: UnsafeRawBufferPointer)

    /// Whether a picture of this format needs a library that only `prepareForOne` loads.
    static func isLeftToPrograms(_ bytes: UnsafeRawBufferPointer) -> Bool

    /// Decodes a picture with this format's signature. Must check `PictureBounds` before it allocates memory in
    /// proportion to the header's claims.
    static func decode(_ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest) throws(DecodeFailure) -> DecodeReply
}

extension PictureDecoder {
    static var library: String? { nil }

    static var isLoadedAhead: Bool { true }

    static func prepare() {}

    static func prepareForOne(_ signature: UnsafeRawBufferPointer) { prepare() }

    static func isLeftToPrograms(_ bytes: UnsafeRawBufferPointer) -> Bool { false }
}

/// Formats that Vitrine recognises but cannot decode, for a better error than "not a picture".
enum UnreadFormat {
    private typealias Signature = (name: String, parts: [(offset: Int, bytes: [UInt8])])

    private static let signatures: [Signature] = [
        ("JPEG 2000", [(0, [0, 0, 0, 12] + ascii("jP  "))]),
        ("JPEG 2000", [(0, [0xFF, 0x4F, 0xFF, 0x51])]),
        ("Photoshop", [(0, ascii("8BPS"))]),
        ("OpenEXR", [(0, [0x76, 0x2F, 0x31, 0x01])]),
    ]

    /// Returns the format's name if the signature is known.
    static func name(of bytes: UnsafeRawBufferPointer) -> String? {
        signatures.first { signature in
            signature.parts.allSatisfy { bytes.dropFirst($0.offset).starts(with: $0.bytes) }
        }?.name
    }

    private static func ascii(_ text: StaticString) -> [UInt8] {
        Array(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}

/// A library's error message, which may contain text from the picture.
struct LibraryWords {
    /// The message in printable ASCII.
    let text: String

    /// Reads the message up to its terminating zero.
    init(_ bytes: UnsafeRawBufferPointer) {
        let words = String(decoding: bytes.prefix { $0 != 0 }.map { 0x20...0x7E ~= $0 ? $0 : 0x3F }, as: UTF8.self)
        text = words.isEmpty ? "its structure is invalid" : words
    }
}
