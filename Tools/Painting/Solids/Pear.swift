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
