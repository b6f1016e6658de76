/// A fox's face cut from layers of coloured paper, each throwing its shadow on the one below.
struct PaperFox: Scene {
    private let noise = Noise(1501)

    var format: PictureFormat { .portrait }
    var film: Film { Film(exposure: 1.0, saturation: 1.02, vignette: 0.2) }

    func paint(_ canvas: inout Canvas) {
        canvas.shade { p in paper(p, colour(0x1F6E72), 1) }
        paintRings(&canvas)
        paintLeaves(&canvas)
        paintFace(&canvas)
    }

    private func paintRings(_ canvas: inout Canvas) {
        let middle = Vec2(0.5, 0.64)
        for (index, hex) in [UInt32(0x2C8A88), 0x54A79A, 0x9CCBB0, 0xF1E3B8].enumerated() {
            let radius = 0.47 - Float(index) * 0.055
            lay(&canvas, hex, lift: 0.010) { p in
                let q = p - middle
                return q.length - radius + 0.010 * sin(atan2(q.y, q.x) * Float(14 - index * 2))
            }
        }
    }

    private func paintLeaves(_ canvas: inout Canvas) {
        let greens: [UInt32] = [0x2F5D3A, 0x4C8048, 0x7FA650, 0x1E4734]
        for index in 0..<22 {
            let side: Float = index.isMultiple(of: 2) ? -1 : 1
            let order = Float(index / 2)
            let foot = Vec2(0.5 + side * (0.02 + order * 0.045), 1.36)
            let tip =
                foot + Vec2(side * (0.02 + order * 0.017), -0.30 - 0.06 * sin(order * 2.4) + order * 0.004)
            let box = Box(min(foot.x, tip.x) - 0.13, tip.y - 0.08, max(foot.x, tip.x) + 0.13, 1.34)
            lay(&canvas, greens[index % 4], lift: 0.008, in: box) { p in
                let along = Outline.share(of: p, from: foot, to: tip)
                let half = 0.052 * pow(sin(Float.pi * (0.15 + 0.85 * along)), 0.9)
                let bend = side * 0.05 * along * along
                return ((p - Vec2(bend, 0)) - mix(foot, tip, along)).length - half
            }
        }
    }

    private func paintFace(_ canvas: inout Canvas) {
        // Everything is cut twice from a folded sheet, so one half describes it.
        mirrored(&canvas, 0xA63A1C, [Vec2(0.36, 0.02), Vec2(0.335, 0.40), Vec2(0.05, 0.24)])
        mirrored(&canvas, 0xE4672A, [Vec2(0.335, 0.075), Vec2(0.315, 0.40), Vec2(0.09, 0.25)])
        mirrored(&canvas, 0x3B2420, [Vec2(0.300, 0.155), Vec2(0.270, 0.36), Vec2(0.13, 0.27)])
        face(
            &canvas, 0xC9501F,
            [
                Vec2(0, 0.235), Vec2(0.17, 0.235), Vec2(0.33, 0.40), Vec2(0.385, 0.56), Vec2(0.27, 0.68),
                Vec2(0.10, 0.86),
                Vec2(0, 0.90),
            ])
        face(
            &canvas, 0xEF7A33,
            [
                Vec2(0, 0.26), Vec2(0.155, 0.26), Vec2(0.295, 0.41), Vec2(0.24, 0.50), Vec2(0.12, 0.60),
                Vec2(0.065, 0.80),
                Vec2(0, 0.84),
            ])
        mirrored(
            &canvas, 0xFBF1DE,
            [
                Vec2(0.385, 0.555), Vec2(0.25, 0.535), Vec2(0.125, 0.615), Vec2(0.075, 0.80),
                Vec2(0.10, 0.865), Vec2(0.27, 0.69),
            ])
        mirrored(
            &canvas, 0xF6D9B0, [Vec2(0.30, 0.575), Vec2(0.16, 0.63), Vec2(0.105, 0.79), Vec2(0.24, 0.68)])
        face(&canvas, 0xFFA055, [Vec2(0, 0.285), Vec2(0.055, 0.33), Vec2(0.034, 0.62), Vec2(0, 0.70)])
        // Eyes: almond, amber and a slit, each a layer of its own.
        mirrored(
            &canvas, 0x2A1A1C,
            [Vec2(0.235, 0.455), Vec2(0.165, 0.455), Vec2(0.085, 0.545), Vec2(0.165, 0.535)])
        mirrored(
            &canvas, 0xF7C548,
            [Vec2(0.212, 0.468), Vec2(0.168, 0.468), Vec2(0.112, 0.530), Vec2(0.160, 0.522)])
        mirrored(
            &canvas, 0x1B1114,
            [Vec2(0.176, 0.464), Vec2(0.158, 0.466), Vec2(0.142, 0.526), Vec2(0.158, 0.526)])
        face(&canvas, 0x241618, [Vec2(0, 0.795), Vec2(0.070, 0.805), Vec2(0.055, 0.86), Vec2(0, 0.905)])
        face(&canvas, 0x6B5654, [Vec2(0, 0.812), Vec2(0.040, 0.818), Vec2(0.026, 0.836), Vec2(0, 0.838)])
    }

    /// Two pieces, left and right, that do not meet.
    private func mirrored(_ canvas: inout Canvas, _ hex: UInt32, _ corners: [Vec2]) {
        let shifted = corners.map { $0 + Vec2(0, 0.16) }
        lay(&canvas, hex, lift: 0.011, in: box(shifted)) { p in
            Outline.polygon(Vec2(abs(p.x - 0.5), p.y), shifted) - 0.006
        }
    }

    /// One piece across the middle, given by its right half from the top down.
    private func face(_ canvas: inout Canvas, _ hex: UInt32, _ half: [Vec2]) {
        let right = half.map { $0 + Vec2(0, 0.16) }
        let left = right.reversed().map { Vec2(-$0.x, $0.y) }
        let whole = right + left
        lay(&canvas, hex, lift: 0.013, in: box(right)) { p in
            Outline.polygon(Vec2(p.x - 0.5, p.y), whole) - 0.006
        }
    }

    /// A box that holds both halves of a piece, its shadow included.
    private func box(_ half: [Vec2]) -> Box {
        let outermost = half.map(\.x).max() ?? 0
        let top = half.map(\.y).min() ?? 0
        let bottom = half.map(\.y).max() ?? 0
        return Box(0.5 - outermost - 0.05, top - 0.05, 0.5 + outermost + 0.05, bottom + 0.05)
    }

    /// Lays down a piece of paper with its shadow, its lit edge and its fibres.
    private func lay(
        _ canvas: inout Canvas, _ hex: UInt32, lift: Float, in box: Box = .everywhere,
        _ shape: (Vec2) -> Float
    ) {
        let tint = colour(hex)
        canvas.filter(in: box) { p in
            let near = smoothstep(lift * 1.6, -lift, shape(p - Vec2(lift * 0.9, lift * 1.3)))
            let contact = smoothstep(lift * 0.7, 0, shape(p))
            return Vec3(repeating: 1) - Vec3(0.62, 0.58, 0.50) * max(near * 0.85, contact * 0.55)
        }
        canvas.fill(shape, in: box) { p in
            let edge = smoothstep(0.0032, 0.0008, -shape(p))
            let lit = shape(p + Vec2(-0.002, -0.003)) - shape(p)
            return paper(p, tint, 1 + edge * clamp(lit * 110, -0.25, 0.35))
        }
    }

    private func paper(_ p: Vec2, _ tint: Vec3, _ light: Float) -> Vec3 {
        let pulp = noise.fractal(p * 55, octaves: 4, gain: 0.6)
        let fibre = noise.at(Vec2(p.x * 260, p.y * 60).turned(by: 0.6))
        let fall = 1.12 - 0.22 * p.y + 0.06 * (0.5 - p.x)
        return tint * (light * fall * (1 + 0.045 * pulp + 0.02 * fibre))
    }
}
