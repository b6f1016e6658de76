/// Ripples that the ebb left in the sand, and an orange starfish.
struct LowTide: Scene {
    private let noise = Noise(1101)
    private let star = Vec2(0.50, 0.66)

    var film: Film { Film(exposure: 1.05, saturation: 1.06, vignette: 0.2) }

    func paint(_ canvas: inout Canvas) {
        let sky = Gradient([(0, 0xF6D9A8), (0.08, 0xE9C6A0), (0.17, 0xAEBBC4)])
        canvas.shade { p in
            if p.y < 0.115 {
                let bank = noise.fractal(Vec2(p.x * 2.5, p.y * 16), octaves: 5)
                return sky.at(0.13 - p.y + 0.02 * bank) * 1.05
            }
            if p.y < 0.165 { return surf(p) }
            return sand(p, sky)
        }
        paintStar(&canvas)
    }

    private func surf(_ p: Vec2) -> Vec3 {
        let depth = p.y - 0.115
        let wave = noise.fractal(Vec2(p.x * 5, 0.6 / (depth + 0.02)), octaves: 4)
        let foam = smoothstep(0.25, 0.6, wave + depth * 9 - 0.25)
        let water = mix(colour(0x6F8FA0), colour(0x8AA6A8), depth * 20) * (1 + 0.25 * wave)
        return mix(water, colour(0xFFF4E0), foam * 0.85)
    }

    /// Returns the height of the rippled sand.
    private func relief(_ g: Vec2) -> Float {
        let bend = 0.75 * noise.at(g * 0.42) + 0.26 * noise.at(g * 1.1 + 9)
        let phase = g.y * 1.9 + g.x * 0.55 + bend * 1.9
        // Crests are sharp, troughs broad.
        let wave = 1 - abs(sin(phase * 1.55))
        let tall = 0.65 + 0.35 * noise.at(g * 0.5 + 30)
        return wave * wave * (3 - 2 * wave) * tall + 0.10 * noise.fractal(g * 3.5, octaves: 3)
    }

    private func ground(_ p: Vec2) -> Vec2 {
        let away = 1 / (p.y - 0.10)
        return Vec2((p.x - 0.667) * away * 2.0, away * 3.6)
    }

    private func sand(_ p: Vec2, _ sky: Gradient) -> Vec3 {
        let g = ground(p)
        let step: Float = 0.03
        let here = relief(g)
        let slope = Vec2(relief(g + Vec2(step, 0)) - here, relief(g + Vec2(0, step)) - here) / step
        let light = clamp(0.52 + 0.34 * slope.x + 0.30 * slope.y, 0, 1.3)
        let grit = noise.fractal(p * 210, octaves: 2)
        var colourOfSand = mix(colour(0x7A5A40), colour(0xE9C08C), light)
        colourOfSand *= 1 + 0.10 * grit
        // Water stands in the troughs and mirrors the sky.
        let wet = smoothstep(0.26, 0.10, here) * smoothstep(-0.30, 0.25, noise.at(g * 0.33 + 4) + 0.05)
        let far = smoothstep(0.5, 0.16, p.y)
        let mirrored = mix(colour(0x86A8BC), colour(0xF4D8AE), clamp(far + 0.35 * slope.y))
        let seen = mix(colourOfSand * colour(0xC8B8A8), mirrored, mix(0.62, 0.95, far))
        var result = mix(colourOfSand, seen, wet)
        result = mix(result, mirrored * 1.05, far * far * 0.35)
        return result
    }

    private func paintStar(_ canvas: inout Canvas) {
        let box = Box(around: star, radius: 0.34)
        canvas.filter(in: box) { p in
            let shadow = smoothstep(0.035, -0.03, arms(p - Vec2(0.030, 0.022)))
            let pool = smoothstep(0.05, 0.0, arms(p))
            return mix(Vec3(1, 1, 1), Vec3(0.30, 0.30, 0.38), max(shadow * 0.85, pool * 0.45))
        }
        canvas.fill({ p in arms(p) }, in: box) { p in
            let step: Float = 0.004
            let here = dome(p)
            let slope = Vec2(dome(p + Vec2(step, 0)) - here, dome(p + Vec2(0, step)) - here) / step
            let bumps = noise.cell(p * 62, jitter: 0.7)
            let knob = smoothstep(0.42, 0.12, bumps.distance)
            let light = clamp(0.60 + 0.30 * dot(slope, Vec2(0.85, 0.5)), 0, 1.15)
            let tint = mix(mix(colour(0xC2481A), colour(0xF08A3A), light), colour(0xFFD08A), knob * 0.55)
            let spine = smoothstep(0.012, 0.0, abs(ridgeOffset(p))) * 0.25
            return mix(tint, colour(0xFFE0A8), spine) * (0.34 + 0.85 * light)
        }
    }

    /// Returns the starfish's outline: five blunt arms, slightly bent.
    private func arms(_ p: Vec2) -> Float {
        let q = local(p)
        let out = q.length
        let angle = atan2(q.y, q.x) + 0.5 * out
        let fifth = Float.pi * 2 / 5
        let turn = abs(wrap(angle + fifth / 2, fifth) - fifth / 2)
        let arm = Vec2(cos(turn), sin(turn)) * out
        let taper = Outline.stroke(arm, .zero, Vec2(0.225, 0), 0.074, tapering: 0.020)
        return Outline.melt(taper, out - 0.080, 0.03) + 0.002 * noise.at(p * 50)
    }

    private func dome(_ p: Vec2) -> Float {
        let inside = clamp(-arms(p), 0, 0.07)
        return (inside * (0.14 - inside)).squareRoot() * 1.35
    }

    private func ridgeOffset(_ p: Vec2) -> Float {
        let q = local(p)
        let fifth = Float.pi * 2 / 5
        let angle = atan2(q.y, q.x) + 0.5 * q.length
        return (wrap(angle + fifth / 2, fifth) - fifth / 2) * q.length
    }

    /// Flattened by perspective and slightly turned.
    private func local(_ p: Vec2) -> Vec2 {
        ((p - star) * Vec2(1, 1.32)).turned(by: 0.35)
    }
}
