/// What the cache has of one rendition, and what stands in the way of the rest.
///
/// Every time the gallery gives a rendition another address or date, its `edition` goes up by one; and every time the user
/// asks once more for one that was bad. What is held may be of an older edition: it is shown until the newer one is here,
/// whatever happens on the way.
public struct RenditionState: Hashable, Sendable {
    /// Why the wanted edition is not here.
    public enum Trouble: Hashable, Sendable {
        /// An attempt failed and another will follow by itself.
        case putOff(Failure)
        /// It cannot be had or cannot be read; tried again only when the user refreshes.
        case bad(Failure)

        /// The reason of the failure.
        public var failure: Failure {
            switch self {
            case .putOff(let failure), .bad(let failure): failure
            }
        }
    }

    /// The edition the gallery's list speaks of.
    public var edition: Int
    /// The edition whose bytes are in the cache, if any are. Negative for older ones that came back when newer ones turned
    /// out to be bad.
    public var held: Int?
    /// What went wrong with the wanted edition, if anything did.
    public var trouble: Trouble?

    /// Puts the three facts together.
    public init(edition: Int, held: Int? = nil, trouble: Trouble? = nil) {
        self.edition = edition
        self.held = held
        self.trouble = trouble
    }

    /// Whether what is held is what the gallery speaks of.
    public var isCurrent: Bool { held == edition }

    /// Whether fetching it now could help.
    public var isWanting: Bool {
        if isCurrent { return false }
        if case .bad = trouble { return false }
        return true
    }
}
