/// A picture in kitty's language, cut up as it is sent.
///
/// "The terminal … understands <ESC>_G<control data>;<payload><ESC>\\", and the payload comes in chunks "no more than 4096 bytes"
/// long, each but the last with `m=1` (kitty's graphics protocol). `q=2` on every one of them: answers would come as
/// keys to whoever reads the terminal next.
public enum KittyChunks {
    /// The longest payload of one sequence. It is a multiple of four, as those but the last have to be.
    static let longest = 4_096

    /// A sequence.
    public static func sequence(_ control: String, _ payload: some Collection<UInt8> = []) -> [UInt8] {
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

    /// All but the first, which alone says what the picture is.
    static func following(of payload: [UInt8], isThroughTmux: Bool) -> [[UInt8]] {
        stride(from: longest, to: payload.count, by: longest).map { start in
            let end = min(start + longest, payload.count)
            let chunk = sequence("m=\(end < payload.count ? 1 : 0),q=2", payload[start..<end])
            return isThroughTmux ? TmuxPassage.wrapped(chunk) : chunk
        }
    }
}
