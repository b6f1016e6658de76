/// The two pictures of a photo that a gallery offers.
public enum Rendition: String, Hashable, Sendable, CaseIterable {
    /// The small one, for lists.
    case thumbnail
    /// The photo itself. Caches and JSON call it "photo".
    case original = "photo"
}
