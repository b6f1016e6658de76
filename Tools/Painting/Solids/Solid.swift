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

/// A turned body: a smooth outline rotated about an upright axis.
struct Lathe: Sendable {
    private let centre: Vec3
    private let foot: Float
    private let top: Float
    /// The radii at evenly spaced heights from foot to top.
    private let radii: [Float]
    /// A factor that shortens horizontal distances, because a sloping side is nearer than they tell.
    private let care: Float

    /// - Parameters:
    ///   - centre: The position of the axis.
    ///   - outline: Points of the outline, from the foot up, as (radius, height).
    ///   - care: The factor for steps towards the side; smaller for steep flares.
    init(at centre: Vec3, outline: [Vec2], care: Float = 0.7) {
        self.centre = centre
        self.care = care
        foot = outline[0].y
        top = outline[outline.count - 1].y
        let height = top - foot
        let bottom = foot
        radii = (0...Self.steps).map { step in
            Self.radius(outline, bottom + height * Float(step) / Float(Self.steps))
        }
    }

    /// Returns the signed distance to the surface.
    func distance(_ p: Vec3) -> Float {
        let d = p - centre
        let out = d.xz.length
        let place = clamp((d.y - foot) / (top - foot)) * Float(Self.steps)
        let index = min(Int(place), Self.steps - 1)
        let radius = mix(radii[index], radii[index + 1], place - Float(index))
        let side = (out - radius) * care
        let beyond = max(foot - d.y, d.y - top)
        return beyond > 0 ? Vec2(max(side, 0), beyond).length : max(side, beyond)
    }

    private static let steps = 128

    /// The outline between its points: smooth cubic pieces (Catmull and Rom).
    private static func radius(_ outline: [Vec2], _ y: Float) -> Float {
        var index = 1
        while index < outline.count - 1, outline[index].y < y { index += 1 }
        func slope(_ at: Int) -> Float {
            let before = outline[max(at - 1, 0)]
            let after = outline[min(at + 1, outline.count - 1)]
            return (after.x - before.x) / (after.y - before.y)
        }
        let (a, b) = (outline[index - 1], outline[index])
        let span = b.y - a.y
        let t = clamp((y - a.y) / span)
        let (t2, t3) = (t * t, t * t * t)
        let ends = (2 * t3 - 3 * t2 + 1) * a.x + (3 * t2 - 2 * t3) * b.x
        return ends + span * ((t3 - 2 * t2 + t) * slope(index - 1) + (t3 - t2) * slope(index))
    }
}

/// A pear on a table: a fat end, a slim end and a stem.
struct Pear: Sendable {
    /// The point where the fat end touches the table.
    private let foot: Vec3

    /// The direction of the slim end.
    private let axis: Vec3
    private let size: Float

    /// Distinguishes pears when their skin is painted.
    let seed: Int

    init(foot: Vec3, lean: Vec3, size: Float, seed: Int) {
        self.foot = foot
        axis = lean.unit
        self.size = size
        self.seed = seed
    }

    /// Returns the signed distance to the surface.
    func distance(_ p: Vec3) -> Float {
        // Far away, a ball around the whole pear is precise enough.
        let rough = (p - foot - axis * (0.85 * size)).length - 1.15 * size
        if rough > 1 { return rough }
        return min(flesh(p), stem(p))
    }

    /// Returns the distance to the pear without its stem.
    func flesh(_ p: Vec3) -> Float {
        let (out, up) = local(p)
        let fat = (Vec2(out, up) - Vec2(0, 0.52)).length - 0.535
        let slim = (Vec2(out, up) - Vec2(0, 1.24)).length - 0.27
        let body = Outline.melt(fat, slim, 0.62)
        guard body < 0.1, out < 0.2 else { return body * size * 0.92 }
        // A dimple where the stem sits and one underneath.
        let dimple = 0.05 * bell(out, 0, 0.09) * (bell(up, 1.52, 0.12) + bell(up, 0.0, 0.12))
        return (body + dimple) * size * 0.92
    }

    /// Returns the distance to the stem.
    func stem(_ p: Vec3) -> Float {
        let base = foot + axis * (1.44 * size)
        let tip = base + (axis + Vec3(0.35, 0.1, 0.12)) * (0.36 * size)
        return Solid.rod(p, base, tip, 0.030 * size, tapering: 0.042 * size)
    }

    /// Returns a point's height along the pear's axis, from 0 at the fat end to about 1.5.
    func height(_ p: Vec3) -> Float { local(p).up }

    private func local(_ p: Vec3) -> (out: Float, up: Float) {
        let d = (p - foot) / size
        let up = dot(d, axis)
        return ((d - axis * up).length, up)
    }
}
