/// A hiking map of an imaginary island.
struct ContourMap: Scene {
    private let noise = Noise(1301)
    private let middle = Vec2(0.66, 0.50)
    private let land = Gradient([
        (0, 0xC9DFA6), (120, 0xB5D490), (280, 0xE6E3A4), (460, 0xE9C987), (640, 0xD3A071), (820, 0xC79A84),
        (980, 0xF3ECE6),
    ])
    private let sea = Gradient([(-260, 0x7FB4D6), (-120, 0x9CCBE4), (-40, 0xB9DDEE), (0, 0xD3ECF4)])

    var film: Film { Film(exposure: 1.0, vignette: 0.1, grain: 1.0) }

    func paint(_ canvas: inout Canvas) {
        let unit = canvas.unit
        canvas.shade { p in sheet(p, unit) }
        paintPath(&canvas)
        paintGrid(&canvas)
        paintFolds(&canvas)
    }

    /// Metres above the sea.
    private func altitude(_ p: Vec2) -> Float {
        let bend = Vec2(noise.at(p * 2.2 + 3), noise.at(p * 2.2 + 41)) * 0.10
        let q = p + bend
        let island = 1 - ((q - middle) / Vec2(0.62, 0.43)).length
        let peak = 620 * exp(-((q - Vec2(0.52, 0.44)) / 0.17).length * 1.1)
        let second = 420 * exp(-((q - Vec2(0.86, 0.58)) / 0.13).length * 1.1)
        let bay = 330 * exp(-((q - Vec2(0.74, 0.80)) / 0.13).length * 1.4)
        let hills = 150 * noise.fractal(q * 4.2, octaves: 5, gain: 0.45)
        return 430 * island + peak + second - bay + hills * smoothstep(-0.25, 0.2, island) - 60
    }

    private func sheet(_ p: Vec2, _ unit: Float) -> Vec3 {
        let step: Float = 0.0015
        let h = altitude(p)
        let slope = Vec2(altitude(p + Vec2(step, 0)) - h, altitude(p + Vec2(0, step)) - h) / step
        let paper = 1 + 0.02 * noise.fractal(p * 60, octaves: 3)
        // Tints change in steps, as in print.
        let level = h < 0 ? (h / 40).rounded(.down) * 40 : h
        var tint = h < 0 ? sea.at(level) : land.at((h / 40).rounded(.down) * 40 + 20)
        if h > 0 {
            let shade = clamp(dot(slope, Vec2(-0.62, -0.62)) / 2600, -0.5, 0.5)
            tint *= 1 - 0.62 * shade
        }
        let steep = max(slope.length, 60)
        // A line's width must not depend on the slope, so heights are converted to distances.
        func line(_ interval: Float, _ width: Float) -> Float {
            let off = abs(wrap(h + interval / 2, interval) - interval / 2) / steep * unit
            return clamp(width / 2 + 0.5 - off) * smoothstep(40, 200, steep)
        }
        let scale = unit / 1200
        let ink = h < 0 ? colour(0x3F86B4) : colour(0x8A5A34)
        tint = mix(tint, ink, line(40, 1.5 * scale) * (h < 0 ? 0.35 : 0.55))
        tint = mix(tint, ink, line(200, 3.4 * scale) * (h < 0 ? 0.4 : 0.85))
        let shore = clamp(2.2 * scale + 0.5 - abs(h) / steep * unit)
        tint = mix(tint, colour(0x1F5F92), shore)
        return tint * paper
    }

    /// A marked path in red, from the bay over both summits.
    private func paintPath(_ canvas: inout Canvas) {
        let stations = [
            Vec2(0.735, 0.705), Vec2(0.69, 0.64), Vec2(0.70, 0.575), Vec2(0.64, 0.52), Vec2(0.575, 0.50),
            Vec2(0.515, 0.43), Vec2(0.47, 0.36), Vec2(0.40, 0.33), Vec2(0.33, 0.37), Vec2(0.26, 0.43),
        ]
        var walked: Float = 0
        for (a, b) in zip(stations, stations.dropFirst()) {
            let length = (b - a).length
            for step in 0..<Int(length / 0.004) {
                walked += 1
                let isGap = Int(walked) % 5 >= 3
                if isGap { continue }
                func place(_ t: Float) -> Vec2 {
                    let q = mix(a, b, t)
                    return q + Vec2(noise.at(q * 14), noise.at(q * 14 + 60)) * 0.014
                }
                let t = Float(step) * 0.004 / length
                canvas.stroke(
                    from: place(t), to: place(t + 0.004 / length), width: 0.0058, colour(0xD2232A),
                    opacity: 0.95)
            }
        }
        for (place, size) in [(Vec2(0.512, 0.432), Float(0.017)), (Vec2(0.852, 0.568), 0.014)] {
            canvas.polygon([
                place + Vec2(0, -size), place + Vec2(size * 0.9, size * 0.6),
                place + Vec2(-size * 0.9, size * 0.6),
            ]) { _ in colour(0x2A2018) }
        }
        for place in [Vec2(0.735, 0.705), Vec2(0.26, 0.43)] {
            canvas.disc(place, radius: 0.011, colour(0xFFFFFF))
            canvas.disc(place, radius: 0.0075, colour(0xD2232A))
        }
    }

    /// The grid, the compass and the frame.
    private func paintGrid(_ canvas: inout Canvas) {
        let blue = colour(0x46688C)
        for index in 0..<7 {
            let x = 0.067 + Float(index) * 0.2
            canvas.stroke(from: Vec2(x, 0), to: Vec2(x, 1), width: 0.0011, blue, opacity: 0.4)
        }
        for index in 0..<5 {
            let y = 0.1 + Float(index) * 0.2
            canvas.stroke(from: Vec2(0, y), to: Vec2(1.34, y), width: 0.0011, blue, opacity: 0.4)
        }
        let rose = Vec2(1.20, 0.155)
        for quarter in 0..<8 {
            let way = Vec2(0, -1).turned(by: Float(quarter) * Float.pi / 4)
            let side = Vec2(-way.y, way.x)
            let long: Float = quarter.isMultiple(of: 2) ? 0.085 : 0.05
            let ink = colour(0x24405E)
            canvas.polygon([rose, rose + way * long, rose + (way + side) * 0.014]) { _ in ink }
            canvas.polygon([rose, rose + way * long, rose + (way - side) * 0.014]) { _ in colour(0xF4F6F2) }
        }
        canvas.fill({ p in abs((p - rose).length - 0.062) - 0.0012 }, in: Box(around: rose, radius: 0.08)) {
            _ in
            colour(0x24405E)
        }
    }

    /// The sheet has been folded and carried in a pocket.
    private func paintFolds(_ canvas: inout Canvas) {
        canvas.filter { p in
            var light: Float = 1
            for x in [Float(0.3333), 0.6667, 1.0] {
                let off = p.x - x - 0.001 * noise.at(Vec2(p.y * 9, x))
                light *=
                    1 - 0.10 * bell(off, 0.004, 0.005) + 0.05 * bell(off, -0.006, 0.006) + 0.05 * off
                    * exp(-abs(off) * 9)
            }
            let off = p.y - 0.5 - 0.001 * noise.at(Vec2(p.x * 9, 3))
            light *= 1 - 0.12 * bell(off, 0.004, 0.005) + 0.05 * bell(off, -0.006, 0.006)
            return Vec3(repeating: light)
        }
    }
}
