/// An owl on a branch in front of the rising moon.
struct Owl: Scene {
    private let noise = Noise(1601)
    private let moon = Vec2(0.5, 0.56)

    var format: PictureFormat { .portrait }
    var film: Film { Film(exposure: 1.05, saturation: 1.0, vignette: 0.25) }

    func paint(_ canvas: inout Canvas) {
        let night = Gradient([(0, 0x0A1430), (0.5, 0x16305A), (1.0, 0x2A5070), (1.34, 0x1B3448)])
        canvas.shade { p in
            let toMoon = (p - moon).length
            let veil = noise.fractal(Vec2(p.x * 1.8, p.y * 3.2), octaves: 5)
            return night.at(p.y) * (1 + 0.16 * veil) + colour(0xC8B070)
                * (0.42 * exp(-max(toMoon - 0.36, 0) * 6))
        }
        paintStars(&canvas)
        paintMoon(&canvas)
        paintBranches(&canvas)
        paintBody(&canvas)
        paintFace(&canvas)
        paintFeet(&canvas)
    }

    private func paintStars(_ canvas: inout Canvas) {
        var random = RandomSource(seed: 1610)
        for _ in 0..<130 {
            let place = Vec2(random.unit(), random.unit() * 1.2)
            let bright = 0.25 + 1.2 * random.unit() * random.unit()
            canvas.glow(place, radius: random.within(0.0022, 0.0048), Vec3(0.9, 0.95, 1.1) * bright)
        }
    }

    private func paintMoon(_ canvas: inout Canvas) {
        canvas.fill({ p in Outline.circle(p, moon, 0.365) }, in: Box(around: moon, radius: 0.4)) { p in
            let q = (p - moon) / 0.365
            let seas = noise.fractal(q * 1.4 + 6, octaves: 5)
            let tint = mix(colour(0xFFEFC0), colour(0xD9B878), smoothstep(0.0, 0.5, seas))
            return tint * (1.0 - 0.18 * dot(q, q) + 0.05 * noise.at(q * 20))
        }
    }

    private func paintBranches(_ canvas: inout Canvas) {
        let bark = colour(0x171318)
        let limbs: [(Vec2, Vec2, Float, Float)] = [
            (Vec2(-0.05, 1.150), Vec2(0.35, 1.105), 0.030, 0.027),
            (Vec2(0.35, 1.105), Vec2(0.72, 1.115), 0.027, 0.021),
            (Vec2(0.72, 1.115), Vec2(1.06, 1.055), 0.021, 0.010),
            (Vec2(0.80, 1.105), Vec2(0.93, 1.19), 0.012, 0.004),
            (Vec2(0.14, 1.13), Vec2(0.06, 0.98), 0.012, 0.004),
            (Vec2(0.91, 1.08), Vec2(0.985, 0.96), 0.008, 0.003),
        ]
        for (a, b, from, to) in limbs {
            let margin: Float = 0.06
            let low = pointwiseMin(a, b) - margin
            let high = pointwiseMax(a, b) + margin
            canvas.fill(
                { p in
                    Outline.stroke(p, a, b, from, tapering: to) + 0.0035
                        * noise.fractal(p * Vec2(28, 60), octaves: 3)
                }, in: Box(low.x, low.y, high.x, high.y)
            ) { p in
                let top = smoothstep(0.004, -0.026, p.y - mix(a, b, Outline.share(of: p, from: a, to: b)).y)
                let ridges = noise.fractal(Vec2(p.x * 16, p.y * 120), octaves: 3)
                return bark * (1 + 0.5 * ridges) + colour(0x6A6450) * (0.55 * top * (0.7 + 0.5 * ridges))
            }
        }
        for (index, place) in [
            Vec2(0.055, 0.965), Vec2(0.105, 1.045), Vec2(0.99, 0.945), Vec2(0.955, 1.00), Vec2(0.935, 1.20),
            Vec2(0.03, 1.02), Vec2(0.875, 1.165), Vec2(1.02, 1.05),
        ].enumerated() {
            let way = Vec2(0.055, 0).turned(by: Float(index) * 2.4 - 0.9)
            canvas.fill({ p in leaf(p, place, place + way) }, in: Box(around: place, radius: 0.1)) { p in
                mix(colour(0x3E5A3C), colour(0x1C2E2C), Float(index % 3) / 2)
            }
        }
    }

    private func leaf(_ p: Vec2, _ a: Vec2, _ b: Vec2) -> Float {
        let along = Outline.share(of: p, from: a, to: b)
        return (p - mix(a, b, along)).length - 0.017 * sin(Float.pi * (0.06 + 0.94 * along))
    }

    private func body(_ p: Vec2) -> Float {
        let q = Vec2(abs(p.x - 0.5), p.y)
        let trunk = Outline.ellipse(q, Vec2(0, 0.83), Vec2(0.232, 0.315))
        let head = Outline.ellipse(q, Vec2(0, 0.515), Vec2(0.222, 0.17))
        let ears = Outline.stroke(q, Vec2(0.13, 0.43), Vec2(0.195, 0.315), 0.052, tapering: 0.006)
        let tail = Outline.box(q, Vec2(0, 1.17), Vec2(0.075, 0.12), rounding: 0.05)
        return min(Outline.melt(Outline.melt(trunk, head, 0.10), ears, 0.05), tail)
    }

    private func paintBody(_ canvas: inout Canvas) {
        canvas.fill({ p in body(p) }, in: Box(0.2, 0.25, 0.8, 1.33)) { p in
            let q = Vec2(p.x - 0.5, p.y)
            let rim = smoothstep(0.030, 0.0, -body(p))
            let plume = noise.fractal(Vec2(q.x * 60, q.y * 22), octaves: 3)
            var tint = mix(colour(0x6A4630), colour(0x40291F), smoothstep(0.45, 1.2, p.y)) * (1 + 0.2 * plume)
            let wing = smoothstep(-0.006, 0.006, abs(q.x) - 0.145 + 0.25 * (p.y - 0.83) * (p.y - 0.83))
            let breast = smoothstep(0.004, -0.004, Outline.ellipse(q, Vec2(0, 0.88), Vec2(0.165, 0.255)))
            tint = mix(tint, scales(q, 0.048, colour(0xE8CE9E), colour(0x8A5A38)), breast)
            tint = mix(
                tint, scales(q, 0.066, colour(0x5C4032), colour(0x2A1B18)),
                (1 - breast) * wing * smoothstep(0.62, 0.68, p.y))
            if p.y > 1.12 { tint = colour(0x4A3024) * (1 + 0.4 * sin(q.x * 130)) }
            let side = 1 - 0.35 * smoothstep(0.06, 0.23, abs(q.x))
            return tint * (0.82 * side) + colour(0xF0D090) * (rim * 0.35)
        }
    }

    /// Overlapping round feathers in rows.
    private func scales(_ q: Vec2, _ size: Float, _ light: Vec3, _ dark: Vec3) -> Vec3 {
        var result = dark
        let row = wholePart(q.y / (size * 0.62))
        for step in stride(from: Int32(2), through: 0, by: -1) {
            let r = row - step
            let shift: Float = r & 1 == 0 ? 0 : 0.5
            let column = wholePart(q.x / size + shift)
            let centre = Vec2((Float(column) + 0.5 - shift) * size, (Float(r) + 0.2) * size * 0.62)
            let d = (q - centre) / size
            let shape = Outline.ellipse(d, .zero, Vec2(0.54, 0.80))
            guard shape < 0, d.y > -0.3 else { continue }
            let edge = smoothstep(-0.16, -0.02, shape)
            let quill = smoothstep(0.05, 0.0, abs(d.x)) * 0.35
            let key = noise.unit(column, r) * 0.25
            result = mix(light * (0.9 + key), dark, max(edge, quill))
        }
        return result
    }

    private func paintFace(_ canvas: inout Canvas) {
        for side in [Float(-1), 1] {
            let eye = Vec2(0.5 + side * 0.098, 0.525)
            canvas.fill(
                { p in Outline.ellipse(p, eye, Vec2(0.112, 0.118)) }, in: Box(around: eye, radius: 0.14)
            ) { p in
                let q = p - eye
                let rays = noise.at(Vec2(atan2(q.y, q.x) * 9, q.length * 12))
                let rim = smoothstep(0.085, 0.112, q.length)
                return mix(colour(0xEFDCB4) * (1 + 0.16 * rays), colour(0x5A3826), rim)
            }
            canvas.disc(eye, radius: 0.070, colour(0x22150F))
            canvas.fill({ p in Outline.circle(p, eye, 0.061) }, in: Box(around: eye, radius: 0.08)) { p in
                let q = p - eye
                let fibres = noise.at(Vec2(atan2(q.y, q.x) * 14, q.length * 40))
                let tint = mix(colour(0xFFC832), colour(0xE87A14), smoothstep(0.03, 0.061, q.length))
                return tint * (1.05 + 0.16 * fibres + 2.95 * q.y)
            }
            canvas.disc(eye, radius: 0.033, colour(0x080608))
            canvas.disc(eye + Vec2(-0.014, -0.018), radius: 0.011, Vec3(1.3, 1.3, 1.25))
            // Brows run out into the ears.
            let brow = [
                Vec2(0.5 + side * 0.012, 0.500), Vec2(0.5 + side * 0.085, 0.425),
                Vec2(0.5 + side * 0.197, 0.315),
                Vec2(0.5 + side * 0.165, 0.405), Vec2(0.5 + side * 0.095, 0.455),
                Vec2(0.5 + side * 0.03, 0.52),
            ]
            canvas.polygon(brow) { p in colour(0x2E1D16) * (1 + 0.3 * noise.at(p * 90)) }
        }
        canvas.polygon([
            Vec2(0.5, 0.548), Vec2(0.533, 0.580), Vec2(0.512, 0.640), Vec2(0.5, 0.658), Vec2(0.488, 0.640),
            Vec2(0.467, 0.580),
        ]) { p in
            mix(colour(0x8A7A62), colour(0x2E2823), smoothstep(-0.03, 0.03, p.x - 0.5 + 0.2 * (p.y - 0.6)))
        }
    }

    private func paintFeet(_ canvas: inout Canvas) {
        for middle in [Float(0.41), 0.59] {
            for toe in [Float(-0.030), 0, 0.030] {
                let top = Vec2(middle + toe, 1.085)
                canvas.stroke(
                    from: top, to: top + Vec2(toe * 0.2, 0.040), width: 0.027, tapering: 0.020,
                    colour(0xC99A3C))
                canvas.stroke(
                    from: top + Vec2(toe * 0.2, 0.040), to: top + Vec2(toe * 0.3, 0.062), width: 0.014,
                    tapering: 0.003,
                    colour(0x1A1412))
            }
        }
    }
}
