import Model

/// What it takes to fetch one rendition of one photo.
public struct RenditionSource: Hashable, Sendable {
    /// Where it lies; nil for the thumbnail of a photo that has none of its own.
    public let address: Address?
    /// What is wanted and what is here.
    public let state: RenditionState
    /// What the server said of the bytes that are held, if they came from this address.
    public let validators: Validators
}
