/// Firs under new snow, long blue shadows, a red hut.
struct SnowBeforeNoon: Scene {
    private let noise = Noise(2101)
    private let hut = Vec2(0.875, 0.610)

    var film: Film { Film(exposure: 1.0, vignette: 0.04, grain: 0.9, shoulder: 0.7) }

    func paint(_ canvas: inout Canvas) {
        let sky = Gradient([(0, 0xA9CDEB), (0.3, 0xD6E6F2), (0.52, 0xFBF4EA)])
        canvas.shade { p in
            sky.at(p.y) + Vec3(0.30, 0.26, 0.18) * exp(-(p - Vec2(0.05, 0.12)).length * 2.5)
        }
        for layer in 0..<4 { paintSlope(layer, &canvas) }
    }

    private func crest(_ x: Float, _ layer: Int) -> Float {
        let field = Noise(UInt32(2120 + layer))
        switch layer {
        case 0: return 0.46 - 0.15 * field.ridged(Vec2(x * 1.7 + 0.4, 0.5), octaves: 5)
        case 1: return 0.545 - 0.05 * sin(x * 2.6 + 0.5) + 0.006 * field.at(Vec2(x * 7, 1))
        case 2: return 0.63 + 0.05 * sin(x * 2.3 + 1.2) + 0.005 * field.at(Vec2(x * 6, 1))
        default: return 0.835 - 0.065 * sin(x * 2.2 - 0.5) + 0.006 * field.at(Vec2(x * 5, 1))
        }
    }

    private func paintSlope(_ layer: Int, _ canvas: inout Canvas) {
        let far = 1 - Float(layer) / 3
        canvas.shade(keeping: { p in p.y < crest(p.x, layer) }) { p in
            let depth = p.y - crest(p.x, layer)
            let drift = noise.fractal(
                Vec2(p.x * 2.2 + p.y, p.y * 5.5) + Float(layer) * 13, octaves: 5, gain: 0.42)
            let next = noise.fractal(
                Vec2((p.x - 0.012) * 2.2 + p.y, p.y * 5.5) + Float(layer) * 13, octaves: 5, gain: 0.42)
            var lit = clamp(0.70 + (drift - next) * 4.5 - depth * 0.25)
            if layer == 0 {
                let field = Noise(2140)
                let here = field.ridged(p * Vec2(5, 7), octaves: 5)
                lit = clamp(
                    0.55 + (here - field.ridged((p - Vec2(0.008, 0.003)) * Vec2(5, 7), octaves: 5)) * 4)
            }
            let sparkle = smoothstep(0.80, 0.92, noise.at(p * 300)) * 0.35 * (1 - far)
            let snow = mix(colour(0xA9C4E6), colour(0xFFFBF4), lit) + Vec3(repeating: sparkle)
            return mix(snow, colour(0xE9F0F6), far * 0.55)
        }
        if layer == 2 { paintHut(&canvas) }
        if layer > 0 { paintFirs(layer, &canvas) }
    }

    private func paintFirs(_ layer: Int, _ canvas: inout Canvas) {
        var random = RandomSource(seed: UInt64(2160 + layer))
        var trees: [(foot: Vec2, height: Float)] = []
        switch layer {
        case 1:
            for _ in 0..<46 {
                let x = random.within(0, 1.34)
                trees.append((Vec2(x, crest(x, 1) + random.within(0.002, 0.05)), random.within(0.05, 0.10)))
            }
        case 2:
            for (x, down, height) in [
                (Float(0.62), Float(0.01), Float(0.20)), (0.70, 0.04, 0.25), (1.02, 0.015, 0.24),
                (1.10, 0.03, 0.19), (1.17, 0.05, 0.29),
                (1.27, 0.03, 0.22), (0.53, 0.06, 0.16),
            ] {
                trees.append((Vec2(x, crest(x, 2) + down), height))
            }
        default:
            for (x, down, height) in [
                (Float(0.20), Float(0.055), Float(0.72)), (0.385, 0.03, 0.45), (0.045, 0.03, 0.50),
            ] {
                trees.append((Vec2(x, crest(x, 3) + down), height))
            }
        }
        trees.sort { ($0.foot.y, $0.foot.x) < ($1.foot.y, $1.foot.x) }
        for tree in trees { shadow(&canvas, tree.foot, tree.height) }
        let haze: Float = layer == 1 ? 0.55 : (layer == 2 ? 0.22 : 0)
        let dark = mix(colour(0x12302C), colour(0xB8CCDC), haze)
        let light = mix(colour(0x3E6A50), colour(0xC8D8E0), haze)
        for tree in trees { canvas.fir(foot: tree.foot, height: tree.height, dark, light: light, snow: 0.62) }
    }

    /// A long blue shadow that falls down and to the right.
    private func shadow(_ canvas: inout Canvas, _ foot: Vec2, _ height: Float) {
        let way = Vec2(0.93, 0.33)
        let reach = height * 0.95
        canvas.filter(in: Box(foot.x - 0.1, foot.y - 0.05, foot.x + reach, foot.y + reach * 0.5)) { p in
            let d = p - foot
            let along = dot(d, way) / reach
            let across = abs(d.x * way.y - d.y * way.x)
            guard along > -0.06, along < 1 else { return Vec3(1, 1, 1) }
            let teeth = 0.75 + 0.25 * fract(along * 8)
            let half = height * 0.11 * (1 - max(along, 0)) * smoothstep(-0.06, 0.12, along) * teeth + 0.004
            let cover = smoothstep(half + 0.004 + 0.012 * along, half - 0.004 - 0.012 * along, across)
            return mix(Vec3(1, 1, 1), Vec3(0.54, 0.66, 0.86), cover * 0.85)
        }
    }

    private func paintHut(_ canvas: inout Canvas) {
        let w: Float = 0.068
        canvas.filter(in: Box(around: hut + Vec2(0.12, 0.03), radius: 0.14)) { p in
            let inside = Outline.box(
                p - Vec2(0.9 * (p.y - hut.y), 0), hut + Vec2(0.10, 0.035), Vec2(0.10, 0.026))
            return mix(Vec3(1, 1, 1), Vec3(0.54, 0.66, 0.86), smoothstep(0.006, -0.006, inside) * 0.85)
        }
        canvas.polygon([
            hut + Vec2(-w, -0.062), hut + Vec2(w, -0.062), hut + Vec2(w, 0.014), hut + Vec2(-w, 0.014),
        ]) { p in
            let board = smoothstep(0.40, 0.5, abs(fract((p.x - hut.x) * 75) - 0.5))
            let side: Float = p.x < hut.x - 0.012 ? 1 : 0.62
            return colour(0xC23A2E) * (side * (1 - 0.3 * board))
        }
        canvas.polygon([hut + Vec2(-w, -0.062), hut + Vec2(-0.04, -0.112), hut + Vec2(-0.012, -0.062)]) { _ in
            colour(0xC23A2E)
        }
        canvas.polygon([
            hut + Vec2(-0.042, -0.124), hut + Vec2(w + 0.004, -0.124), hut + Vec2(w + 0.030, -0.055),
            hut + Vec2(-0.010, -0.055),
        ]) { p in mix(colour(0xFFFCF6), colour(0xBCD0EA), smoothstep(hut.y - 0.12, hut.y - 0.05, p.y)) }
        canvas.stroke(
            from: hut + Vec2(-0.042, -0.120), to: hut + Vec2(-w - 0.012, -0.055), width: 0.011,
            colour(0xFDFBF8))
        canvas.polygon([
            hut + Vec2(0.036, -0.150), hut + Vec2(0.054, -0.150), hut + Vec2(0.054, -0.105),
            hut + Vec2(0.036, -0.105),
        ]) { _ in colour(0x6A4A44) }
        canvas.stroke(
            from: hut + Vec2(0.035, -0.152), to: hut + Vec2(0.055, -0.152), width: 0.008, colour(0xFFFCF6))
        for x in [Float(-0.046), 0.012, 0.044] {
            canvas.fill(
                { p in Outline.box(p, hut + Vec2(x, -0.030), Vec2(0.010, 0.012)) },
                in: Box(around: hut, radius: 0.1)
            ) { _ in
                colour(0x2A2E3C)
            }
            canvas.stroke(
                from: hut + Vec2(x - 0.012, -0.016), to: hut + Vec2(x + 0.012, -0.016), width: 0.003,
                colour(0xFFFFFF))
        }
        for step in 0..<7 {
            let rise = Float(step)
            let place = hut + Vec2(0.046 + rise * 0.004 + 0.005 * sin(rise * 1.4), -0.165 - rise * 0.020)
            canvas.glaze(in: Box(around: place, radius: 0.05)) { p in
                let soft = smoothstep(0.010 + rise * 0.004, 0, (p - place).length + 0.006 * noise.at(p * 60))
                return (colour(0xF4F2F0), soft * (0.55 - rise * 0.06))
            }
        }
    }
}
