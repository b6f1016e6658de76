/// What the skin of a body is made of, at one place.
struct Material: Sendable {
    /// The share of each primary that is thrown back in all directions.
    var colour: Vec3

    /// How strongly light glances off, seen straight on.
    var gloss: Float = 0.04

    /// How small and sharp highlights are: from about 8 for wax to 400 for glass.
    var sharpness: Float = 60

    /// How much of the surroundings is mirrored at a glancing angle; nought spares the work.
    var mirror: Float = 0

    /// Light that seeps through from the far side, as in leaves and fruit.
    var glow: Vec3 = .zero
}
