/// A striped lighthouse on its rock, the lamp lit, the last light going.
struct Lighthouse: Scene {
    private let noise = Noise(1701)
    private let horizon: Float = 0.965
    private let lamp = Vec2(0.620, 0.365)
    private let dusk = Gradient([
        (0, 0x141C44), (0.35, 0x2E3A74), (0.6, 0x6E5290), (0.78, 0xC8688A), (0.9, 0xF59A70), (0.97, 0xFFCF8A),
    ])

    var format: PictureFormat { .portrait }
    var film: Film { Film(exposure: 1.05, saturation: 1.06, vignette: 0.2) }

    func paint(_ canvas: inout Canvas) {
        canvas.shade { p in p.y < horizon ? sky(p) : .zero }
        paintStars(&canvas)
        paintBeam(&canvas)
        paintSea(&canvas)
        paintRock(&canvas)
        paintTower(&canvas)
        canvas.glow(lamp, radius: 0.30, colour(0xFFC060) * 0.55)
        canvas.glow(lamp, radius: 0.09, Vec3(2.6, 2.2, 1.4))
    }

    private func sky(_ p: Vec2) -> Vec3 {
        let streaks = noise.fractal(Vec2(p.x * 1.5, p.y * 8.5) + 4, octaves: 6)
        let cover = smoothstep(0.05, 0.6, streaks) * smoothstep(0.25, 0.62, p.y) * 0.75
        let below = noise.fractal(Vec2(p.x * 1.5, (p.y + 0.014) * 8.5) + 4, octaves: 4)
        let cloud = mix(
            colour(0x40386A), colour(0xFF8A78), clamp(0.35 + (streaks - below) * 1.4 + (p.y - 0.6) * 0.8))
        return mix(dusk.at(p.y), cloud, cover) + colour(0xFF9A58)
            * (0.25 * bell(p.y, horizon, 0.12) * bell(p.x, 0.1, 0.5))
    }

    private func paintStars(_ canvas: inout Canvas) {
        var random = RandomSource(seed: 1710)
        for _ in 0..<90 {
            let place = Vec2(random.unit(), random.unit() * random.unit() * 0.5)
            canvas.glow(
                place, radius: random.within(0.002, 0.0042), Vec3(0.9, 0.92, 1) * random.within(0.3, 1.2))
        }
    }

    private func paintBeam(_ canvas: inout Canvas) {
        canvas.lighten { p in
            let d = p - lamp
            var light: Float = 0
            for (way, strength) in [(Vec2(-0.985, -0.17), Float(1)), (Vec2(0.985, 0.06), 0.7)] {
                let along = dot(d, way)
                guard along > 0 else { continue }
                let across = abs(d.x * way.y - d.y * way.x)
                let half = 0.012 + along * 0.105
                let mote = 1 + 0.18 * noise.fractal(p * Vec2(4, 9), octaves: 4)
                light += strength * mote * smoothstep(half, half * 0.3, across) / (1 + along * 3.0)
            }
            return colour(0xFFE2A0) * (light * 0.42)
        }
    }

    private func paintSea(_ canvas: inout Canvas) {
        let above = canvas
        canvas.shade(keeping: { p in p.y < horizon }) { p in
            let depth = p.y - horizon
            let away = 1 / (depth + 0.02)
            let wave = noise.fractal(Vec2((p.x - 0.5) * away * 0.7, away * 2.4), octaves: 5, gain: 0.55)
            let seen = above.sample(
                Vec2(
                    p.x + wave * 0.02, horizon - depth * 0.8 - 0.01 + wave * 0.10 * smoothstep(0, 0.2, depth))
            )
            let body = mix(colour(0x3A3560), colour(0x101A3A), smoothstep(0, 0.3, depth))
            var light = mix(body, seen, 0.62 - 0.25 * smoothstep(0, 0.3, depth)) * (1 + 0.30 * wave)
            let lane = bell(p.x, lamp.x - 0.02, 0.05 + depth * 0.25)
            light += colour(0xFFC878) * (smoothstep(0.1, 0.75, wave) * lane * 0.55)
            return light
        }
    }

    private func paintRock(_ canvas: inout Canvas) {
        func top(_ x: Float) -> Float {
            let bulk = 0.205 * smoothstep(0.20, 0.52, x) * smoothstep(1.25, 0.74, x)
            let crag = 0.045 * noise.ridged(Vec2(x * 4.2, 0.4), octaves: 5) * smoothstep(0.22, 0.35, x)
            let flat = smoothstep(0.085, 0.14, abs(x - lamp.x))
            return 1.075 - bulk - crag * flat
        }
        func foot(_ x: Float) -> Float {
            1.075 + 0.075 * smoothstep(0.18, 0.5, x) + 0.012 * noise.at(Vec2(x * 11, 2))
        }
        canvas.shade(keeping: { p in p.y < top(p.x) || p.y > foot(p.x) || p.x < 0.2 }) { p in
            let crack = noise.ridged(Vec2(p.x * 7 + p.y * 3, p.y * 9 - p.x * 2), octaves: 6)
            let step: Float = 0.004
            let next = noise.ridged(Vec2((p.x - step) * 7 + p.y * 3, p.y * 9 - (p.x - step) * 2), octaves: 6)
            let lit = clamp(0.35 + (crack - next) * 5)
            let depth = p.y - top(p.x)
            var tint = mix(
                colour(0x15121F), colour(0x8C5A5C), lit * smoothstep(0.25, 0.0, depth + p.x * 0.14))
            tint += colour(0xFF9A70) * (0.14 * exp(-depth * 90))
            let foam = smoothstep(0.020, 0.0, foot(p.x) - p.y + 0.012 * noise.fractal(p * 22, octaves: 4))
            return mix(tint, colour(0xC8B0C4), foam * 0.8)
        }
    }

    private func paintTower(_ canvas: inout Canvas) {
        let x = lamp.x
        // The keeper's house comes first, because the tower stands before it.
        canvas.polygon([
            Vec2(x + 0.05, 0.80), Vec2(x + 0.20, 0.80), Vec2(x + 0.20, 0.885), Vec2(x + 0.05, 0.885),
        ]) { p in
            mix(colour(0xB89A98), colour(0x5C4C64), smoothstep(x + 0.05, x + 0.2, p.x))
        }
        canvas.polygon([
            Vec2(x + 0.03, 0.805), Vec2(x + 0.075, 0.755), Vec2(x + 0.19, 0.755), Vec2(x + 0.22, 0.805),
        ]) { p in
            colour(0x6A2C34) * (1 + 0.2 * sin(p.x * 600))
        }
        for dx in [Float(0.115), 0.16] {
            canvas.fill(
                { p in Outline.box(p, Vec2(x + dx, 0.842), Vec2(0.011, 0.016)) },
                in: Box(around: Vec2(x + dx, 0.842), radius: 0.03)
            ) { _ in Vec3(1.5, 1.0, 0.42) }
        }
        func half(_ y: Float) -> Float { mix(0.056, 0.098, pow(clamp((y - 0.43) / 0.47), 1.25)) }
        canvas.shade(keeping: { p in p.y < 0.43 || p.y > 0.90 || abs(p.x - x) > half(p.y) }) { p in
            let across = (p.x - x) / half(p.y)
            let bend = 0.012 * (1 - across * across)
            let stripe = wholePart((p.y - bend - 0.43) / 0.0945)
            let paint = stripe & 1 == 0 ? colour(0xF4EADF) : colour(0xC22B2E)
            let round = 0.22 + 0.95 * clamp(0.62 - 0.62 * across - 0.35 * across * across + 0.3)
            let worn = 1 + 0.08 * noise.fractal(p * Vec2(30, 14), octaves: 4)
            return paint * mix(colour(0x6A5A8A), colour(0xFFD8B8), clamp(round - 0.2)) * (round * worn)
        }
        for y in [Float(0.53), 0.665, 0.80] {
            canvas.fill(
                { p in Outline.box(p, Vec2(x - 0.012, y), Vec2(0.009, 0.017), rounding: 0.008) },
                in: Box(around: Vec2(x, y), radius: 0.04)
            ) { _ in Vec3(1.3, 0.9, 0.4) }
        }
        paintLantern(&canvas, x)
    }

    private func paintLantern(_ canvas: inout Canvas, _ x: Float) {
        let iron = colour(0x1A1622)
        canvas.fill(
            { p in Outline.box(p, Vec2(x, 0.428), Vec2(0.082, 0.009), rounding: 0.003) },
            in: Box(x - 0.1, 0.40, x + 0.1, 0.45)
        ) { _ in iron }
        canvas.fill(
            { p in Outline.box(p, Vec2(x, 0.368), Vec2(0.040, 0.052)) },
            in: Box(x - 0.06, 0.3, x + 0.06, 0.43)
        ) { p in
            Vec3(1.9, 1.6, 0.95) * (0.7 + 0.9 * exp(-(p - lamp).length * 30))
        }
        for dx in [Float(-0.040), -0.014, 0.014, 0.040] {
            canvas.stroke(from: Vec2(x + dx, 0.318), to: Vec2(x + dx, 0.42), width: 0.004, iron)
        }
        canvas.polygon([
            Vec2(x - 0.052, 0.318), Vec2(x - 0.036, 0.288), Vec2(x, 0.262), Vec2(x + 0.036, 0.288),
            Vec2(x + 0.052, 0.318),
        ]) { p in mix(colour(0xB83A34), colour(0x44161E), smoothstep(x - 0.04, x + 0.03, p.x)) }
        canvas.stroke(from: Vec2(x, 0.262), to: Vec2(x, 0.232), width: 0.005, iron)
        canvas.disc(Vec2(x, 0.262), radius: 0.008, iron)
        for dx in stride(from: Float(-0.078), through: 0.079, by: 0.026) {
            canvas.stroke(from: Vec2(x + dx, 0.42), to: Vec2(x + dx, 0.392), width: 0.003, iron)
        }
        canvas.stroke(from: Vec2(x - 0.079, 0.392), to: Vec2(x + 0.079, 0.392), width: 0.0035, iron)
    }
}
