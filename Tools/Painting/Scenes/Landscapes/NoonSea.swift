/// A boat with a red sail on a blue sea, towering summer clouds behind it.
struct NoonSea: Scene {
    private let noise = Noise(201)
    private let horizon: Float = 0.50
    private let boat = Vec2(0.50, 0.635)
    private let blue = Gradient([(0, 0x1F63B8), (0.3, 0x4E97DA), (0.5, 0xB5DCF0)])
    private let deep = Gradient([(0, 0x2A6FA6), (0.10, 0x12568F), (0.28, 0x0E6E9C), (0.5, 0x1FA3B0)])

    var film: Film { Film(exposure: 1.0, saturation: 1.08, vignette: 0.12) }

    func paint(_ canvas: inout Canvas) {
        canvas.shade { p in p.y < horizon ? sky(p) : sea(p) }
        paintReflection(&canvas)
        paintBoat(&canvas)
    }

    private func sky(_ p: Vec2) -> Vec3 {
        var light = blue.at(p.y)
        // Three banks of cumulus, the nearer ones larger and further from the horizon.
        for bank in 0..<3 {
            let near = Float(bank) / 2
            let base = mix(0.475, 0.30, near)
            let scale = mix(9, 3.6, near)
            let q = Vec2(p.x, p.y) * scale + Vec2(Float(bank) * 31 + 4.2, Float(bank) * 17)
            let billow = noise.fractal(q + 0.35 * noise.at(q * 1.3), octaves: 7, gain: 0.52)
            let mass = noise.at(Vec2(p.x * scale * 0.32 + Float(bank) * 9.4, Float(bank) * 5 + 0.5))
            let above = (base - p.y) * scale * 0.5
            let cover =
                billow * 0.52 + mass * 1.25 - abs(above - 0.25) * 0.9 - smoothstep(0.03, -0.06, above) * 1.2
                + 0.05
            let density = smoothstep(0.0, 0.20, cover)
            let toSun = noise.fractal(q + Vec2(0.16, -0.20), octaves: 5, gain: 0.5)
            let lit = clamp(0.40 + (billow - toSun) * 0.95 + above * 0.40)
            let white = mix(colour(0x8FA9C6), Vec3(1.0, 0.98, 0.95), lit)
            light = mix(light, mix(colour(0xCFE4F0), white, mix(0.6, 1, near)), density)
        }
        return light
    }

    private func sea(_ p: Vec2) -> Vec3 {
        let depth = p.y - horizon
        let away = 1 / (depth + 0.012)
        let ground = Vec2((p.x - 0.66) * away, away)
        let swell = noise.fractal(Vec2(ground.x * 1.4, ground.y * 3.1), octaves: 5, gain: 0.55)
        let chop = noise.fractal(Vec2(ground.x * 5, ground.y * 10) + 40, octaves: 3, gain: 0.6)
        let body = deep.at(depth)
        let calm = smoothstep(0.0, 0.12, depth)
        var light = body * (1 + calm * (0.35 * swell + 0.16 * chop))
        let mirrored = smoothstep(0.1, 0.9, swell + 0.4 * chop) * calm
        light = mix(light, colour(0xA8D4E8), mirrored * 0.38)
        // Glints are densest in a lane below the sun.
        let lane = bell(p.x, 1.02, 0.10 + depth * 0.35)
        let glint = noise.at(Vec2(ground.x * 16, ground.y * 26)) + 0.35 * swell
        light += Vec3(2.2, 2.1, 1.9) * (smoothstep(0.62, 0.85, glint) * lane * smoothstep(0.004, 0.05, depth))
        return light + colour(0xBBD8E6) * (0.35 * exp(-depth * 60))
    }

    private func paintReflection(_ canvas: inout Canvas) {
        canvas.glaze(in: Box(boat.x - 0.25, boat.y, boat.x + 0.25, 1)) { p in
            let depth = p.y - boat.y
            let wobble = noise.fractal(Vec2(p.x * 6, p.y * 60), octaves: 3) * (0.012 + depth * 0.10)
            let mirrored = Vec2(p.x + wobble, boat.y - depth * 1.15 - 0.01)
            let sail = min(mainSail(mirrored), jib(mirrored))
            let hull = self.hull(Vec2(mirrored.x, boat.y - depth))
            let fade = smoothstep(0.38, 0.02, depth) * 0.62
            if hull < 0 { return (colour(0x16303C), 0.8) }
            let cloth = mirrored.x < boat.x ? colour(0xA9BCC4) : colour(0xB02C26)
            return (cloth, smoothstep(0.006, -0.006, sail) * fade)
        }
    }

    private func paintBoat(_ canvas: inout Canvas) {
        canvas.fill({ p in mainSail(p) }, in: Box(0.3, 0.1, 0.9, 0.7)) { p in
            let belly = (p.x - boat.x) / 0.17
            let seams = smoothstep(0.46, 0.5, abs(fract((p.y - belly * 0.05) * 17) - 0.5))
            return mix(colour(0xE8432E), colour(0xA31C20), smoothstep(0.1, 1.1, belly)) * (1 - 0.16 * seams)
        }
        canvas.fill({ p in jib(p) }, in: Box(0.2, 0.1, 0.6, 0.7)) { p in
            mix(colour(0xFFF6E6), colour(0xC9C4C0), smoothstep(-0.02, -0.16, p.x - boat.x))
        }
        canvas.stroke(
            from: boat + Vec2(0, 0.005), to: boat + Vec2(0.004, -0.425), width: 0.006, colour(0x5A3A22))
        canvas.stroke(
            from: boat + Vec2(0, -0.045), to: boat + Vec2(0.185, -0.05), width: 0.005, colour(0x5A3A22))
        canvas.fill({ p in hull(p) }, in: Box(0.2, 0.55, 0.9, 0.7)) { p in
            let rail = smoothstep(
                0.002, -0.002, p.y - (boat.y - 0.026 + 0.10 * (p.x - boat.x) * (p.x - boat.x)))
            let wood = mix(colour(0xF4F1EA), colour(0x8A97A0), smoothstep(0.0, 0.03, p.y - boat.y + 0.03))
            return mix(wood, colour(0x24465C), rail)
        }
        // The helmsman, and the foam along the hull.
        canvas.disc(boat + Vec2(0.115, -0.052), radius: 0.011, colour(0x6B4630))
        canvas.stroke(
            from: boat + Vec2(0.115, -0.04), to: boat + Vec2(0.112, -0.022), width: 0.024, colour(0xF0D060))
        canvas.glaze(in: Box(0.25, 0.6, 0.85, 0.68)) { p in
            let line = abs(p.y - boat.y - 0.002 - 0.004 * noise.at(p * 40))
            let reach = smoothstep(0.21, 0.12, abs(p.x - boat.x - 0.01))
            return (colour(0xE8F4F6), smoothstep(0.006, 0.001, line) * reach * 0.8)
        }
    }

    private func hull(_ p: Vec2) -> Float {
        let q = p - boat
        let top = -0.036 - 0.35 * max(-q.x, 0) * max(-q.x, 0) - 0.1 * q.x * q.x
        let left = -0.165 + 0.8 * (q.y + 0.03)
        let right = 0.165 - 0.35 * (q.y + 0.03)
        return max(max(top - q.y, q.y - 0.004), max(left - q.x, q.x - right))
    }

    private func mainSail(_ p: Vec2) -> Float {
        let q = p - boat
        let t = (q.y + 0.42) / 0.37
        let leech = 0.012 + 0.172 * t + 0.045 * t * (1 - t) * 2
        return max(max(0.006 - q.x, q.x - leech), max(-0.42 - q.y, q.y + 0.05 + 0.02 * sin(q.x * 17)))
    }

    private func jib(_ p: Vec2) -> Float {
        let q = p - boat
        let t = (q.y + 0.37) / 0.32
        let luff = -0.008 - 0.16 * t
        let leech = -0.008 - 0.035 * t + 0.05 * t * (1 - t)
        return max(max(luff - q.x, q.x - leech), max(-0.37 - q.y, q.y + 0.045 - 0.12 * (q.x + 0.1)))
    }
}
