/// How publishing a folder went.
public struct PublishReport: Equatable, Sendable {
    /// Photos that the gallery has.
    public internal(set) var photos = 0
    /// Those of them that it did not have before.
    public internal(set) var added = 0
    /// Those of them that were others before, or whose thumbnails were lost.
    public internal(set) var changed = 0
    /// Photos that it had before.
    public internal(set) var removed = 0
    /// Files that could not be looked at, or are pictures that cannot be decoded.
    public internal(set) var failed = 0
    /// Files that are no pictures.
    public internal(set) var others = 0
    /// Pictures of formats that are not read, by the format's name.
    public internal(set) var unread: [String: Int] = [:]
    /// Whether the list is another than it was.
    public internal(set) var isListNew = false
    /// Whether it was ended before it was done. The gallery is then as it was.
    public internal(set) var isInterrupted = false
}
