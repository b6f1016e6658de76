/// Something that publishing a folder came to.
public enum PublishEvent: Equatable, Sendable {
    /// So many files have been looked at, of so many.
    case progress(Int, of: Int?)
    /// The gallery has a photo that it did not have; its path in the folder.
    case added(String)
    /// A photo is another than it was.
    case changed(String)
    /// The gallery has a photo no longer.
    case removed(String)
    /// A file is no part of the gallery; why.
    case failed(String, reason: String)
    /// A photo is part of the gallery, but its file ends before it does.
    case cutShort(String)
}
