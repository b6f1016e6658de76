import Pixels

/// One picture format.
protocol PictureDecoder: Sendable {
    /// The format's name, for the user.
    static var name: String { get }

    /// The library that reads it, with its version; nil where no library of its own does.
    static var library: String? { get }

    /// Whether the first bytes are the format's signature.
    static func recognises(_ bytes: UnsafeRawBufferPointer) -> Bool

    /// Decodes a picture whose signature was recognised. Checks `PictureBounds` on the header's claims before it
    /// allocates anything in proportion to them.
    static func decode(_ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest) throws(DecodeFailure) -> DecodeReply
}

extension PictureDecoder {
    static var library: String? { nil }
}
