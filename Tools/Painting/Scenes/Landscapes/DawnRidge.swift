/// The sun comes up behind seven ridges, each paler than the one before it.
struct DawnRidge: Scene {
    private let noise = Noise(101)
    private let sun = Vec2(0.90, 0.475)

    var film: Film { Film(exposure: 1.05, saturation: 1.05, vignette: 0.18) }

    func paint(_ canvas: inout Canvas) {
        paintSky(&canvas)
        for layer in 0..<7 { paintRidge(layer, &canvas) }
        // A slight glare over everything near the sun.
        canvas.glow(sun, radius: 0.75, colour(0xFF9A50) * 0.30)
        canvas.glow(sun, radius: 0.22, colour(0xFFC890) * 0.5)
    }

    private func paintSky(_ canvas: inout Canvas) {
        let sky = Gradient([
            (0.0, 0x23345F), (0.16, 0x4A5488), (0.30, 0x9C7096), (0.40, 0xE08C7C), (0.48, 0xFBB56E),
            (0.56, 0xFFDFA0),
        ])
        canvas.shade { p in
            let toSun = (p - sun).length
            var light = sky.at(p.y + 0.02 * noise.at(p * 2) - 0.06 * bell(p.x, sun.x, 0.5))
            light += colour(0xFFB060) * (0.5 * exp(-toSun * 4.5))
            // Long thin clouds, lit from below.
            let streaks = noise.fractal(Vec2(p.x * 1.6, p.y * 11) + 3, octaves: 6)
            let cover =
                smoothstep(0.12, 0.75, streaks) * smoothstep(0.52, 0.2, p.y) * smoothstep(-0.1, 0.12, p.y)
            let below = noise.fractal(Vec2(p.x * 1.6, (p.y + 0.012) * 11) + 3, octaves: 4)
            let cloud = mix(colour(0x5A4A78), colour(0xFF9C7A), clamp(0.55 + (streaks - below) * 1.6))
            light = mix(light, cloud * (1 + 0.9 * exp(-toSun * 3)), cover * 0.75)
            return mix(light, Vec3(6, 4.6, 2.6), smoothstep(0.0445, 0.0425, toSun))
        }
    }

    private func paintRidge(_ layer: Int, _ canvas: inout Canvas) {
        let near = Float(layer) / 6
        let base = mix(0.50, 0.93, pow(near, 1.15))
        let height = mix(0.085, 0.20, near) * (layer == 6 ? 0.75 : 1)
        let scale = mix(3.4, 1.5, near)
        let field = Noise(UInt32(120 + layer))
        let haze = Gradient([(0, 0xF2A878), (0.35, 0xB87C86), (0.7, 0x574A74), (1, 0x191A34)]).at(near)
        let mist = mix(colour(0xFFC996), colour(0x6A5A86), near)

        func crest(_ x: Float) -> Float {
            let shape = field.ridged(Vec2(x * scale + Float(layer) * 7.7, 0.5), octaves: layer < 3 ? 5 : 7)
            // The land sinks towards the sun, so that the light has a source.
            let dip = 0.045 * bell(x, sun.x, 0.30) * (1 - near * 0.4)
            let firs = layer < 5 ? 0 : treeTops(x, layer)
            return base - height * shape + dip - firs
        }

        canvas.shade(keeping: { p in p.y < crest(p.x) }) { p in
            let depth = p.y - crest(p.x)
            let relief = field.ridged(Vec2(p.x * scale * 2.2 + depth, depth * scale * 1.7), octaves: 5)
            var light = haze * mix(0.82, 1.16, relief)
            // Slopes that face the sun have a bright rim.
            let rim = exp(-depth * mix(90, 220, near)) * exp(-abs(p.x - sun.x) * 3.0)
            light += colour(0xFFA050) * (rim * mix(0.55, 0.12, near))
            let pool = smoothstep(0.02, mix(0.12, 0.30, near), depth + 0.03 * field.at(p * 5))
            return mix(light, mist, pool * mix(0.65, 0.38, near) * (layer == 6 ? 0 : 1))
        }
    }

    /// Returns how far the tops of a fir wood stand above the ground.
    private func treeTops(_ x: Float, _ layer: Int) -> Float {
        let spacing: Float = layer == 6 ? 0.017 : 0.008
        let index = wholePart(x / spacing)
        var top: Float = 0
        for neighbour in (index - 1)...(index + 1) {
            let tall = spacing * (1.2 + 2.2 * noise.unit(neighbour, Int32(layer), 5))
            let middle =
                (Float(neighbour) + 0.5 + 0.5 * (noise.unit(neighbour, Int32(layer), 6) - 0.5)) * spacing
            let slope = tall / (spacing * 0.62)
            let jag = 0.12 * tall * fract(abs(x - middle) * 5.5 / spacing)
            top = max(top, tall - abs(x - middle) * slope - jag)
        }
        return top
    }
}
