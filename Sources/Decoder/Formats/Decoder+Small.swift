import BaselineJPEG
import Pixels

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
