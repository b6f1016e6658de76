import CJPEG
import Pixels

/// Makes the JPEG of a thumbnail that a gallery did not have.
enum JPEGEncoder {
    /// About what cameras use for their own thumbnails: ten kilobytes for 320 × 240.
    private static let quality: Int32 = 80

    static func encode(_ picture: PixelBuffer) throws(DecodeFailure) -> [UInt8] {
        var bytes: UnsafeMutablePointer<UInt8>?
        var length: UInt = 0
        let status = picture.bytes.withUnsafeBufferPointer { pixels in
            cjpeg_encode(
                pixels.baseAddress, UInt32(picture.width), UInt32(picture.height), quality, &bytes, &length)
        }
        defer { cjpeg_free_encoded(bytes) }
        guard status == .ok, let bytes else { throw .outOfMemory }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(length)))
    }
}
