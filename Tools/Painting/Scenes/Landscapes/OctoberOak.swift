/// An old oak in October, alone on a rise.
struct OctoberOak: Scene {
    private let noise = Noise(1901)
    private let foot = Vec2(0.66, 0.83)

    var film: Film { Film(exposure: 1.0, saturation: 1.04, vignette: 0.18) }

    func paint(_ canvas: inout Canvas) {
        let sky = Gradient([(0, 0x5E86AC), (0.4, 0xA9C4D2), (0.75, 0xF4E4C4)])
        canvas.shade { p in
            let cloud = noise.fractal(Vec2(p.x * 1.7, p.y * 4.2) + 2, octaves: 6)
            let lit = noise.fractal(Vec2(p.x * 1.7 - 0.05, p.y * 4.2 - 0.1) + 2, octaves: 4)
            let tint = mix(colour(0xB8BEC8), colour(0xFFF6E4), clamp(0.5 + (cloud - lit)))
            return mix(sky.at(p.y), tint, smoothstep(-0.05, 0.7, cloud) * 0.8)
        }
        paintGround(&canvas)
        paintShadow(&canvas)
        var random = RandomSource(seed: 1911)
        var twigs: [Vec2] = []
        paintRoots(&canvas)
        grow(
            &canvas, from: foot + Vec2(0, 0.02), angle: -1.60, length: 0.138, width: 0.062, level: 0, &random,
            &twigs)
        paintLeaves(&canvas, twigs, &random)
        paintGrass(&canvas, &random)
    }

    private func crest(_ x: Float) -> Float {
        0.830 + 0.11 * (x - foot.x) * (x - foot.x) + 0.006 * noise.at(Vec2(x * 6, 3))
    }

    private func paintGround(_ canvas: inout Canvas) {
        canvas.shade(keeping: { p in p.y < 0.775 + 0.015 * noise.at(Vec2(p.x * 2.2, 7)) }) { p in
            let wood = noise.fractal(p * Vec2(26, 40), octaves: 4)
            return mix(colour(0x8FA0A0), colour(0xB9A47E), 0.5 + 0.5 * wood)
        }
        canvas.shade(keeping: { p in p.y < crest(p.x) }) { p in
            let depth = p.y - crest(p.x)
            let patches = noise.fractal(Vec2(p.x * 3, depth * 14), octaves: 4)
            let blades = noise.fractal(Vec2(p.x * 130, p.y * 26), octaves: 3)
            let tint = mix(colour(0xB0A048), colour(0x5E6A28), clamp(depth * 4.5 + patches * 0.35))
            return tint * (1 + 0.28 * blades)
        }
    }

    private func paintShadow(_ canvas: inout Canvas) {
        canvas.filter(in: Box(0.4, 0.8, 1.34, 1)) { p in
            let q = (p - foot - Vec2(0.28, 0.055)) / Vec2(0.40, 0.045)
            let ragged = q.length + 0.25 * noise.fractal(p * Vec2(12, 40), octaves: 3)
            return mix(Vec3(1, 1, 1), Vec3(0.38, 0.40, 0.52), smoothstep(1.15, 0.65, ragged))
        }
    }

    private func paintRoots(_ canvas: inout Canvas) {
        for (dx, width) in [(Float(-0.048), Float(0.046)), (0.048, 0.046)] {
            limb(&canvas, foot + Vec2(dx * 0.25, -0.055), foot + Vec2(dx, 0.014), width, width * 0.3)
        }
    }

    /// Grows a branch and thinner ones from its end, and records positions for leaves.
    private func grow(
        _ canvas: inout Canvas, from start: Vec2, angle: Float, length: Float, width: Float, level: Int,
        _ random: inout RandomSource, _ twigs: inout [Vec2]
    ) {
        // A branch consists of two pieces with a knee between, because oaks do not grow straight.
        let knee = start + Vec2(length * 0.55, 0).turned(by: angle)
        let bent = angle + random.within(-0.32, 0.32)
        let end = knee + Vec2(length * 0.55, 0).turned(by: bent)
        limb(&canvas, start, knee, width, width * 0.84)
        limb(&canvas, knee, end, width * 0.84, width * 0.68)
        if level >= 3 {
            twigs.append(knee)
            twigs.append(end)
        }
        guard level < 7 else { return }
        let forks = level < 2 ? 3 : 2
        let spread: Float = level == 0 ? 0.66 : 0.52
        for fork in 0..<forks {
            let side = Float(fork) / Float(forks - 1) * 2 - 1
            var next = bent + side * spread + random.within(-0.20, 0.20)
            // The outer boughs rise again towards the light.
            next += (-Float.pi / 2 - next) * 0.10
            let share = side == 0 ? Float(0.92) : random.within(0.72, 0.88)
            grow(
                &canvas, from: end, angle: next, length: length * share,
                width: width * (forks == 3 ? 0.56 : 0.62),
                level: level + 1, &random, &twigs)
        }
    }

    private func limb(_ canvas: inout Canvas, _ a: Vec2, _ b: Vec2, _ from: Float, _ to: Float) {
        let margin = from
        let low = pointwiseMin(a, b) - margin
        let high = pointwiseMax(a, b) + margin
        let way = (b - a) / max((b - a).length, 1e-5)
        canvas.fill(
            { p in Outline.stroke(p, a, b, from / 2, tapering: to / 2) },
            in: Box(low.x, low.y, high.x, high.y)
        ) { p in
            let d = p - a
            let side = (d.x * way.y - d.y * way.x) / from
            let along = dot(d, way)
            let furrow = from > 0.02 ? noise.fractal(Vec2(side * 5, along * 22) + a * 30, octaves: 4) : 0
            // Light comes from the left, for any direction of the branch.
            let lit = clamp(0.5 + side * (way.y < 0 ? 1.1 : -1.1) + 0.35 * furrow)
            return mix(colour(0x1C1512), colour(0x8A6E54), lit * 0.85)
        }
    }

    private func paintLeaves(_ canvas: inout Canvas, _ twigs: [Vec2], _ random: inout RandomSource) {
        let tints = [0x7A2E12, 0xA8481A, 0xD0711E, 0xE89A2C, 0xF4C24A, 0xB85A1C].map { colour(UInt32($0)) }
        let crown = foot + Vec2(0, -0.40)
        // Darker leaves inside the crown are drawn first, sunlit ones last.
        for pass in 0..<3 {
            for twig in twigs {
                let bunches = pass == 0 ? 6 : 5
                for _ in 0..<bunches {
                    let out = Vec2(random.bellShaped(), random.bellShaped()) * 0.021
                    let place = twig + out
                    let toSun = dot((place - crown) / 0.42, Vec2(-0.66, -0.75))
                    let bright = clamp(0.36 + 0.26 * toSun + Float(pass) * 0.16 + random.within(-0.28, 0.28))
                    let tint = tints[min(Int(bright * 4.8), 4)] * (0.45 + 0.75 * bright)
                    let size = random.within(0.0035, 0.0075)
                    let way = Vec2(size, 0).turned(by: random.within(0, 6.28))
                    canvas.stroke(
                        from: place - way * 0.7, to: place + way * 0.7, width: size * 1.1,
                        tapering: size * 0.6, tint)
                }
            }
        }
        // Some leaves have fallen, some are falling.
        for index in 0..<420 {
            let falling = index < 26
            let x = foot.x + random.bellShaped() * (falling ? 0.30 : 0.24)
            let y =
                falling ? random.within(0.55, 0.80) : crest(x) + 0.004 + random.unit() * random.unit() * 0.13
            let size = random.within(0.003, 0.006)
            let way = Vec2(size, 0).turned(by: random.within(-0.5, 0.5))
            canvas.stroke(
                from: Vec2(x, y) - way, to: Vec2(x, y) + way, width: size,
                tints[random.below(5)] * random.within(0.6, 1.1))
        }
    }

    private func paintGrass(_ canvas: inout Canvas, _ random: inout RandomSource) {
        for _ in 0..<1500 {
            let x = random.within(-0.02, 1.36)
            let near = random.unit()
            let y = mix(crest(x) + 0.03, 1.03, near)
            let tall = mix(0.012, 0.060, near) * random.within(0.6, 1.2)
            let tint = mix(colour(0xD8C66A), colour(0x5A6426), random.unit()) * random.within(0.55, 1.05)
            canvas.stroke(
                from: Vec2(x, y), to: Vec2(x + tall * random.within(-0.2, 0.55), y - tall),
                width: mix(0.0018, 0.0042, near),
                tapering: 0.0006, tint)
        }
    }
}
