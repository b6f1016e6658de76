import CJPEG
import Pixels

/// Makes the JPEG of a thumbnail that a gallery did not have.
enum JPEGEncoder {
    /// About what cameras use for their own thumbnails: ten kilobytes for 320 × 240.
    private static let quality: Int32 = 80

    /// Refuses a picture that would be longer than so many bytes: more would not pass the wire.
    static func encode(
        _ picture: PixelBuffer, longest: Int = DecodeReply.longestThumbnail
    ) throws(DecodeFailure) -> [UInt8] {
        var status = cjpeg_status.ok
        let bytes = [UInt8](unsafeUninitializedCapacity: longest) { room, length in
            status = picture.bytes.withUnsafeBufferPointer { pixels in
                cjpeg_encode(
                    pixels.baseAddress, UInt32(picture.width), UInt32(picture.height), quality, room.baseAddress,
                    longest, &length)
            }
        }
        switch status {
        case .ok: return bytes
        case .oversized: throw .tooLarge(width: picture.width, height: picture.height)
        default: throw .outOfMemory
        }
    }
}
