import Cells

/// Pictures in iTerm2's words: a file, drawn where the cursor is, over as many cells as it is told.
public enum ITermSequence {
    /// Shows a picture at the cursor, in pieces that follow each other. Where that is afterwards, terminals disagree.
    public static func show(_ picture: PixelPicture) -> [[UInt8]] {
        // Four characters of the payload for three bytes of the file; what is padding is none.
        let padding = picture.payload.suffix(2).count { $0 == UInt8(ascii: "=") }
        let size = picture.payload.count / 4 * 3 - padding
        let control =
            "inline=1;size=\(size);width=\(picture.size.columns);height=\(picture.size.rows);preserveAspectRatio=0"
        return [Array("\u{1B}]1337;File=\(control):".utf8), picture.payload, [0x07]]
    }
}
