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
