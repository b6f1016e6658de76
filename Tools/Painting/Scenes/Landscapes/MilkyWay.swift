/// The Milky Way over a ridge, with a lit tent below.
struct MilkyWay: Scene {
    private let noise = Noise(2201)

    var format: PictureFormat { .portrait }
    var film: Film { Film(exposure: 1.1, saturation: 1.05, vignette: 0.2, grain: 1.5) }

    func paint(_ canvas: inout Canvas) {
        let airglow = Gradient([(0, 0x060A1E), (0.6, 0x0C1838), (1.0, 0x1C3A5A), (1.15, 0x3C6070)])
        canvas.shade { p in
            airglow.at(p.y) + band(p)
        }
        paintStars(&canvas)
        paintRidges(&canvas)
        paintTent(&canvas)
    }

    /// Returns the position across and along the band, which leans and bends a little.
    private func galactic(_ p: Vec2) -> Vec2 {
        let q = (p - Vec2(0.55, 0.50)).turned(by: -1.08)
        return Vec2(q.x, q.y + 0.10 * q.x * q.x + 0.03 * noise.at(p * 2))
    }

    /// Returns the light of all stars too faint to be seen singly, behind dust.
    private func band(_ p: Vec2) -> Vec3 {
        let g = galactic(p)
        let cloud = noise.fractal(g * Vec2(3.2, 5.5), octaves: 7, gain: 0.55)
        let core = exp(-((g - Vec2(0.20, 0)) / Vec2(0.40, 0.16)).length * 1.6)
        let width = 0.085 + 0.05 * core
        let body = bell(g.y, 0.02 * cloud, width)
        let dustField = noise.fractal(g * Vec2(4.5, 9) + 20, octaves: 7, gain: 0.58)
        let lane = bell(g.y, 0.012 + 0.03 * noise.at(Vec2(g.x * 5, 4)), 0.034 + 0.02 * core)
        let dust = clamp(
            smoothstep(-0.25, 0.55, dustField) * lane * 1.35 + smoothstep(0.3, 0.9, dustField) * body * 0.4)
        let tint = mix(colour(0x7C9AD8), colour(0xFFD8B0), clamp(core * 1.3 + 0.12))
        var light = tint * (body * (0.10 + 0.55 * core) * (1 + 0.65 * cloud))
        light *= 1 - 0.90 * dust
        light += colour(0xB04A30) * (0.05 * dust * body)
        // Two rosy nebulae.
        for (place, size) in [(Vec2(0.02, 0.03), Float(0.025)), (Vec2(0.33, -0.05), 0.030)] {
            light += colour(0xE85A78) * (0.22 * exp(-(g - place).length / size) * (1 + 0.5 * cloud))
        }
        return light
    }

    private func paintStars(_ canvas: inout Canvas) {
        var random = RandomSource(seed: 2210)
        let tints = [
            colour(0xBFD2FF), colour(0xE4ECFF), colour(0xFFFFFF), colour(0xFFF0D8), colour(0xFFD2A8),
        ]
        for index in 0..<6200 {
            var place = Vec2(random.unit(), random.unit() * 1.2)
            // Two thirds lie in the band.
            if index % 3 != 0 {
                let along = random.within(-0.75, 0.75)
                place = Vec2(0.55, 0.50) + Vec2(along, random.bellShaped() * 0.085).turned(by: 1.08)
            }
            let rank = random.unit()
            let bright = 0.10 + 0.5 * rank * rank * rank
            let tint = tints[random.below(5)]
            canvas.glow(place, radius: random.within(0.0014, 0.0026), tint * (bright * 2.2))
        }
        for _ in 0..<60 {
            let place = Vec2(random.unit(), random.unit() * 1.1)
            let bright = random.within(0.5, 1.6)
            let tint = tints[random.below(5)]
            canvas.glow(place, radius: 0.0042, tint * (bright * 2.0))
            canvas.glow(place, radius: 0.013, tint * (bright * 0.18))
        }
    }

    private func crest(_ x: Float, _ layer: Int) -> Float {
        let field = Noise(UInt32(2220 + layer))
        switch layer {
        case 0: return 1.13 - 0.15 * field.ridged(Vec2(x * 2.0 + 1.3, 0.5), octaves: 6)
        case 1: return 1.20 - 0.11 * field.ridged(Vec2(x * 1.7, 2.5), octaves: 6) - 0.03 * x
        default: return 1.265 - 0.03 * sin(x * 3 + 0.4) - 0.008 * field.fractal(Vec2(x * 14, 1), octaves: 3)
        }
    }

    private func paintRidges(_ canvas: inout Canvas) {
        let tints = [colour(0x16263A), colour(0x0A1422), colour(0x05080D)]
        for layer in 0..<3 {
            canvas.shade(keeping: { p in p.y < crest(p.x, layer) }) { p in
                let depth = p.y - crest(p.x, layer)
                let relief = noise.ridged(p * 9 + Float(layer), octaves: 4)
                let mist = layer < 2 ? colour(0x2C4A5C) * (0.4 * smoothstep(0.02, 0.12, depth)) : .zero
                return tints[layer] * (0.7 + 0.6 * relief) + mist
            }
        }
    }

    private func paintTent(_ canvas: inout Canvas) {
        let foot = Vec2(0.335, 1.262)
        canvas.glow(foot + Vec2(0, -0.02), radius: 0.17, colour(0xFF9A3C) * 0.35)
        canvas.fill(
            { p in
                let q = p - foot
                return max(abs(q.x) * 0.66 - (q.y + 0.088) * 0.75 - 2.4 * q.x * q.x, q.y)
            }, in: Box(around: foot, radius: 0.14)
        ) { p in
            let q = p - foot
            let lamp = exp(-(q + Vec2(-0.005, 0.022)).length * 26)
            let pole = smoothstep(0.0022, 0.001, abs(q.x + 0.020 + q.y * 0.32)) * 0.55
            let cloth = mix(colour(0xB8480C), colour(0xFFC060), lamp)
            return cloth * (0.55 + 1.5 * lamp) * (1 - pole)
        }
        // Someone stands beside it and looks up.
        let person = foot + Vec2(0.125, -0.006)
        let dark = colour(0x04060A)
        canvas.stroke(
            from: person + Vec2(0, 0.012), to: person + Vec2(0.001, -0.030), width: 0.0125, tapering: 0.0165,
            dark)
        canvas.disc(person + Vec2(0.0, -0.046), radius: 0.0082, dark)
        canvas.glow(person + Vec2(-0.004, -0.052), radius: 0.012, Vec3(1.6, 1.5, 1.2))
    }
}
