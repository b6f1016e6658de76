/// One cell of the pattern that strewn points make of the plane, as seen from a place within it.
struct NoiseCell: Sendable {
    /// The point that the cell is drawn around.
    var centre: Vec2

    /// Random bits that belong to the cell.
    var key: UInt32

    /// How far the place is from the cell's point.
    var distance: Float

    /// How far the place is from the next nearest point.
    var second: Float

    /// A number from 0 up to 1 that belongs to the cell.
    var unit: Float { Float((key &* 0x9E37_79B1) >> 8) / Float(1 << 24) }

    /// About how far the place is from the cell's edge.
    var edge: Float { (second - distance) / 2 }
}
