import Cells

/// A picture on its way to standard output, between lines of text.
public enum InlinePicture {
    /// Draws a picture where the cursor is, which has to be at a line's start, and leaves the cursor below it at a line's start.
    ///
    /// Terminals disagree about where the cursor is after a picture, and scroll when one reaches the last line. So room is
    /// made for it first, with lines; then the cursor goes back up, and after the picture to where it was before.
    public static func bytes(_ picture: PixelPicture) -> [UInt8] {
        let pieces =
            switch picture.language {
            case .kitty: KittySequence.show(picture)
            case .iterm: ITermSequence.show(picture)
            case .sixel: SixelSequence.show(picture)
            }
        let rows = picture.size.rows
        var bytes = [UInt8](repeating: UInt8(ascii: "\n"), count: rows)
        bytes += "\u{1B}[\(rows)A\u{1B}7".utf8
        for piece in pieces { bytes += piece }
        bytes += "\u{1B}8\u{1B}[\(rows)B\r".utf8
        return bytes
    }
}
