import Model

/// What one piece of a gallery's file brought.
public struct GalleryBatch: Equatable, Sendable {
    /// A photo that broke a rule and was left out.
    public struct Skipped: Equatable, Sendable {
        /// Where its element begins.
        public let line: Int
        /// Which rule: a phrase for the log.
        public let reason: String
    }

    /// Photos, in the order of the document.
    public var entries: [GalleryEntry] = []
    /// Photos that broke a rule.
    public var skipped: [Skipped] = []
    /// What was left out of photos that were kept: a thumbnail, the end of a name.
    public var remarks: [Skipped] = []
}
