/// A rectangle with upright sides, in canvas units.
struct Box: Sendable {
    var low: Vec2
    var high: Vec2

    init(_ left: Float, _ top: Float, _ right: Float, _ bottom: Float) {
        low = Vec2(left, top)
        high = Vec2(right, bottom)
    }

    /// Creates the square around a circle.
    init(around centre: Vec2, radius: Float) {
        low = centre - radius
        high = centre + radius
    }

    /// Everything, on any canvas.
    static let everywhere = Box(-1000, -1000, 1000, 1000)
}
