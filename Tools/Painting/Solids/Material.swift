/// The material at a point of a surface.
struct Material: Sendable {
    /// The fraction of each primary that is reflected in all directions.
    var colour: Vec3

    /// The strength of specular reflection, seen straight on.
    var gloss: Float = 0.04

    /// The sharpness of highlights: about 8 for wax, 400 for glass.
    var sharpness: Float = 60

    /// The fraction of the surroundings mirrored at a grazing angle; 0 saves the work.
    var mirror: Float = 0

    /// Light from the far side, as through leaves and fruit.
    var glow: Vec3 = .zero
}
