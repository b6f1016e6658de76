/// A way through tmux to the terminal that it runs in.
///
/// "A \ePtmux; escape sequence", in which every escape is doubled, is passed on where the user's `allow-passthrough` is on
/// (tmux(1)).
public enum TmuxPassage {
    /// A sequence as it has to be sent through tmux. tmux holds it whole before it passes it on, and drops what is larger than
    /// its buffer: so each sequence goes by itself.
    public static func wrapped(_ sequence: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(sequence.count + 16)
        bytes += "\u{1B}Ptmux;".utf8
        for byte in sequence {
            if byte == 0x1B { bytes.append(byte) }
            bytes.append(byte)
        }
        bytes += "\u{1B}\\".utf8
        return bytes
    }
}
