import Pixels

extension DecoderClient {
    /// Makes a small JPEG of a picture, upright, and finds out what the picture says of itself. Holds up the calling thread
    /// until the decoder has ended.
    ///
    ///     let reply = try decoder.thumbnail(of: .file("photo.jpg"), box: PixelSize(width: 320, height: 240))
    ///     write(reply.thumbnail)
    ///
    /// - Parameter box: what it is to fit into. A picture that is smaller stays as it is.
    public func thumbnail(of source: PictureSource, box: PixelSize) throws(PictureError) -> DecodeReply {
        var request = DecodeRequest(box: box)
        request.product = .thumbnail
        return try decode(source, request)
    }
}
