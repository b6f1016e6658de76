/// Green curtains of northern light over a hut in the snow.
struct NorthernLights: Scene {
    private let noise = Noise(2601)

    var film: Film { Film(exposure: 1.05, saturation: 1.08, vignette: 0.2, grain: 1.4) }

    func paint(_ canvas: inout Canvas) {
        let sky = Gradient([(0, 0x060A22), (0.45, 0x0C2040), (0.75, 0x1B4455)])
        canvas.shade { p in sky.at(p.y) }
        paintStars(&canvas)
        canvas.lighten { p in curtains(p) }
        paintMountains(&canvas)
        paintSnow(&canvas)
        paintTrees(&canvas)
        paintHut(&canvas)
    }

    private func paintStars(_ canvas: inout Canvas) {
        var random = RandomSource(seed: 2610)
        for _ in 0..<700 {
            let place = Vec2(random.unit() * 1.34, random.unit() * 0.72)
            let rank = random.unit()
            canvas.glow(
                place, radius: random.within(0.0018, 0.0034),
                Vec3(0.85, 0.92, 1.0) * (0.15 + 1.6 * rank * rank * rank * rank))
        }
    }

    /// The light of four curtains: bright along a winding lower hem, fading upwards in rays.
    private func curtains(_ p: Vec2) -> Vec3 {
        var light = Vec3.zero
        for index in 0..<4 {
            let key = Float(index)
            let fold =
                0.13 * noise.at(Vec2(p.x * 1.25 + key * 9, key * 3.3)) + 0.045
                * noise.at(Vec2(p.x * 3.6 + key * 5, 7 + key))
            let hem = [Float(0.545), 0.43, 0.33, 0.235][index] + fold - 0.10 * (p.x - 0.75)
            let up = hem - p.y
            // Rays appear in the folds; a curtain is brightest where it is seen edge on.
            let lean = p.x + up * (0.10 * (p.x - 0.66))
            let rays =
                0.6 + 0.5 * noise.at(Vec2(lean * 26 + key * 3, 2)) + 0.28 * noise.at(Vec2(lean * 75, 5 + key))
            let strength =
                0.35 + 0.65 * smoothstep(-0.35, 0.45, noise.at(Vec2(p.x * 1.6 + key * 4.4, key + 0.5)))
            let tall =
                [Float(0.30), 0.34, 0.24, 0.16][index] * (0.7 + 0.45 * noise.at(Vec2(p.x * 2.4 + key * 7, 3)))
            let body = up < 0 ? exp(up * 75) : exp(-up / tall * 2.4) * (1 - 0.25 * exp(-up * 40))
            let share = clamp(up / tall)
            let tint = mix(
                mix(colour(0x66FF9A), colour(0x2CC890), smoothstep(0, 0.35, share)), colour(0xA050C8),
                smoothstep(0.3, 0.95, share))
            light += tint * (max(rays, 0.05) * strength * body * [Float(0.85), 0.75, 0.42, 0.30][index])
        }
        return light + colour(0x1A6A50) * (0.16 * exp(-abs(p.y - 0.5) * 4))
    }

    private func crest(_ x: Float) -> Float {
        0.735 - 0.13 * noise.ridged(Vec2(x * 1.9 + 2.2, 0.5), octaves: 6) - 0.03 * bell(x, 1.05, 0.3)
    }

    private func ground(_ x: Float) -> Float {
        0.765 + 0.022 * sin(x * 3.1 + 0.6) + 0.003 * noise.at(Vec2(x * 8, 1))
    }

    private func paintMountains(_ canvas: inout Canvas) {
        canvas.shade(keeping: { p in p.y < crest(p.x) }) { p in
            let here = noise.ridged(p * Vec2(6, 8), octaves: 5)
            let next = noise.ridged((p + Vec2(0.004, -0.006)) * Vec2(6, 8), octaves: 5)
            let lit = clamp(0.4 + (here - next) * 5)
            return mix(colour(0x0E2036), colour(0x4E8A88), lit * smoothstep(0.2, 0.02, p.y - crest(p.x)))
        }
    }

    private func paintSnow(_ canvas: inout Canvas) {
        canvas.shade(keeping: { p in p.y < ground(p.x) }) { p in
            let depth = p.y - ground(p.x)
            let drift = noise.fractal(Vec2(p.x * 2.2 + p.y * 2, p.y * 8), octaves: 5, gain: 0.45)
            let next = noise.fractal(Vec2(p.x * 2.2 + p.y * 2, (p.y - 0.012) * 8), octaves: 5, gain: 0.45)
            let lit = clamp(0.55 + (drift - next) * 2.2 - depth * 0.9)
            let green = mix(colour(0x1A3450), colour(0x86C8B4), lit)
            // A well-trodden path to the door.
            let path = abs(p.x - 0.425 - 0.16 * sin(depth * 9) * (0.3 + depth * 3)) - 0.008 - depth * 0.07
            return green
                * (1 - 0.38 * smoothstep(0.012, -0.006, path + 0.006 * noise.at(p * 50))
                    * smoothstep(0.0, 0.02, depth - 0.035))
        }
    }

    private func paintTrees(_ canvas: inout Canvas) {
        var random = RandomSource(seed: 2630)
        for _ in 0..<120 {
            let x = random.within(0, 1.34)
            guard abs(x - 0.42) > 0.10 else { continue }
            canvas.fir(
                foot: Vec2(x, ground(x) + random.within(0, 0.012)), height: random.within(0.028, 0.062),
                colour(0x07121C), light: colour(0x1C4444))
        }
        for (x, down, height) in [
            (Float(1.20), Float(0.11), Float(0.44)), (1.065, 0.07, 0.27), (1.315, 0.13, 0.34),
            (0.075, 0.10, 0.31), (0.165, 0.06, 0.18), (0.955, 0.045, 0.15),
        ] {
            canvas.fir(
                foot: Vec2(x, ground(x) + down), height: height, colour(0x050D14), light: colour(0x1D4A44),
                snow: 0.28)
        }
    }

    private func paintHut(_ canvas: inout Canvas) {
        let foot = Vec2(0.42, ground(0.42) + 0.040)
        canvas.glow(foot + Vec2(0.01, 0.0), radius: 0.19, colour(0xFFA040) * 0.30)
        canvas.polygon([
            foot + Vec2(-0.075, -0.070), foot + Vec2(0.075, -0.070), foot + Vec2(0.075, 0),
            foot + Vec2(-0.075, 0),
        ]) { p in
            let log = smoothstep(0.34, 0.5, abs(fract(p.y * 78) - 0.5))
            return colour(0x3C2418) * (1 - 0.45 * log)
        }
        canvas.polygon([
            foot + Vec2(-0.064, -0.128), foot + Vec2(0.064, -0.128), foot + Vec2(0.097, -0.062),
            foot + Vec2(-0.097, -0.062),
        ]) { p in mix(colour(0x9ADCC4), colour(0x3A7078), smoothstep(foot.y - 0.13, foot.y - 0.06, p.y)) }
        for (x, half) in [(Float(-0.042), Vec2(0.015, 0.014)), (0.045, Vec2(0.015, 0.014))] {
            let place = foot + Vec2(x, -0.036)
            canvas.fill({ p in Outline.box(p, place, half) }, in: Box(around: place, radius: 0.03)) { p in
                let bar = min(abs(p.x - place.x), abs(p.y - place.y))
                return mix(colour(0x3C2418), Vec3(2.2, 1.35, 0.45), smoothstep(0.001, 0.0025, bar))
            }
            canvas.glow(place, radius: 0.06, colour(0xFFA040) * 0.35)
        }
        canvas.fill(
            { p in Outline.box(p, foot + Vec2(0.002, -0.024), Vec2(0.013, 0.024)) },
            in: Box(around: foot, radius: 0.06)
        ) { _ in colour(0x1C0F0A) }
        canvas.polygon([
            foot + Vec2(0.030, -0.158), foot + Vec2(0.048, -0.158), foot + Vec2(0.048, -0.112),
            foot + Vec2(0.030, -0.112),
        ]) { _ in colour(0x2A2426) }
    }
}
