import Model

/// Photos of a gallery that lack a rendition for one and the same reason.
public struct TroubleGroup: Hashable, Sendable {
    /// What they lack.
    public let rendition: Rendition
    /// What stands in the way.
    public let trouble: RenditionState.Trouble
    /// How many they are.
    public let count: Int
    /// The first of them, in the order in which they came into the cache.
    public let photos: [Photo]
}
