import Cells

/// Keys of characters, as short as they are typed.
extension Key: ExpressibleByExtendedGraphemeClusterLiteral {
    /// The key of a character.
    public init(extendedGraphemeClusterLiteral character: Character) { self = .character(character) }
}
