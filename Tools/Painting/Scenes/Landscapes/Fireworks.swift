/// Three shells burst over the harbour at once.
struct Fireworks: Scene {
    private let noise = Noise(2501)
    private let water: Float = 1.08

    var format: PictureFormat { .portrait }
    var film: Film { Film(exposure: 1.1, saturation: 1.1, vignette: 0.1, grain: 1.4) }

    func paint(_ canvas: inout Canvas) {
        let sky = Gradient([(0, 0x05060F), (0.6, 0x0C1028), (1.08, 0x2A2038)])
        canvas.shade { p in
            let smoke = smoothstep(-0.1, 0.9, noise.fractal(Vec2(p.x * 2.6, p.y * 2.6) + 5, octaves: 6))
            let lit =
                colour(0xB04060) * exp(-(p - Vec2(0.62, 0.36)).length * 3.2) + colour(0x3060B0)
                * exp(-(p - Vec2(0.25, 0.62)).length * 4.5)
            return sky.at(p.y) + lit * (0.06 + 0.26 * smoke)
        }
        var random = RandomSource(seed: 2510)
        rocket(&canvas, Vec2(0.56, water), Vec2(0.62, 0.36), &random)
        rocket(&canvas, Vec2(0.34, water), Vec2(0.25, 0.62), &random)
        rocket(&canvas, Vec2(0.70, water), Vec2(0.80, 0.76), &random)
        burst(&canvas, Vec2(0.62, 0.36), 0.335, 120, colour(0xFF4A5A), colour(0xFFD070), &random)
        burst(&canvas, Vec2(0.62, 0.36), 0.17, 60, colour(0xFFE8C0), colour(0xFFB040), &random)
        burst(&canvas, Vec2(0.25, 0.62), 0.215, 90, colour(0x4AA8FF), colour(0xC8F0FF), &random)
        burst(&canvas, Vec2(0.80, 0.76), 0.155, 70, colour(0x58E080), colour(0xF0FFB0), &random)
        paintTown(&canvas, &random)
        paintHarbour(&canvas)
    }

    private func rocket(_ canvas: inout Canvas, _ start: Vec2, _ end: Vec2, _ random: inout RandomSource) {
        var place = start
        for step in 1...40 {
            let t = Float(step) / 40
            let next = mix(start, end, t) + Vec2(0.012 * sin(t * 3.1), 0)
            canvas.streak(from: place, to: next, width: 0.0022, colour(0xFFB060) * (0.10 + 0.28 * t * t))
            place = next
        }
    }

    /// One shell: sparks fly outwards in all directions, slow down, sink and go out.
    private func burst(
        _ canvas: inout Canvas, _ middle: Vec2, _ reach: Float, _ count: Int, _ tint: Vec3, _ heart: Vec3,
        _ random: inout RandomSource
    ) {
        canvas.glow(middle, radius: reach * 1.5, tint * 0.16)
        canvas.glow(middle, radius: reach * 0.32, heart * 0.8)
        for index in 0..<count {
            // Directions over a ball, seen from the side.
            let height = random.within(-1, 1)
            let turn = (Float(index) * 0.618_034 + 0.03 * random.unit()) * 2 * Float.pi
            let flat = (1 - height * height).squareRoot()
            let way = Vec2(cos(turn) * flat, height) * (reach * random.within(0.86, 1.04))
            var place = middle + way * 0.08
            let steps = 30
            for step in 1...steps {
                let t = Float(step) / Float(steps)
                let flown = 1 - (1 - t) * (1 - t)
                let next = middle + way * (0.08 + 0.92 * flown) + Vec2(0, reach * 0.24 * t * t)
                let glowing = mix(heart, tint, smoothstep(0.05, 0.5, t))
                let bright = (0.28 + 1.5 * t * t) * smoothstep(1.04, 0.86, t)
                canvas.streak(from: place, to: next, width: 0.0030, tapering: 0.0034, glowing * bright)
                place = next
            }
            canvas.glow(place, radius: 0.014, tint * 0.7)
            canvas.glow(place, radius: 0.0055, Vec3(1.4, 1.3, 1.2))
            if random.unit() < 0.5 {
                let stray =
                    middle + way * random.within(0.45, 1.1) + Vec2(0, reach * random.within(0.05, 0.3))
                canvas.glow(stray, radius: 0.004, heart * 1.4)
            }
        }
    }

    private func paintTown(_ canvas: inout Canvas, _ random: inout RandomSource) {
        var x: Float = -0.02
        while x < 1.02 {
            let width = random.within(0.035, 0.08)
            let height = random.within(0.03, 0.075)
            let roof = random.within(0.008, 0.026)
            let top = water - height
            canvas.polygon([
                Vec2(x, water), Vec2(x, top), Vec2(x + width / 2, top - roof), Vec2(x + width, top),
                Vec2(x + width, water),
            ]) { _ in colour(0x080810) }
            for _ in 0..<random.below(4) {
                let place = Vec2(x + random.within(0.2, 0.8) * width, top + random.within(0.2, 0.8) * height)
                canvas.fill(
                    { p in Outline.box(p, place, Vec2(0.0035, 0.0045)) }, in: Box(around: place, radius: 0.01)
                ) { _ in colour(0xFFB858) * 1.1 }
            }
            x += width
        }
        // The church identifies the place.
        canvas.polygon([
            Vec2(0.10, water), Vec2(0.10, 0.965), Vec2(0.125, 0.89), Vec2(0.15, 0.965), Vec2(0.15, water),
        ]) { _ in colour(0x07070E) }
        canvas.stroke(from: Vec2(0.125, 0.895), to: Vec2(0.125, 0.868), width: 0.0022, colour(0x07070E))
        canvas.glow(Vec2(0.125, 0.985), radius: 0.014, colour(0xFFD890) * 1.3)
        for index in 0..<15 {
            canvas.glow(
                Vec2(0.03 + Float(index) * 0.068, water - 0.006), radius: 0.015, colour(0xFFB050) * 1.2)
        }
    }

    private func paintHarbour(_ canvas: inout Canvas) {
        let above = canvas
        canvas.shade(keeping: { p in p.y < water }) { p in
            let depth = p.y - water
            let away = 1 / (depth + 0.04)
            let wave = noise.fractal(Vec2((p.x - 0.5) * away * 1.4, away * 6), octaves: 4, gain: 0.6)
            var seen = Vec3.zero
            for step in 0..<9 {
                let smear = (Float(step) - 4) * (0.006 + depth * 0.10)
                seen += above.sample(
                    Vec2(
                        p.x + wave * 0.012, water - depth * 2.6 - 0.004 + smear + wave * (0.01 + depth * 0.30)
                    ))
            }
            return colour(0x06070F) + seen * (0.10 * (1 + 0.7 * wave))
        }
        boat(&canvas, Vec2(0.36, 1.215), 0.055)
        boat(&canvas, Vec2(0.70, 1.165), 0.034)
    }

    private func boat(_ canvas: inout Canvas, _ place: Vec2, _ size: Float) {
        let dark = colour(0x020307)
        canvas.polygon([
            place + Vec2(-size, -size * 0.16), place + Vec2(size, -size * 0.22),
            place + Vec2(size * 0.72, size * 0.14),
            place + Vec2(-size * 0.78, size * 0.14),
        ]) { _ in dark }
        canvas.stroke(
            from: place, to: place + Vec2(0, -size * 2.0), width: size * 0.06, tapering: size * 0.03, dark)
        canvas.stroke(
            from: place + Vec2(0, -size * 1.95), to: place + Vec2(size * 0.95, -size * 0.2),
            width: size * 0.02, dark)
        canvas.stroke(
            from: place + Vec2(0, -size * 1.95), to: place + Vec2(-size * 0.95, -size * 0.15),
            width: size * 0.02, dark)
        canvas.glow(place + Vec2(0, -size * 2.0), radius: size * 0.22, Vec3(1.4, 1.3, 1.0))
    }
}
