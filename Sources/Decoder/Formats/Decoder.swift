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
