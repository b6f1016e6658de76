/// Snowy mountains and their reflection in water.
struct StillLake: Scene {
    private let noise = Noise(501)
    private let shore: Float = 0.60

    var film: Film { Film(exposure: 1.0, saturation: 1.08, vignette: 0.15) }

    func paint(_ canvas: inout Canvas) {
        let sky = Gradient([(0, 0x2B6CB8), (0.3, 0x78AEDC), (0.6, 0xDCE9EE)])
        canvas.shade { p in
            let wisps = noise.fractal(Vec2(p.x * 2.2 + p.y, p.y * 7), octaves: 6)
            return mix(sky.at(p.y), Vec3(1, 0.99, 0.97), smoothstep(0.05, 1.0, wisps) * 0.6)
        }
        paintMountains(&canvas)
        paintWood(&canvas)
        paintWater(&canvas)
        paintStones(&canvas)
    }

    private func paintMountains(_ canvas: inout Canvas) {
        for layer in 0..<3 {
            let far = 1 - Float(layer) / 2
            canvas.shade(keeping: { p in p.y < crest(p.x, layer) }) { p in
                mix(rock(p, layer), colour(0xB4CCE2), far * 0.42 + 0.22 * smoothstep(0.36, 0.60, p.y))
            }
        }
    }

    private func crest(_ x: Float, _ layer: Int) -> Float {
        let field = Noise(UInt32(520 + layer))
        let rough = field.ridged(Vec2(x * 2.6 + Float(layer) * 3, 0.7), octaves: 7)
        switch layer {
        case 0: return 0.47 - 0.17 * rough
        case 1:
            let peak = 0.34 * clamp(1 - abs(x - 0.80) / 0.52) + 0.05 * clamp(1 - abs(x - 0.62) / 0.16)
            return 0.53 - peak * (0.88 + 0.2 * rough) - 0.07 * rough
        default:
            let left = 0.24 * clamp(1 - abs(x - 0.12) / 0.50)
            let right = 0.15 * clamp(1 - abs(x - 1.34) / 0.34)
            return 0.585 - (left + right) * (0.8 + 0.4 * rough) - 0.03 * rough
        }
    }

    /// Rock with snow where it is high and not too steep, lit from the left.
    private func rock(_ p: Vec2, _ layer: Int) -> Vec3 {
        let depth = p.y - crest(p.x, layer)
        let field = Noise(UInt32(540 + layer))
        // Spurs run down from the crest, so the relief is stretched along the fall line and leans outwards.
        let lean = layer == 1 ? (p.x - 0.80) * 0.9 : (p.x - 0.3) * 0.5
        func relief(_ q: Vec2) -> Float {
            field.ridged(Vec2(q.x * 5.2 - lean * depth * 4, q.y * 3.4), octaves: 5, gain: 0.55)
        }
        let step: Float = 0.004
        let here = relief(p)
        let slope = (relief(p + Vec2(step, 0)) - here) / step
        let fall = (relief(p + Vec2(0, step)) - here) / step
        // The summit keeps the far side of its main ridge in shade.
        let bulk =
            layer == 1 ? 1.5 * smoothstep(0.06, -0.06, p.x - 0.80 - depth * 0.28 - 0.06 * here) - 0.6 : 0
        let lit = smoothstep(-3.2, 3.0, slope - fall * 0.35 + 0.2 + bulk * 1.6)
        let stone = mix(colour(0x2A3347), colour(0x9A8878), lit)
        let snow = mix(colour(0x6F90C4), colour(0xFFFAF0), lit)
        let snowLine = layer == 2 ? Float(0.43) : 0.475
        let cling =
            (snowLine - p.y) * 6 + 0.032 * slope + 0.7 * field.at(p * 17) - abs(fall) * 0.02 + 0.25
        var light = mix(stone, snow, smoothstep(-0.12, 0.16, cling))
        if layer == 2 {
            let wood =
                colour(0x24402F) * (0.8 + 0.5 * lit + 0.4 * field.fractal(p * Vec2(90, 60), octaves: 2))
            light = mix(light, wood, smoothstep(0.47, 0.53, p.y + 0.02 * field.at(p * 12)))
        }
        return light
    }

    private func paintWood(_ canvas: inout Canvas) {
        var random = RandomSource(seed: 550)
        for row in 0..<2 {
            for index in 0..<150 {
                let x = (Float(index) + random.unit()) * 0.0092 - 0.02
                let thick = 0.5 + 0.5 * noise.at(Vec2(x * 3.2, 9 + Float(row)))
                let tall =
                    (0.022 + 0.052 * clamp(thick * abs(x - 0.78) * 2.1 + 0.12)) * random.within(0.75, 1.25)
                let dark = mix(colour(0x29493A), colour(0x0E2019), Float(row) * 0.8 + 0.2 * random.unit())
                canvas.fir(foot: Vec2(x, shore), height: tall, dark, light: dark * 1.9)
            }
        }
        canvas.glaze(in: Box(0, shore - 0.012, 2, shore)) { p in
            (
                mix(colour(0x5A5A42), colour(0x2C3626), 0.5 + 0.5 * noise.at(p * Vec2(20, 60))),
                smoothstep(
                    shore - 0.008, shore - 0.004, p.y + 0.003 * noise.at(Vec2(p.x * 16, 0)))
            )
        }
    }

    private func paintWater(_ canvas: inout Canvas) {
        let above = canvas
        canvas.shade(keeping: { p in p.y < shore }) { p in
            let depth = p.y - shore
            let away = 1 / (depth + 0.06)
            let ripple = noise.fractal(Vec2((p.x - 0.66) * away * 2.2, away * 12), octaves: 4, gain: 0.6)
            // A light breeze roughens a band in the middle distance.
            let breeze = smoothstep(0.02, 0.004, abs(depth - 0.045 - 0.008 * noise.at(Vec2(p.x * 3, 1))))
            let strength = 0.0035 + 0.026 * depth + 0.012 * breeze
            let mirrored = Vec2(p.x + ripple * strength * 0.5, shore - depth * 1.02 + ripple * strength)
            let seen = above.sample(mirrored)
            let body = colour(0x0C3038)
            let share = mix(0.90, 0.66, smoothstep(0, 0.4, depth))
            return mix(body, seen, share) * 0.93 + colour(0xC8DCE8)
                * (0.14 * breeze + 0.2 * exp(-depth * 260))
        }
    }

    private func paintStones(_ canvas: inout Canvas) {
        var random = RandomSource(seed: 560)
        for _ in 0..<26 {
            let near = random.unit()
            let size = mix(0.012, 0.052, near * near) * random.within(0.7, 1.2)
            let side = random.unit() * random.unit()
            let middle = Vec2(0.02 + side * 0.75, 0.875 + near * 0.12 + side * 0.09)
            let tint = mix(colour(0x5C5A54), colour(0x8A7F70), random.unit())
            canvas.fill(
                { p in
                    Outline.ellipse(p, middle, Vec2(size * 1.35, size * 0.62)) + size * 0.12
                        * noise.at(p * (1.5 / size))
                }, in: Box(around: middle, radius: size * 2)
            ) { p in
                let q = (p - middle) / size
                let top = smoothstep(0.35, -0.55, q.y + 0.35 * q.x + 0.2 * noise.at(p * (3 / size)))
                let grit = noise.fractal(p * 130, octaves: 3)
                return tint * (0.16 + 1.0 * top) * (1 + 0.16 * grit)
            }
        }
    }
}
