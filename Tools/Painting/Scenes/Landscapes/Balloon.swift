/// A hot-air balloon in the stripes of a deck chair, early, over farmland.
struct Balloon: Scene {
    private let noise = Noise(1801)
    private let middle = Vec2(0.47, 0.46)

    var format: PictureFormat { .portrait }
    var film: Film { Film(exposure: 1.03, saturation: 1.06, vignette: 0.14) }

    func paint(_ canvas: inout Canvas) {
        let sky = Gradient([(0, 0x3F86C8), (0.45, 0x86BCE0), (0.8, 0xD2E6E8), (1.0, 0xFBEFD2)])
        canvas.shade { p in
            let puff = noise.fractal(Vec2(p.x * 2.3, p.y * 4.6) + 11, octaves: 7)
            let cover = smoothstep(0.08, 0.75, puff - 0.25 * abs(p.y - 0.75))
            let lit = clamp(
                0.5 + (puff - noise.fractal(Vec2(p.x * 2.3 - 0.06, p.y * 4.6 - 0.12) + 11, octaves: 5)))
            return mix(sky.at(p.y), mix(colour(0xC4CEDC), colour(0xFFF8EC), lit), cover * 0.85)
        }
        paintLand(&canvas)
        paint(&canvas, at: Vec2(0.845, 0.80), size: 0.145, [0x2E6F8E, 0xF3E9D2, 0xE07A3C], gores: 12)
        paint(&canvas, at: Vec2(0.125, 0.93), size: 0.075, [0x7A4A8A, 0xF0C24A, 0xF3E9D2], gores: 10)
        paint(
            &canvas, at: middle, size: 0.70, [0xD8342E, 0xF8F0DC, 0xF2A22C, 0xF8F0DC, 0x1F7F8C, 0xF8F0DC],
            gores: 24)
    }

    private func paintLand(_ canvas: inout Canvas) {
        let crops = Gradient([
            (0, 0x8FB25A), (0.3, 0xC9C26A), (0.55, 0x6E9A4A), (0.8, 0xE2CE86), (1, 0x4F7F44),
        ])
        for layer in 0..<4 {
            let near = Float(layer) / 3
            let field = Noise(UInt32(1820 + layer))
            func crest(_ x: Float) -> Float {
                mix(1.02, 1.20, near) - mix(0.035, 0.05, near)
                    * field.fractal(Vec2(x * mix(3.2, 1.8, near), 1.5), octaves: 3, gain: 0.3)
            }
            let haze = mix(colour(0xC4D2D2), colour(0xE8E2B8), near)
            canvas.shade(keeping: { p in p.y < crest(p.x) }) { p in
                let depth = p.y - crest(p.x)
                // Fields are cells of the plane seen at an angle.
                let ground = Vec2(p.x * 7 + depth * 3, depth * 26 / (0.6 + depth * 3)) * mix(1.6, 0.75, near)
                let plot = field.cell(ground, jitter: 0.75)
                let tint = crops.at(plot.unit)
                let rows = sin(ground.x * mix(20, 50, plot.unit) + ground.y * 30 * (plot.unit - 0.5))
                let hedge = smoothstep(0.07, 0.03, plot.edge + 0.02 * field.at(ground * 7))
                var light = tint * (1 + 0.07 * rows)
                light = mix(light, colour(0x2F5232), hedge * 0.8)
                return mix(light, haze, mix(0.75, 0.05, near) + 0.25 * exp(-depth * 30) * (1 - near))
            }
        }
    }

    /// Paints a balloon whose envelope is `size` high around a centre.
    private func paint(_ canvas: inout Canvas, at centre: Vec2, size: Float, _ tints: [UInt32], gores: Int) {
        let radius = size * 0.46
        let box = Box(around: centre, radius: size)
        let colours = tints.map { colour($0) }
        let basket = centre + Vec2(0, size * 0.82)
        let mouth = centre + Vec2(0, size * 0.54)
        for dx in [Float(-1), -0.35, 0.35, 1] {
            canvas.stroke(
                from: mouth + Vec2(dx * size * 0.085, -size * 0.02),
                to: basket + Vec2(dx * size * 0.045, -size * 0.035),
                width: size * 0.0045, colour(0x3A2C24))
        }
        canvas.fill(
            { p in Outline.box(p, basket, Vec2(size * 0.058, size * 0.042), rounding: size * 0.012) }, in: box
        ) { p in
            let q = (p - basket) / size
            let weave = 0.75 + 0.25 * sin(q.x * 330) * sin(q.y * 330)
            let rim = smoothstep(-0.028, -0.034, q.y)
            return mix(colour(0x9A6434) * weave, colour(0x5A2E1C), rim) * (1 - 4.5 * max(q.x, -0.05))
        }
        for (index, dx) in [Float(-0.025), 0.012].enumerated() {
            let head = basket + Vec2(dx * size, -size * 0.064)
            canvas.stroke(
                from: head, to: head + Vec2(0, size * 0.03), width: size * 0.026,
                [colour(0x24405E), colour(0xB03A2E)][index])
            canvas.disc(head + Vec2(0, -size * 0.012), radius: size * 0.012, colour(0xC08A66))
        }
        canvas.glow(mouth + Vec2(0, size * 0.10), radius: size * 0.05, Vec3(2.2, 1.2, 0.3))

        // The envelope: round above, narrowing to the mouth below.
        func half(_ t: Float) -> Float {
            guard t > -1, t < 1.18 else { return -1 }
            if t < 0.12 { return (1 - t * t).squareRoot() }
            let s = (t - 0.12) / 1.06
            return mix(0.9928, 0.20, pow(s, 1.25) * (1.25 - 0.25 * s))
        }
        canvas.fill(
            { p in
                let q = (p - centre) / radius
                let width = half(q.y)
                return width < 0 ? 1 : (abs(q.x) - width) * radius * 0.8
            }, in: box
        ) { p in
            let q = (p - centre) / radius
            let across = clamp(q.x / max(half(q.y), 0.01), -1, 1)
            // Equal gores crowd together towards the edge.
            let turn = atan2(across, (1 - min(across * across, 0.9999)).squareRoot()) / Float.pi + 0.5
            let place = turn * Float(gores) / 2 + 0.25
            let index = Int(wholePart(place))
            let within = abs(fract(place) - 0.5)
            var tint = colours[index % colours.count]
            // A zigzag belt about the middle.
            let zig = abs(fract(place) - 0.5) * 0.26
            let belt = abs(q.y - 0.30 - zig + 0.06) - 0.10
            if belt < 0 { tint = colours[(index + 2) % colours.count] }
            if belt < 0, belt > -0.03 { tint = colour(0x1D3A50) }
            let puff = 0.80 + 0.20 * cos(within * 2 * Float.pi)
            let normal = Vec3(across * 0.95, -q.y * 0.7, (1 - min(across * across, 0.98)).squareRoot()).unit
            let light = clamp(dot(normal, Vec3(-0.62, 0.42, 0.52).unit))
            let seam = 1 - 0.28 * smoothstep(0.46, 0.495, within)
            let cloth = 1 + 0.04 * noise.fractal(p * (26 / size), octaves: 3)
            let warm = colour(0xFF9A40) * (0.20 * smoothstep(0.5, 1.2, q.y))
            let shaded = tint * (0.30 + 0.88 * light) * (puff * seam * cloth)
            return shaded + tint * warm + colour(0x6A90B8) * (0.06 * smoothstep(0.4, 1, across))
        }
        canvas.fill({ p in Outline.box(p, mouth, Vec2(size * 0.092, size * 0.012)) }, in: box) { _ in
            colour(0x2C2228)
        }
    }
}
