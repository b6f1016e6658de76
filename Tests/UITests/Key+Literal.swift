import Cells

/// Character keys can be written as string literals.
extension Key: ExpressibleByExtendedGraphemeClusterLiteral {
    /// Makes the key of a character.
    public init(extendedGraphemeClusterLiteral character: Character) { self = .character(character) }
}
