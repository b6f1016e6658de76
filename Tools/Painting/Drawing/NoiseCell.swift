/// A cell of the plane around a random point, seen from a position within it.
struct NoiseCell: Sendable {
    /// The cell's point.
    var centre: Vec2

    /// Random bits of the cell.
    var key: UInt32

    /// The distance from the cell's point.
    var distance: Float

    /// The distance from the next nearest point.
    var second: Float

    /// A random number of the cell, from 0 up to 1.
    var unit: Float { Float((key &* 0x9E37_79B1) >> 8) / Float(1 << 24) }

    /// The approximate distance from the cell's edge.
    var edge: Float { (second - distance) / 2 }
}
