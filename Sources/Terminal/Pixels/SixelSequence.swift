import Cells

/// Pictures in DEC's words, drawn where the cursor is, a pixel for a pixel.
public enum SixelSequence {
    /// Shows a picture at the cursor, in pieces that follow each other. Where that is afterwards, terminals disagree.
    ///
    /// Pixels are square, what is not drawn stays as it is, and a grid means nothing (`P1;P2;P3 q`).
    public static func show(_ picture: PixelPicture) -> [[UInt8]] {
        [Array("\u{1B}P0;1;0q".utf8), picture.payload, Array("\u{1B}\\".utf8)]
    }
}
