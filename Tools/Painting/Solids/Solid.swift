/// Solid bodies as signed distances: negative inside, zero on the surface, positive outside.
enum Solid {
    /// A ball.
    static func ball(_ p: Vec3, _ centre: Vec3, _ radius: Float) -> Float {
        (p - centre).length - radius
    }

    /// An ellipsoid with level axes. The distance is exact on the surface and approximate near it.
    static func ellipsoid(_ p: Vec3, _ centre: Vec3, _ radii: Vec3) -> Float {
        let q = p - centre
        let k = (q / radii).length
        let slope = (q / (radii * radii)).length
        return slope > 0 ? k * (k - 1) / slope : -radii.x
    }

    /// A brick with rounded edges, given by its centre and half its sides.
    static func brick(_ p: Vec3, _ centre: Vec3, _ half: Vec3, rounding: Float) -> Float {
        let d = p - centre
        let q = Vec3(abs(d.x), abs(d.y), abs(d.z)) - half + rounding
        let outside = Vec3(max(q.x, 0), max(q.y, 0), max(q.z, 0)).length
        return outside + min(max(q.x, max(q.y, q.z)), 0) - rounding
    }

    /// An upright cylinder with rounded rims, given by its centre.
    static func cylinder(_ p: Vec3, _ centre: Vec3, radius: Float, half: Float, rounding: Float) -> Float {
        let d = p - centre
        return Outline.box(Vec2(d.xz.length, d.y), .zero, Vec2(radius, half), rounding: rounding)
    }

    /// A rod with round ends, optionally tapering.
    static func rod(_ p: Vec3, _ a: Vec3, _ b: Vec3, _ radius: Float, tapering end: Float? = nil) -> Float {
        let way = b - a
        let along = clamp(dot(p - a, way) / dot(way, way))
        return (p - a - way * along).length - mix(radius, end ?? radius, along)
    }

    /// A horizontal ring.
    static func ring(_ p: Vec3, _ centre: Vec3, radius: Float, thickness: Float) -> Float {
        let d = p - centre
        return Vec2(d.xz.length - radius, d.y).length - thickness
    }
}
