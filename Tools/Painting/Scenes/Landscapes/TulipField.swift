/// Rows of tulips in every colour that converge under a windmill.
struct TulipField: Scene {
    private let noise = Noise(2001)
    private let horizon: Float = 0.475
    private let vanish = Vec2(0.46, 0.455)

    var film: Film { Film(exposure: 1.0, saturation: 1.12, vignette: 0.12) }

    func paint(_ canvas: inout Canvas) {
        let sky = Gradient([(0, 0x2F7FD0), (0.3, 0x86BFEA), (0.48, 0xE4F1F2)])
        canvas.shade { p in
            let q = Vec2(p.x * 2.8, p.y * 6.5) + 3
            let puff = noise.fractal(q, octaves: 7) + 0.10
            let lit = clamp(0.55 + (puff - noise.fractal(q + Vec2(0.12, -0.22), octaves: 5)) * 0.7)
            return mix(
                sky.at(p.y), mix(colour(0xB4C6DA), colour(0xFFFDF6), lit), smoothstep(0.05, 0.42, puff))
        }
        paintDistance(&canvas)
        paintMill(&canvas)
        paintRows(&canvas)
        paintFlowers(&canvas)
    }

    private func paintDistance(_ canvas: inout Canvas) {
        canvas.shade(keeping: { p in
            p.y < horizon - 0.012 - 0.010 * abs(noise.fractal(Vec2(p.x * 22, 2), octaves: 3))
        }) { p in
            mix(colour(0x4E7E4A), colour(0x8FB07A), 0.5 + 0.5 * noise.at(p * 60))
        }
    }

    private func band(_ row: Int32) -> Vec3 {
        let tints: [UInt32] = [0xE0182E, 0xFFC61A, 0xF0509A, 0xFF6A14, 0x8A2AA8, 0xFFF0E0, 0xD01058]
        return colour(tints[Int((row % 7 + 7) % 7)])
    }

    private func row(_ p: Vec2) -> Float {
        (p.x - vanish.x) / (p.y - vanish.y) * 2.7 + 0.45
    }

    private func paintRows(_ canvas: inout Canvas) {
        canvas.shade(keeping: { p in p.y < horizon }) { p in
            let depth = p.y - vanish.y
            let place = row(p)
            let index = wholePart(place)
            let within = fract(place)
            let away = 1 / depth
            let bloom = noise.fractal(Vec2(place * 14, away * 8), octaves: 4)
            let tint = band(index) * (0.82 + 0.38 * bloom)
            let green =
                mix(colour(0x3A6A22), colour(0x16320F), within)
                * (1 + 0.4 * noise.at(Vec2(place * 30, away * 20)))
            let path = smoothstep(
                0.10, 0.02, min(within, 1 - within) + 0.05 * bloom * smoothstep(0, 0.1, depth))
            let shade = mix(1.08, 0.72, smoothstep(0.3, 0.95, within))
            return mix(mix(tint * shade, green, path), colour(0xDCE6DC), 0.30 * exp(-(p.y - horizon) * 22))
        }
    }

    /// Single flowers, from the far ones to those before the lens.
    private func paintFlowers(_ canvas: inout Canvas) {
        var random = RandomSource(seed: 2020)
        for step in 0..<74 {
            let t = Float(step) / 73
            let y = horizon + 0.018 + pow(t, 2.1) * 0.66
            let size = (y - vanish.y) * 0.060
            let spacing = size * 1.5
            var x = -0.05 - random.unit() * spacing
            while x < 1.4 {
                x += spacing * random.within(0.7, 1.2)
                let place = Vec2(x, y + random.within(-0.3, 0.3) * size)
                let within = fract(row(place))
                guard within > 0.10, within < 0.90 else { continue }
                let tint = band(wholePart(row(place))) * random.within(0.78, 1.12)
                tulip(&canvas, place, size * random.within(0.85, 1.15), tint, random.within(-0.25, 0.25))
            }
        }
    }

    private func tulip(_ canvas: inout Canvas, _ place: Vec2, _ size: Float, _ tint: Vec3, _ lean: Float) {
        let stem = colour(0x3F7A2A)
        if size > 0.007 {
            canvas.stroke(from: place, to: place + Vec2(-lean * size, size * 2.2), width: size * 0.16, stem)
            let leaf = place + Vec2(-lean * size, size * 2.2)
            canvas.stroke(
                from: leaf, to: leaf + Vec2(size * (0.9 + lean), -size * 1.5), width: size * 0.36,
                tapering: size * 0.05, stem * 0.8)
        }
        let box = Box(around: place, radius: size * 1.3)
        canvas.fill({ p in cup((p - place).turned(by: -lean) / size) * size }, in: box) { p in
            let q = (p - place).turned(by: -lean) / size
            let fold = smoothstep(0.0, 0.10, abs(q.x) - 0.10 - 0.35 * (q.y + 0.5) * (0.6 - q.y))
            let round = 1.05 - 0.55 * smoothstep(-0.15, 0.55, q.x) + 0.18 * smoothstep(0.1, -0.6, q.y)
            let vein = 1 + 0.06 * noise.at(Vec2(q.x * 12, q.y * 2) + place * 40)
            return tint * (round * vein * mix(1.10, 0.82, fold))
        }
    }

    /// A tulip's cup of three petals, one unit being its size.
    private func cup(_ q: Vec2) -> Float {
        let bowl = Outline.ellipse(q, Vec2(0, 0.06), Vec2(0.50, 0.60))
        let tips = abs(wrap(q.x + 0.165, 0.33) - 0.165) * 1.25 - 0.62 + 0.22 * abs(q.x)
        return max(bowl, -q.y + tips + 0.10) * 0.8
    }

    private func paintMill(_ canvas: inout Canvas) {
        let hub = Vec2(0.975, 0.235)
        let base: Float = 0.472
        let thatch = colour(0x5C4634)
        canvas.polygon([
            Vec2(hub.x - 0.046, hub.y + 0.01), Vec2(hub.x + 0.046, hub.y + 0.01), Vec2(hub.x + 0.072, base),
            Vec2(hub.x - 0.072, base),
        ]) { p in
            let side = (p.x - hub.x) / 0.06
            return thatch * (1.15 - 0.55 * side + 0.25 * noise.at(p * Vec2(40, 160)))
        }
        canvas.polygon([
            Vec2(hub.x - 0.072, base), Vec2(hub.x - 0.066, 0.425), Vec2(hub.x + 0.066, 0.425),
            Vec2(hub.x + 0.072, base),
        ]) { p in colour(0xB5644A) * (1.1 - 5 * (p.x - hub.x)) }
        canvas.fill(
            { p in Outline.box(p, Vec2(hub.x, 0.392), Vec2(0.082, 0.005)) }, in: Box(0.85, 0.38, 1.1, 0.41)
        ) { _ in
            colour(0xEFE8DA)
        }
        canvas.fill(
            { p in Outline.ellipse(p, hub + Vec2(0.004, 0.004), Vec2(0.054, 0.042)) },
            in: Box(around: hub, radius: 0.08)
        ) { p in
            mix(colour(0x7A5E46), colour(0x33251D), smoothstep(-0.03, 0.04, p.x - hub.x))
        }
        for (dx, y) in [(Float(-0.015), Float(0.315)), (0.018, 0.36), (-0.02, 0.445), (0.028, 0.445)] {
            canvas.fill(
                { p in Outline.box(p, Vec2(hub.x + dx, y), Vec2(0.008, 0.011)) },
                in: Box(around: Vec2(hub.x + dx, y), radius: 0.03)
            ) { _ in colour(0xF2EEE2) }
        }
        for quarter in 0..<4 {
            let way = Vec2(0, -1).turned(by: 0.55 + Float(quarter) * Float.pi / 2)
            let side = Vec2(-way.y, way.x)
            let tip = hub + way * 0.225
            for lath in 0..<14 {
                let at = hub + way * (0.05 + 0.0132 * Float(lath))
                canvas.stroke(from: at, to: at + side * 0.036, width: 0.0018, colour(0x3A2A22))
            }
            canvas.polygon([
                hub + way * 0.05, tip, tip + side * 0.034, hub + way * 0.05 + side * 0.034,
            ]) { _ in colour(0xD8CBB4) }
            for lath in 0..<8 {
                let at = hub + way * (0.055 + 0.0235 * Float(lath))
                canvas.stroke(from: at, to: at + side * 0.036, width: 0.0022, colour(0x6A503C))
            }
            canvas.stroke(from: hub, to: tip, width: 0.0065, tapering: 0.004, colour(0x35241C))
            canvas.stroke(
                from: hub + way * 0.05 + side * 0.035, to: tip + side * 0.035, width: 0.0025, colour(0x35241C)
            )
        }
        canvas.disc(hub, radius: 0.010, colour(0x2A1D18))
    }
}
