import Cells
import Pixels
import Text

/// A language in which terminals take pixels.
protocol PixelEncoding {
    /// A picture in it, without what has to stand around it.
    static func payload(_ picture: PixelBuffer, _ capabilities: PixelCapabilities) -> [UInt8]
}

/// kitty's: the pixels as they are. To compress them takes longer than to send a tenth more.
enum KittyEncoding: PixelEncoding {
    static func payload(_ picture: PixelBuffer, _ capabilities: PixelCapabilities) -> [UInt8] {
        Base64.encode(picture.bytes)
    }
}
