/// The kind of a gallery, as a short word for users and programs.
public enum GalleryKind: String, Hashable, Sendable {
    /// A folder of this machine.
    case folder
    /// A list file, on this machine or on a server.
    case list

    /// Returns the kind of a gallery. Returns nil if it is unknown, because Vitrine never fetched the gallery.
    ///
    /// - Parameter hasPaths: whether the photos' ids are paths; nil without photos.
    public init?(_ address: Address, hasPaths: Bool?) {
        switch (hasPaths, address.filePath) {
        case (true?, _): self = .folder
        case (false?, _): self = .list
        case (nil, let path?) where path.hasSuffix(".xml"): self = .list
        case (nil, _): return nil
        }
    }
}
