/// A great dune with a sharp crest, the sun just gone, a thin moon and a few camels going home.
struct DesertDusk: Scene {
    private let noise = Noise(301)
    private let summit = Vec2(0.86, 0.335)

    var film: Film { Film(exposure: 1.05, saturation: 1.08, vignette: 0.2) }

    func paint(_ canvas: inout Canvas) {
        let sky = Gradient([
            (0, 0x1E2A58), (0.2, 0x4B4C86), (0.38, 0xB0688A), (0.5, 0xF09468), (0.58, 0xFFC585),
        ])
        canvas.shade { p in
            let glow = colour(0xFF9050) * (0.30 * bell(p.y, 0.56, 0.14) * bell(p.x, 0.1, 0.6))
            return sky.at(p.y + 0.01 * noise.at(p * 3)) + glow
        }
        paintMoon(&canvas)
        paintFarDunes(&canvas)
        paintGreatDune(&canvas)
        paintCaravan(&canvas)
        paintForeground(&canvas)
    }

    private func paintMoon(_ canvas: inout Canvas) {
        let moon = Vec2(0.30, 0.17)
        canvas.glow(moon, radius: 0.16, colour(0x8088C0) * 0.25)
        canvas.fill(
            { p in
                max(Outline.circle(p, moon, 0.034), -Outline.circle(p, moon + Vec2(0.014, -0.010), 0.0325))
            }, in: Box(around: moon, radius: 0.06)
        ) { _ in Vec3(1.5, 1.4, 1.2) }
        canvas.glow(moon + Vec2(0.10, 0.07), radius: 0.009, Vec3(2.5, 2.4, 2.2))
    }

    private func paintFarDunes(_ canvas: inout Canvas) {
        for layer in 0..<3 {
            let near = Float(layer) / 3
            let field = Noise(UInt32(320 + layer))
            func crest(_ x: Float) -> Float {
                0.565 + 0.03 * Float(layer) - mix(0.03, 0.07, near) * abs(field.at(Vec2(x * 2.3, 3.5)) + 0.2)
            }
            let lit = mix(colour(0xE8926A), colour(0xD07848), near)
            let shade = mix(colour(0xA0607A), colour(0x743C58), near)
            canvas.shade(keeping: { p in p.y < crest(p.x) }) { p in
                let slope = (crest(p.x + 0.006) - crest(p.x - 0.006)) / 0.012
                return mix(
                    shade, lit,
                    smoothstep(0.16, -0.12, slope + 0.04 * field.at(p * 9) + 0.8 * (p.y - crest(p.x))))
            }
        }
    }

    /// Returns the height of the dune's outline: a long windward back and a steeper lee side.
    private func outline(_ x: Float) -> Float {
        let dx = x - summit.x
        let back = summit.y + 0.36 * pow(smoothstep(0, -1.0, dx), 0.80)
        let lee = summit.y + 0.46 * pow(clamp(dx / 0.62), 0.86)
        return (dx < 0 ? back : lee) + 0.006 * noise.at(Vec2(x * 4, 1))
    }

    /// Returns the position of the crest between light and shade at a height below the summit.
    private func crestLine(_ y: Float) -> Float {
        let t = (y - summit.y) / (1 - summit.y)
        return summit.x - 0.02 - 0.30 * t + 0.17 * sin(t * 5.6) * smoothstep(0, 0.35, t) + 0.012
            * noise.at(Vec2(y * 5, 8))
    }

    private func paintGreatDune(_ canvas: inout Canvas) {
        canvas.shade(keeping: { p in p.y < outline(p.x) }) { p in
            let side = p.x - crestLine(p.y)
            let down = (p.y - summit.y) / (1 - summit.y)
            if side > 0 {
                let deep = mix(colour(0x6B3454), colour(0x2C1A3C), clamp(side * 1.3 + down * 0.3))
                let slip = noise.fractal(Vec2(side * 30 + p.y * 10, p.y * 5), octaves: 3)
                return deep * (1 + 0.07 * slip) + colour(0x5060A0) * (0.03 * smoothstep(0.1, 0.5, side))
            }
            let warm = mix(colour(0xF09A58), colour(0xB45A38), clamp(-side * 0.75 + down * 0.25))
            let scale = 1 / (0.25 + down)
            let ripple = self.ripple(Vec2(p.x * 1.1 + p.y * 0.5, p.y * 1.5) * scale * 15)
            let edge = exp(side * 60)
            return warm * (1 + 0.10 * ripple * smoothstep(0, 0.06, -side)) + colour(0xFFC080) * (0.22 * edge)
        }
    }

    private func paintForeground(_ canvas: inout Canvas) {
        func crest(_ x: Float) -> Float {
            0.90 - 0.085 * sin(x * 2.3 + 0.35) + 0.01 * noise.at(Vec2(x * 3, 4))
        }
        canvas.shade(keeping: { p in p.y < crest(p.x) }) { p in
            let depth = p.y - crest(p.x)
            let ripple = self.ripple(Vec2(p.x * 0.75, depth * 2.2) * 11 + Vec2(2, 9))
            let light = mix(colour(0xA8563C), colour(0x4A2440), clamp(depth * 2.4 + p.x * 0.35))
            return light * (1 + 0.26 * ripple) + colour(0xE88850) * (0.25 * exp(-depth * 70))
        }
    }

    /// Wind ripples: wavy, now and then forked, steeper on one side.
    private func ripple(_ p: Vec2) -> Float {
        let bend = 1.3 * noise.at(p * Vec2(0.30, 0.22)) + 0.4 * noise.at(p * 0.9 + 5)
        let wave = fract(p.y * 0.9 + p.x * 0.35 + bend)
        return smoothstep(0, 0.65, wave) - smoothstep(0.65, 1, wave) * 1 - 0.5
    }

    private func paintCaravan(_ canvas: inout Canvas) {
        for (index, x) in [Float(0.245), 0.32, 0.39, 0.475].enumerated() {
            let size: Float = 0.046 - 0.004 * Float(index % 2)
            let foot = Vec2(x, outline(x) + 0.004)
            let dark = colour(0x241428)
            canvas.fill({ p in camel((p - foot) / size) * size }, in: Box(around: foot, radius: size * 1.6)) {
                _ in dark
            }
        }
    }

    /// A camel facing right, its feet at the origin, about one unit high.
    private func camel(_ p: Vec2) -> Float {
        var shape = Outline.ellipse(p, Vec2(0, -0.60), Vec2(0.34, 0.16))
        shape = Outline.melt(shape, Outline.ellipse(p, Vec2(-0.04, -0.78), Vec2(0.13, 0.13)), 0.08)
        shape = Outline.melt(
            shape, Outline.stroke(p, Vec2(0.28, -0.60), Vec2(0.50, -0.66), 0.09, tapering: 0.06), 0.1)
        shape = min(shape, Outline.stroke(p, Vec2(0.50, -0.66), Vec2(0.58, -0.96), 0.055, tapering: 0.045))
        shape = min(shape, Outline.stroke(p, Vec2(0.57, -0.97), Vec2(0.74, -0.94), 0.055, tapering: 0.04))
        for (hip, foot) in [(Float(-0.26), Float(-0.34)), (-0.18, -0.12), (0.20, 0.16), (0.26, 0.34)] {
            shape = min(shape, Outline.stroke(p, Vec2(hip, -0.52), Vec2(foot, 0), 0.055, tapering: 0.028))
        }
        return min(shape, Outline.stroke(p, Vec2(-0.33, -0.64), Vec2(-0.40, -0.40), 0.02))
    }
}
