extension DecodeReply {
    /// Appends everything but the pixels' bytes, which follow as they are.
    func encodeHead(to wire: inout WireWriter) {
        wire.append(sourceSize)
        wire.append(format)
        wire.append(orientation.rawValue)
        wire.append(isComplete)
        metadata.encode(to: &wire)
        wire.append(pixels?.size) { $0.append($1) }
    }

    /// Reads an answer to `request`, and refuses every other.
    init(from wire: inout WireReader, for request: DecodeRequest) throws(PixelsError) {
        let sourceSize = try wire.size(largestSide: Self.largestSourceSide)
        let format = try wire.text()
        guard Self.isFormatName(format) else { throw .malformedReply("the format has no proper name") }
        guard let orientation = Orientation(rawValue: try wire.integer()) else {
            throw .malformedReply("there is no such orientation")
        }
        self.init(
            to: request, sourceSize: sourceSize, format: format, orientation: orientation,
            isComplete: try wire.flag(), metadata: try PictureMetadata(from: &wire),
            pixels: try Self.pixels(from: &wire, of: PictureLayout(of: sourceSize, for: request), for: request))
    }

    /// Reads exactly the pixels asked for: a reply cannot choose how much memory it takes.
    private static func pixels(
        from wire: inout WireReader, of layout: PictureLayout, for request: DecodeRequest
    ) throws(PixelsError) -> PixelBuffer? {
        let size = try wire.optional { wire throws(PixelsError) in
            try wire.size(largestSide: DecodeRequest.largestSide)
        }
        guard size == (request.wantsPixels ? layout.output : nil) else {
            throw .malformedReply("the pixels are not those asked for")
        }
        guard let size else { return nil }
        guard let count = PixelBuffer.byteCount(of: size), count == wire.remaining else {
            throw .malformedReply("the pixels are not as many as it says")
        }
        return PixelBuffer(size: size, bytes: Array(try wire.take(count)))
    }

    /// A few printable ASCII characters.
    private static func isFormatName(_ text: String) -> Bool {
        1...32 ~= text.utf8.count && text.utf8.allSatisfy { 0x20...0x7E ~= $0 }
    }
}
