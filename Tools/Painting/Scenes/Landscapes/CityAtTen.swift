/// A city at ten at night, seen across its river.
struct CityAtTen: Scene {
    private let noise = Noise(2301)
    private let quay: Float = 0.705

    var film: Film { Film(exposure: 1.05, saturation: 1.1, vignette: 0.2) }

    func paint(_ canvas: inout Canvas) {
        let sky = Gradient([(0, 0x0B1030), (0.3, 0x1C2458), (0.55, 0x4A3570), (0.72, 0xA05A70)])
        canvas.shade { p in
            let cloud = noise.fractal(Vec2(p.x * 1.6, p.y * 5) + 8, octaves: 5)
            return sky.at(p.y) * (1 + 0.14 * cloud)
        }
        var random = RandomSource(seed: 2310)
        for layer in 0..<3 { paintRow(layer, &canvas, &random) }
        paintTowers(&canvas, &random)
        paintBridge(&canvas)
        paintRiver(&canvas)
    }

    private func paintRow(_ layer: Int, _ canvas: inout Canvas, _ random: inout RandomSource) {
        let near = Float(layer) / 2
        let tint = mix(colour(0x4A3A68), colour(0x10122A), near)
        var x: Float = -0.03
        while x < 1.36 {
            let width = random.within(0.035, 0.085) * mix(0.8, 1.1, near)
            // The skyline swells twice, as if around two squares.
            let swell = 0.55 + 0.75 * bell(x, 0.42, 0.22) + 0.55 * bell(x, 1.0, 0.18)
            let height = mix(0.30, 0.16, near) * swell * random.within(0.65, 1.2) + 0.03
            let roof = random.below(4)
            building(&canvas, x, width, height, tint, lit: mix(0.30, 0.55, near), roof, &random)
            x += width + (layer == 2 ? random.within(-0.004, 0.012) : random.within(-0.012, 0.004))
        }
    }

    private func building(
        _ canvas: inout Canvas, _ x: Float, _ width: Float, _ height: Float, _ tint: Vec3, lit: Float,
        _ roof: Int,
        _ random: inout RandomSource
    ) {
        let top = quay - height
        let box = Box(x - 0.01, top - 0.06, x + width + 0.01, quay)
        canvas.fill({ p in max(abs(p.x - x - width / 2) - width / 2, top - p.y) }, in: box) { p in
            tint * (1.25 - 0.5 * (p.x - x) / width) * mix(0.85, 1.5, smoothstep(top, quay, p.y))
        }
        if roof == 1 {
            canvas.fill(
                { p in max(abs(p.x - x - width / 2) - width / 4, top - 0.018 - p.y) },
                in: Box(x, top - 0.03, x + width, top + 0.01)
            ) { _ in tint }
        } else if roof == 2 {
            canvas.stroke(
                from: Vec2(x + width / 2, top), to: Vec2(x + width / 2, top - 0.045), width: 0.0024,
                tapering: 0.001, tint)
        }
        let size = Vec2(0.0072, 0.0095)
        let columns = max(Int(width / 0.0125), 1)
        let step = width / Float(columns)
        let warm = [colour(0xFFC870), colour(0xFFDFA0), colour(0xFFB050), colour(0xE8F0FF)]
        let mood = random.within(0.4, 1.3) * lit
        for row in 0..<Int((height - 0.012) / 0.0165) {
            let floorLit = random.unit() < 0.12
            for column in 0..<columns {
                let shows = random.unit() < mood || floorLit
                let light = warm[random.below(4)] * random.within(0.35, 1.35)
                guard shows else { continue }
                let place = Vec2(x + (Float(column) + 0.5) * step, top + 0.013 + Float(row) * 0.0165)
                canvas.fill({ p in Outline.box(p, place, size / 2) }, in: Box(around: place, radius: 0.01)) {
                    _ in light
                }
            }
        }
    }

    /// The city's two landmark towers.
    private func paintTowers(_ canvas: inout Canvas, _ random: inout RandomSource) {
        let x: Float = 0.42
        let glassy = colour(0x1B2748)
        canvas.polygon([
            Vec2(x - 0.058, quay), Vec2(x - 0.050, 0.30), Vec2(x - 0.030, 0.235), Vec2(x, 0.175),
            Vec2(x + 0.030, 0.235),
            Vec2(x + 0.050, 0.30), Vec2(x + 0.058, quay),
        ]) { p in glassy * (1.5 - 9 * abs(p.x - x + 0.02)) }
        for row in 0..<27 {
            let y = 0.262 + Float(row) * 0.0163
            let half = y < 0.30 ? Float(0.022) : 0.043
            for column in -4...4 {
                let place = Vec2(x + Float(column) * 0.0102, y)
                let shown = random.unit() < 0.62 && abs(place.x - x) < half
                let light = colour(0xBFE0FF) * random.within(0.35, 1.1)
                guard shown else { continue }
                canvas.fill(
                    { p in Outline.box(p, place, Vec2(0.0036, 0.0050)) }, in: Box(around: place, radius: 0.01)
                ) { _ in light }
            }
        }
        canvas.stroke(from: Vec2(x, 0.18), to: Vec2(x, 0.075), width: 0.006, tapering: 0.0015, glassy)
        canvas.glow(Vec2(x, 0.078), radius: 0.018, Vec3(2.4, 0.35, 0.25))
        for y in [Float(0.235), 0.30] {
            canvas.streak(
                from: Vec2(x - 0.045, y), to: Vec2(x + 0.045, y), width: 0.004, colour(0x58C8FF) * 1.2)
        }
        // A television tower with a ball half way up.
        let t: Float = 1.0
        let pale = colour(0x5A5478)
        canvas.stroke(from: Vec2(t, quay), to: Vec2(t, 0.30), width: 0.026, tapering: 0.010, pale * 0.7)
        canvas.fill(
            { p in Outline.ellipse(p, Vec2(t, 0.335), Vec2(0.040, 0.034)) },
            in: Box(around: Vec2(t, 0.335), radius: 0.06)
        ) { p in
            let ring = smoothstep(0.006, 0.002, abs(p.y - 0.338))
            return mix(pale * (1.3 - 14 * (p.x - t + 0.01)), Vec3(1.5, 1.1, 0.6), ring)
        }
        canvas.stroke(from: Vec2(t, 0.31), to: Vec2(t, 0.13), width: 0.008, tapering: 0.002, pale * 0.8)
        canvas.glow(Vec2(t, 0.132), radius: 0.016, Vec3(2.4, 0.3, 0.25))
    }

    private func paintBridge(_ canvas: inout Canvas) {
        canvas.fill({ p in quay - 0.008 - p.y }, in: Box(0, quay - 0.02, 1.34, quay)) { _ in colour(0x15121F)
        }
        for index in 0..<34 {
            let place = Vec2(0.02 + Float(index) * 0.0402, quay - 0.018)
            canvas.stroke(from: place, to: place + Vec2(0, 0.014), width: 0.0016, colour(0x0A0A12))
            canvas.glow(place, radius: 0.020, colour(0xFFB860) * 1.1)
        }
    }

    private func paintRiver(_ canvas: inout Canvas) {
        let above = canvas
        canvas.shade(keeping: { p in p.y < quay }) { p in
            let depth = p.y - quay
            let away = 1 / (depth + 0.03)
            let wave = noise.fractal(Vec2((p.x - 0.66) * away * 1.1, away * 6), octaves: 5, gain: 0.6)
            // Ripples smear a light far more vertically than horizontally.
            var seen = Vec3.zero
            for step in 0..<7 {
                let smear = (Float(step) - 3) * (0.010 + depth * 0.10) * 0.5
                seen += above.sample(
                    Vec2(
                        p.x + wave * 0.008,
                        quay - depth * 1.15 - 0.004 + smear + wave * (0.006 + depth * 0.18)))
            }
            let body = colour(0x0C1230)
            return body + seen * ((0.78 - 0.35 * smoothstep(0, 0.3, depth)) / 7 * (1 + 0.55 * wave))
        }
    }
}
