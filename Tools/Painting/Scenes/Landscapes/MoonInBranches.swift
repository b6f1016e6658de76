/// The full moon and a bare branch; nearly all the rest is black.
struct MoonInBranches: Scene {
    private let noise = Noise(2401)
    private let moon = Vec2(0.72, 0.43)
    private let radius: Float = 0.255

    var film: Film { Film(exposure: 0.95, saturation: 0.9, vignette: 0.1, grain: 1.2) }

    func paint(_ canvas: inout Canvas) {
        canvas.shade { p in
            let toMoon = (p - moon).length
            if toMoon < radius { return surface((p - moon) / radius) }
            let veil = 1 + 0.5 * noise.fractal(p * 3, octaves: 5)
            return colour(0x05070E) + colour(0x6A7488) * (0.24 * exp(-(toMoon - radius) * 7) * veil)
        }
        var random = RandomSource(seed: 2417)
        grow(&canvas, Vec2(-0.04, 0.98), -0.62, 0.34, 0.040, 0, &random)
        grow(&canvas, Vec2(1.40, 0.70), -2.75, 0.17, 0.016, 2, &random)
    }

    /// Returns the moon's surface at a position measured from its centre in radii.
    private func surface(_ q: Vec2) -> Vec3 {
        let height = (1 - min(dot(q, q), 1)).squareRoot()
        let place = Vec3(q.x, -q.y, height)
        var seas: Float = 0
        for (x, y, size) in [
            (Float(-0.36), Float(-0.38), Float(0.30)), (0.16, -0.34, 0.20), (0.36, -0.10, 0.22),
            (0.62, -0.30, 0.12), (-0.58, 0.02, 0.34),
            (-0.30, 0.26, 0.20), (0.56, 0.12, 0.16), (-0.12, -0.06, 0.12),
        ] {
            let d = (q - Vec2(x, y)).length + 0.14 * noise.fractal(q * 4 + x * 7, octaves: 5)
            seas = max(seas, smoothstep(size, size - 0.13, d))
        }
        let upland = noise.fractal(place * 5, octaves: 6, gain: 0.6)
        var light = mix(Vec3(repeating: 0.84), Vec3(0.36, 0.37, 0.40), seas * 0.92) * (1 + 0.13 * upland)
        light *= 1 + craters(place, seas)
        // Young craters have bright rays far over the land.
        for (x, y, reach) in [
            (Float(-0.10), Float(0.70), Float(0.95)), (-0.34, -0.12, 0.34), (-0.62, -0.20, 0.24),
        ] {
            let d = q - Vec2(x, y)
            let out = d.length
            let spokes =
                noise.at(Vec2(atan2(d.y, d.x) * 5 + x * 9, out * 1.2)) + 0.35
                * noise.at(Vec2(atan2(d.y, d.x) * 14, out * 2))
            light +=
                Vec3(repeating: 0.24)
                * (smoothstep(0.05, 0.75, spokes) * smoothstep(reach, 0.06, out) + 0.9
                    * smoothstep(0.05, 0.02, out))
            light *= 1 - 0.35 * smoothstep(0.022, 0.012, out)
        }
        // A full moon is hardly darker towards its rim.
        return light * Vec3(1.02, 0.99, 0.92) * (0.62 + 0.38 * pow(height, 0.4))
    }

    private func craters(_ place: Vec3, _ seas: Float) -> Float {
        var relief: Float = 0
        for (index, scale) in [Float(5), 10, 20, 38].enumerated() {
            let flat = Vec2(atan2(place.x, place.z + 0.4) * scale, place.y * scale * 1.25)
            let cell = noise.cell(flat + Float(index) * 7.7, jitter: 0.9)
            guard cell.unit < 0.55 else { continue }
            let size = 0.18 + 0.24 * cell.unit
            let d = flat - cell.centre
            let out = d.length / size
            let rim = bell(out, 1, 0.22) * 0.22
            let floor = smoothstep(1, 0.7, out) * -0.10
            let side = dot(d / max(d.length, 1e-4), Vec2(0.7, -0.5)) * bell(out, 0.85, 0.3) * 0.20
            relief += (rim + floor + side) * (1 - 0.75 * seas) * (index == 0 ? 0.7 : 1)
        }
        return relief
    }

    private func grow(
        _ canvas: inout Canvas, _ start: Vec2, _ angle: Float, _ length: Float, _ width: Float, _ level: Int,
        _ random: inout RandomSource
    ) {
        let pieces = 5
        var place = start
        var way = angle
        var thick = width
        for piece in 0..<pieces {
            way += random.within(-0.20, 0.17)
            let next = place + Vec2(length / Float(pieces), 0).turned(by: way)
            bough(&canvas, place, next, thick, thick * 0.86)
            if level < 5, piece > 0 || level > 1 {
                let side: Float = random.unit() < 0.5 ? -1 : 1
                let share = random.within(0.45, 0.68)
                if random.unit() < 0.72 {
                    grow(
                        &canvas, next, way + side * random.within(0.45, 0.95), length * share, thick * 0.52,
                        level + 1, &random)
                }
            }
            place = next
            thick *= 0.86
        }
        if level < 5 { grow(&canvas, place, way, length * 0.66, thick, level + 1, &random) }
    }

    private func bough(_ canvas: inout Canvas, _ a: Vec2, _ b: Vec2, _ from: Float, _ to: Float) {
        canvas.stroke(from: a, to: b, width: max(from, 0.0016), tapering: max(to, 0.0012), colour(0x020307))
        guard from > 0.006 else { return }
        // Moonlight along the upper side of stouter boughs.
        let toMoon = (moon - a) / max((moon - a).length, 1e-4)
        let shift = Vec2(0, -0.36 * from) + toMoon * (0.08 * from)
        let near = exp(-(moon - a).length * 1.6)
        canvas.stroke(
            from: a + shift, to: b + shift, width: from * 0.13, tapering: to * 0.13, colour(0x98A2B4),
            opacity: 0.5 * near)
    }
}
