/// Where a picture's bytes are.
public enum PictureSource: Sendable {
    /// In memory.
    case bytes([UInt8])
    /// In a file, by its path.
    case file(String)
}
