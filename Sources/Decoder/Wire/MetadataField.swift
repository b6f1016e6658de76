/// One entry of a picture's metadata, in readable words: "Exposure Time", "1/250 sec.".
///
/// Both come from strangers: they are valid UTF-8, but may hold control characters.
public struct MetadataField: Hashable, Sendable {
    /// What the entry is called.
    public var name: String
    /// What it says.
    public var value: String

    /// Makes an entry of its two parts.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}
