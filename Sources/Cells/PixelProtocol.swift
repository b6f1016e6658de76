/// A way in which terminals take pictures pixel by pixel.
public enum PixelProtocol: String, Hashable, Sendable, CaseIterable {
    /// kitty's: pictures are sent once, have numbers, and are placed and removed by them.
    case kitty
    /// iTerm2's: a picture file, which is drawn where the cursor is.
    case iterm
    /// DEC's: six rows of pixels at a time in a palette, drawn where the cursor is.
    case sixel
}
