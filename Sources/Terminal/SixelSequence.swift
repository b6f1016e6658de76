import Cells

/// Pictures in DEC's words, drawn where the cursor is, a pixel for a pixel.
public enum SixelSequence {
    /// Shows a picture at the cursor. Where that is afterwards, terminals disagree.
    ///
    /// Pixels are square, what is not drawn stays as it is, and a grid means nothing (`P1;P2;P3 q`).
    public static func show(_ picture: PixelPicture) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(picture.payload.count + 16)
        bytes += "\u{1B}P0;1;0q".utf8
        bytes += picture.payload
        bytes += "\u{1B}\\".utf8
        return bytes
    }
}
