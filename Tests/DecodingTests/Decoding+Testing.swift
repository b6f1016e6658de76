import Decoding
import PictureTestSupport
import Pixels

/// Decodes bytes in this process.
func decode(_ bytes: [UInt8], _ request: DecodeRequest) throws -> DecodeReply {
    try bytes.withUnsafeBytes { try Decoder.decode($0, request) }
}

/// Decodes all pixels at full scale.
func decodeWhole(_ bytes: [UInt8]) throws -> DecodeReply {
    try decode(bytes, DecodeRequest(box: PixelSize(width: 8192, height: 8192)))
}

extension DecodeRequest {
    /// A request for a picture within a square.
    static func within(_ side: Int) -> DecodeRequest { DecodeRequest(box: PixelSize(width: side, height: side)) }
}

extension DecodeReply {
    /// The signal-to-noise ratio to a picture.
    func psnr(_ picture: PixelBuffer) -> Double { pixels?.psnr(picture) ?? -.infinity }
}

extension PixelBuffer {
    /// Scales the picture with the filter that `PixelsTests` checks.
    func scaled(to size: PixelSize, region: PixelRect? = nil) -> PixelBuffer {
        scaled(region ?? PixelRect(whole: self.size), to: size)
    }

    /// The picture stored so that `orientation` makes it upright: turned the opposite way.
    func stored(for orientation: Orientation) -> PixelBuffer {
        let undoing: Orientation =
            switch orientation {
            case .turnedRight: .turnedLeft
            case .turnedLeft: .turnedRight
            default: orientation
            }
        return undoing.turned(self)
    }
}
