/// Rolling hills in the first sun, mist in the hollows, a farmhouse and a row of cypresses.
struct MistyHills: Scene {
    private let noise = Noise(401)

    var film: Film { Film(exposure: 1.02, saturation: 1.05, vignette: 0.16) }

    func paint(_ canvas: inout Canvas) {
        let sky = Gradient([(0, 0x8FB2CC), (0.25, 0xCFDCD6), (0.42, 0xFBE9C4), (0.5, 0xFFE3AE)])
        let sun = Vec2(0.20, 0.27)
        canvas.shade { p in
            let toSun = (p - sun).length
            let veil = noise.fractal(Vec2(p.x * 1.5, p.y * 5), octaves: 5)
            return sky.at(p.y) * (1 + 0.05 * veil) + colour(0xFFD890) * (0.9 * exp(-toSun * 6)) + Vec3(
                2.0, 1.8, 1.3)
                * smoothstep(0.045, 0.035, toSun)
        }
        for layer in 0..<7 {
            paintHill(layer, &canvas)
            if layer == 3 { paintFarm(&canvas) }
        }
        canvas.lighten { p in colour(0xFFD088) * (0.16 * exp(-(p - sun).length * 2.2)) }
    }

    private func crest(_ x: Float, _ layer: Int) -> Float {
        let near = Float(layer) / 6
        let field = Noise(UInt32(420 + layer))
        let base = mix(0.41, 0.90, pow(near, 1.1))
        let swell =
            mix(0.035, 0.10, near)
            * field.fractal(Vec2(x * mix(2.4, 1.05, near), 2.5), octaves: 2, gain: 0.25)
        // The farm stands on a hill of its own.
        let knoll = layer == 3 ? 0.085 * bell(x, 0.98, 0.26) : 0
        return base - swell - knoll
    }

    private func paintHill(_ layer: Int, _ canvas: inout Canvas) {
        let near = Float(layer) / 6
        let lit = Gradient([(0, 0xDCD9B0), (0.4, 0xB9BE72), (0.7, 0x9BAA42), (1, 0x71882A)]).at(near)
        let shade = Gradient([(0, 0xB4C0B4), (0.4, 0x7F9A70), (0.7, 0x4E6F38), (1, 0x263F1C)]).at(near)
        let mist = mix(colour(0xFFEFCF), colour(0xEFE9D2), near)
        let field = Noise(UInt32(440 + layer))

        canvas.shade(keeping: { p in p.y < crest(p.x, layer) }) { p in
            let depth = p.y - crest(p.x, layer)
            let slope = (crest(p.x + 0.01, layer) - crest(p.x - 0.01, layer)) / 0.02
            let roll = field.fractal(Vec2(p.x * 2.2, p.y * 4 + depth * 3), octaves: 4, gain: 0.45)
            var light = mix(shade, lit, smoothstep(0.40, -0.28, slope + roll * 0.22 + depth * 1.4 - 0.06))
            light *= 1 + furrows(p, depth, layer)
            let grass = noise.fractal(p * Vec2(70, 160), octaves: 3)
            light *= 1 + 0.10 * grass * near
            light += colour(0xFFE9A0) * (0.16 * exp(-depth * 110) * smoothstep(0.2, -0.3, slope))
            let drift = 0.05 * field.fractal(Vec2(p.x * 3, p.y * 9) + 7, octaves: 4)
            let pool = smoothstep(0.03, mix(0.10, 0.22, near), depth + drift)
            return mix(light, mist, pool * mix(0.96, 0.55, near) * (layer == 6 ? 0.15 : 1))
        }
        if layer == 2 || layer == 4 || layer == 5 { paintTrees(layer, &canvas) }
    }

    /// Vines or ploughed rows that follow the terrain, on some fields only.
    private func furrows(_ p: Vec2, _ depth: Float, _ layer: Int) -> Float {
        guard layer >= 3 else { return 0 }
        let patch = noise.at(Vec2(p.x * 1.7 + Float(layer) * 5, Float(layer)))
        let shown = smoothstep(0.02, 0.14, abs(patch)) * smoothstep(0.004, 0.03, depth)
        let direction: Float = patch > 0 ? 1 : -0.7
        let rows = Float(layer == 6 ? 26 : 60)
        let across = (p.x * direction + depth * 0.9 + 0.1 * noise.at(p * 3)) / (0.45 + depth * 1.6)
        return 0.17 * shown * sin(across * rows)
    }

    private func paintTrees(_ layer: Int, _ canvas: inout Canvas) {
        let near = Float(layer) / 6
        let dark = mix(colour(0xA9B68C), colour(0x22381A), smoothstep(0.25, 0.72, near))
        var random = RandomSource(seed: UInt64(460 + layer))
        for _ in 0..<(layer == 5 ? 5 : 16) {
            let x = random.within(0, 1.34)
            let size = mix(0.010, 0.044, near * near) * random.within(0.7, 1.3)
            let foot = Vec2(x, crest(x, layer) + size * 0.2)
            canvas.fill(
                { p in
                    let rough = size * 0.30 * noise.fractal(p * (1.1 / size), octaves: 3)
                    return Outline.ellipse(p, foot - Vec2(0, size * 0.7), Vec2(size * 0.9, size * 0.8))
                        + rough
                }, in: Box(around: foot, radius: size * 2.4)
            ) { p in
                let side = (p.x - foot.x) / size
                return dark * (1.25 - 0.45 * side + 0.3 * noise.at(p * (3 / size)))
            }
        }
    }

    private func paintFarm(_ canvas: inout Canvas) {
        let x: Float = 0.955
        let foot = Vec2(x, crest(x, 3) + 0.012)
        let walls = foot + Vec2(0, -0.028)
        canvas.fill({ p in Outline.box(p, walls, Vec2(0.052, 0.028)) }, in: Box(around: foot, radius: 0.2)) {
            p in
            p.x < x - 0.02 ? colour(0xFFE6B8) : colour(0xB99876)
        }
        canvas.polygon([
            walls + Vec2(-0.062, -0.026), walls + Vec2(-0.040, -0.056), walls + Vec2(0.052, -0.056),
            walls + Vec2(0.062, -0.026),
        ]) { p in p.x < x - 0.018 ? colour(0xE28A5C) : colour(0xA3553C) }
        for dx in [Float(-0.004), 0.016, 0.036] {
            canvas.fill(
                { p in Outline.box(p, walls + Vec2(dx, 0.002), Vec2(0.004, 0.008)) },
                in: Box(around: walls, radius: 0.1)
            ) { _ in colour(0x4A3428) }
        }
        for (index, dx) in [Float(-0.30), -0.255, -0.215, -0.18, -0.15, -0.125, 0.085, 0.115, 0.15]
            .enumerated()
        {
            let tall = 0.085 + 0.03 * noise.unit(Int32(index), 77)
            let base = Vec2(x + dx, crest(x + dx, 3) + 0.006)
            canvas.fill(
                { p in
                    let t = clamp((base.y - p.y) / tall)
                    let half =
                        0.0105 * pow(sin(Float.pi * (0.12 + 0.88 * t)), 0.7) + 0.001 * noise.at(p * 300)
                    return max(abs(p.x - base.x) - half, max(p.y - base.y, base.y - tall - p.y))
                }, in: Box(around: base, radius: 0.13)
            ) { p in
                mix(colour(0x71803C), colour(0x22361E), smoothstep(-0.009, 0.004, p.x - base.x))
            }
        }
    }
}
