import Pixels

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
