/// A sheet of coloured squares with a ball pressing through from behind.
struct Bulge: Scene {
    private let noise = Noise(1401)
    private let middle = Vec2(0.60, 0.52)
    private let radius: Float = 0.40
    private let warmth = Gradient([(0, 0xFF3D6E), (0.5, 0xFF7A2C), (1, 0xFFC83C)])
    private let coolness = Gradient([(0, 0x1B1D5E), (0.5, 0x22409A), (1, 0x0F6C9C)])

    var film: Film { Film(exposure: 1.0, saturation: 1.05, vignette: 0.15) }

    func paint(_ canvas: inout Canvas) {
        canvas.shade { p in
            let d = (p - middle) / radius
            let out = d.length
            // On the ball, the pattern is looked up at its flat position: magnified in the middle, compressed at the
            // rim.
            let swell = out < 1 ? flat(out) : 1
            let q = out < 1 ? middle + d * (swell * radius) : p
            let height = out < 1 ? (1 - out * out).squareRoot() : 0
            let normal = out < 1 ? Vec3(d.x, -d.y, height).unit : Vec3(0, 0, 1)
            let light = out < 1 ? clamp(dot(normal, Vec3(-0.5, 0.62, 0.6).unit)) : Float(0.80)
            let sheen = out < 1 ? pow(clamp(dot(normal, Vec3(-0.34, 0.42, 0.84).unit)), 40) * 0.35 : 0
            let shadow =
                out < 1
                ? 1 : 1 - 0.55 * exp(-max((p - middle - Vec2(0.05, 0.06)).length / radius - 0.94, 0) * 9)
            return pattern(q, inside: smoothstep(1.05, 0.2, out)) * ((0.30 + 0.85 * light) * shadow)
                + Vec3(repeating: sheen)
        }
    }

    /// Returns the flat distance from the middle for a fraction of the ball's radius.
    private func flat(_ out: Float) -> Float {
        // The arc sine spreads points evenly over a ball; using only a part of it avoids crowding at the rim.
        let angle = atan2(out, (1 - min(out * out, 0.9999)).squareRoot())
        let even = angle / (Float.pi / 2)
        return mix(even / max(out, 1e-4), 1, 0.12) * 0.98
    }

    private func pattern(_ q: Vec2, inside: Float) -> Vec3 {
        let size: Float = 1.0 / 12
        let column = wholePart(q.x / size)
        let row = wholePart(q.y / size)
        let within = Vec2(fract(q.x / size), fract(q.y / size)) - 0.5
        let even = (column + row) & 1 == 0
        let across = Float(column) / 16
        let warm = warmth.at(Float(row) / 12 + 0.2 * across)
        let cool = coolness.at(Float(row) / 12)
        let ground =
            even ? mix(cool, colour(0x2A0F3E), inside) : mix(colour(0x14163C), cool, 0.55 + 0.2 * inside)
        // On every square a disc or a smaller square, bright on the ball and dim on the sheet.
        let mark =
            even
            ? Outline.circle(within, .zero, 0.36)
            : Outline.box(within, .zero, Vec2(0.30, 0.30), rounding: 0.05)
        let tint = mix(mix(colour(0x2F62A8), colour(0x3FA0A8), across), warm, smoothstep(0.0, 0.55, inside))
        let grain = 1 + 0.04 * noise.fractal(q * 70, octaves: 2)
        return mix(
            ground, even ? tint : mix(tint, colour(0xFFF2D8), 0.25 * inside), smoothstep(0.02, -0.02, mark))
            * grain
    }
}
