/// Where a picture's bytes are.
public enum PictureSource: Sendable {
    /// In memory.
    case bytes([UInt8])
    /// In a file, by its path.
    case file(String)
    /// In an open file. The descriptor stays the caller's, and its position does not matter.
    case open(Int32)
}
