/// A kite at the very top, a child at the very bottom, and a long string between them.
struct KiteString: Scene {
    private let noise = Noise(3101)

    var format: PictureFormat { PictureFormat(width: 120, height: 4000) }
    var film: Film { Film(vignette: 0) }

    func paint(_ canvas: inout Canvas) {
        let tall = canvas.extent.y
        let sky = Gradient([(0, 0x184A98), (0.5, 0x5AA0DC), (0.9, 0xD8ECF2)])
        canvas.shade { p in
            let puff = noise.fractal(Vec2(p.x * 0.8, p.y * 0.9), octaves: 5)
            let light = mix(sky.at(p.y / tall), Vec3(1, 0.99, 0.97), smoothstep(0.2, 0.8, puff) * 0.8)
            let grass = colour(0x6A9A3A) * (1 + 0.3 * noise.fractal(p * Vec2(18, 6), octaves: 3))
            let crest = tall - 0.75 + 0.1 * sin(p.x * 3)
            return mix(light, grass, smoothstep(crest, crest + 0.02, p.y))
        }
        let kite = Vec2(0.55, 0.75)
        let hand = Vec2(0.42, tall - 1.02)
        var place = kite + Vec2(0, 0.2)
        for step in 1...160 {
            let t = Float(step) / 160
            let next = mix(kite + Vec2(0, 0.2), hand, t) + Vec2(0.22 * sin(t * 9) * (1 - t), 0)
            canvas.stroke(from: place, to: next, width: 0.012, colour(0x4A3A34))
            place = next
        }
        let corners = [Vec2(0, -0.45), Vec2(0.32, -0.05), Vec2(0, 0.45), Vec2(-0.32, -0.05)]
        let tints = [colour(0xE8382E), colour(0xF8C83A), colour(0xE8382E), colour(0xF8C83A)]
        for side in 0..<4 {
            canvas.polygon([kite, kite + corners[side], kite + corners[(side + 1) % 4]]) { _ in tints[side] }
        }
        for bow in 0..<6 {
            let knot = kite + Vec2(0.10 * sin(Float(bow) * 1.3), 0.62 + Float(bow) * 0.20)
            canvas.stroke(
                from: knot - Vec2(0.07, 0.02), to: knot + Vec2(0.07, 0.02), width: 0.05, tints[bow % 2])
        }
        let child = Vec2(0.36, tall - 0.52)
        canvas.stroke(from: child, to: child + Vec2(-0.05, 0.20), width: 0.06, colour(0x2A3A5E))
        canvas.stroke(from: child, to: child + Vec2(0.06, 0.20), width: 0.06, colour(0x2A3A5E))
        canvas.stroke(from: child, to: child + Vec2(0, -0.26), width: 0.15, tapering: 0.13, colour(0xD8342E))
        canvas.stroke(from: child + Vec2(0, -0.24), to: hand, width: 0.05, colour(0xD8342E))
        canvas.disc(child + Vec2(0, -0.40), radius: 0.085, colour(0xE0B088))
        canvas.disc(child + Vec2(-0.01, -0.44), radius: 0.075, colour(0x5A3A22))
    }
}
