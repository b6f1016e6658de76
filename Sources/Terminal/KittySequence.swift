import Cells

/// Pictures in kitty's words: sent once under a number, placed as often as one likes, and removed by that number.
///
/// "The terminal … understands <ESC>_G<control data>;<payload><ESC>\", and the payload comes in chunks "no more than 4096 bytes"
/// long, each but the last with `m=1` (kitty's graphics protocol). `q=2` on every one of them: answers would come as
/// keys to whoever reads the terminal next.
public enum KittySequence {
    /// Sends a picture, and shows nothing yet.
    public static func transmit(_ picture: PixelPicture, id: UInt32) -> [[UInt8]] {
        chunks(picture, "a=t,f=24,s=\(picture.width),v=\(picture.height),i=\(id),q=2")
    }

    /// Sends a picture and shows it at the cursor, which stays where it is.
    ///
    /// - Parameter id: its number, if it is to be placed again or removed; else the terminal finds one.
    public static func show(_ picture: PixelPicture, id: UInt32? = nil) -> [[UInt8]] {
        let number = id.map { ",i=\($0)" } ?? ""
        return chunks(
            picture,
            "a=T,f=24,s=\(picture.width),v=\(picture.height)\(number),c=\(picture.size.columns),r=\(picture.size.rows)"
                + ",C=1,q=2")
    }

    /// Shows a picture that was sent at the cursor, which stays where it is.
    ///
    /// - Parameters:
    ///   - placement: the number of this showing; the same again moves it.
    ///   - size: the cells that it covers.
    public static func place(id: UInt32, placement: UInt32, size: Size) -> [UInt8] {
        sequence("a=p,i=\(id),p=\(placement),c=\(size.columns),r=\(size.rows),C=1,q=2")
    }

    /// Takes one showing of a picture away, and keeps the picture.
    public static func remove(id: UInt32, placement: UInt32) -> [UInt8] {
        sequence("a=d,d=i,i=\(id),p=\(placement),q=2")
    }

    /// Takes a picture away wherever it is shown, and forgets it.
    public static func forget(id: UInt32) -> [UInt8] {
        sequence("a=d,d=I,i=\(id),q=2")
    }

    /// The longest payload of one sequence. It is a multiple of four, as those but the last have to be.
    private static let longestChunk = 4_096

    private static func chunks(_ picture: PixelPicture, _ control: String) -> [[UInt8]] {
        let payload = picture.payload
        return stride(from: 0, to: max(1, payload.count), by: longestChunk).map { start in
            let end = min(start + longestChunk, payload.count)
            let more = end < payload.count ? 1 : 0
            return sequence(start == 0 ? "\(control),m=\(more)" : "m=\(more),q=2", payload[start..<end])
        }
    }

    private static func sequence(_ control: String, _ payload: ArraySlice<UInt8> = []) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(control.utf8.count + payload.count + 8)
        bytes += "\u{1B}_G\(control)".utf8
        if !payload.isEmpty {
            bytes.append(UInt8(ascii: ";"))
            bytes += payload
        }
        bytes += "\u{1B}\\".utf8
        return bytes
    }
}
