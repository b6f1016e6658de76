/// A coast that is far too wide for any frame.
struct LongCoast: Scene {
    private let noise = Noise(3001)

    var format: PictureFormat { PictureFormat(width: 4000, height: 120) }
    var film: Film { Film(vignette: 0) }

    func paint(_ canvas: inout Canvas) {
        let long = canvas.extent.x
        let zenith = Gradient([(0, 0x5A5A9A), (0.3, 0x5A9AD8), (0.7, 0x4A8AD0), (1, 0x2A2A5E)])
        let horizon = Gradient([(0, 0xFFB080), (0.3, 0xD8ECF4), (0.7, 0xE8F0E8), (1, 0xE87A60)])
        canvas.shade { p in
            // The day passes along the coast, from dawn on the left to dusk on the right.
            let hour = p.x / long
            let high = zenith.at(hour)
            let low = horizon.at(hour)
            let puff = noise.fractal(Vec2(p.x * 0.9, p.y * 2.6), octaves: 5)
            var light = mix(
                mix(high, low, smoothstep(0, 0.6, p.y)), low * 1.1, smoothstep(0.1, 0.8, puff) * 0.7)
            for layer in 0..<3 {
                let near = Float(layer) / 2
                let rise = noise.ridged(Vec2(p.x * mix(0.5, 0.9, near) + Float(layer) * 19, 0.5), octaves: 5)
                let crest = 0.66 + 0.06 * near - mix(0.42, 0.14, near) * rise
                let land = mix(
                    mix(low, colour(0x4A6A8A), 0.45), mix(colour(0x3E6A3E), colour(0x2A2A40), hour * hour),
                    near)
                light = mix(light, land, smoothstep(crest - 0.004, crest + 0.004, p.y))
            }
            let wave = noise.fractal(Vec2(p.x * 3, 0.8 / (p.y - 0.60)), octaves: 3)
            let sea = mix(low, mix(high, colour(0x145A7A), 0.5), 0.75) * (1 + 0.2 * wave)
            let shore = 0.735 + 0.012 * noise.at(Vec2(p.x * 1.3, 2))
            light = mix(light, colour(0xF0E0B8), smoothstep(shore - 0.02, shore - 0.012, p.y))
            return mix(light, sea, smoothstep(shore, shore + 0.01, p.y))
        }
        for index in 0..<14 {
            let place = Vec2(
                1.3 + Float(index) * 2.3 + noise.at(Vec2(Float(index) * 3.3, 1)),
                0.84 + 0.06 * noise.at(Vec2(Float(index), 6)))
            canvas.polygon([place, place + Vec2(0.005, -0.12), place + Vec2(0.07, -0.01)]) { _ in
                colour(0xFFF8EC)
            }
            canvas.stroke(
                from: place + Vec2(-0.03, 0.008), to: place + Vec2(0.07, 0.008), width: 0.018,
                colour(0x5A2A22))
        }
    }
}
