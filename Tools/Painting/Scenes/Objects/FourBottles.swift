/// Four quiet vessels on a shelf, in the colours of clay and chalk.
struct FourBottles: StillLife {
    private let noise = Noise(901)
    private let tall = Lathe(
        at: Vec3(-0.62, 0, -0.30),
        outline: [
            Vec2(0.44, 0), Vec2(0.47, 0.10), Vec2(0.475, 0.6), Vec2(0.46, 1.25), Vec2(0.38, 1.58),
            Vec2(0.17, 1.95),
            Vec2(0.13, 2.25), Vec2(0.125, 2.75), Vec2(0.17, 2.86),
        ], care: 0.72)
    private let round = Lathe(
        at: Vec3(0.98, 0, 0.28),
        outline: [
            Vec2(0.26, 0), Vec2(0.42, 0.20), Vec2(0.54, 0.55), Vec2(0.42, 0.92), Vec2(0.19, 1.15),
            Vec2(0.15, 1.38),
            Vec2(0.25, 1.56),
        ], care: 0.6)
    private let slim = Lathe(
        at: Vec3(0.22, 0, -0.42),
        outline: [
            Vec2(0.27, 0), Vec2(0.30, 0.10), Vec2(0.305, 0.6), Vec2(0.30, 1.20), Vec2(0.25, 1.46),
            Vec2(0.11, 1.72),
            Vec2(0.09, 1.95), Vec2(0.09, 2.20), Vec2(0.12, 2.26),
        ], care: 0.72)

    var format: PictureFormat { .portrait }
    var eye: Vec3 { Vec3(0.1, 2.1, 9.5) }
    var target: Vec3 { Vec3(0.06, 1.42, 0) }
    var zoom: Float { 5.2 }
    var window: Vec3 { Vec3(-0.80, 0.58, 0.52) }
    var windowLight: Vec3 { Vec3(2.05, 1.9, 1.62) }
    var ceiling: Float { 4.8 }
    var film: Film { Film(exposure: 0.98, contrast: 1.04, saturation: 0.98, vignette: 0.2) }

    func distance(_ p: Vec3) -> Float {
        var nearest = min(p.y, p.z + 2.2)
        let rough = Solid.brick(p, Vec3(0.2, 1.5, 0.1), Vec3(1.5, 1.55, 1.1), rounding: 0.1)
        if rough > 1 { return min(nearest, rough) }
        for index in 0..<4 { nearest = min(nearest, vessel(index, p)) }
        return nearest
    }

    private func vessel(_ index: Int, _ p: Vec3) -> Float {
        switch index {
        case 0: return tall.distance(p) - 0.015
        case 1: return round.distance(p) - 0.015
        case 2: return slim.distance(p) - 0.012
        default:
            let q = p - Vec3(-0.18, 0.36, 0.62)
            let turned = Vec3(q.x * 0.93 - q.z * 0.36, q.y, q.z * 0.93 + q.x * 0.36)
            return Solid.brick(turned, .zero, Vec3(0.34, 0.36, 0.22), rounding: 0.03)
        }
    }

    func material(_ p: Vec3, _ normal: Vec3) -> Material {
        let brush = noise.fractal(p * 4, octaves: 4)
        let parts = [p.y, p.z + 2.2] + (0..<4).map { vessel($0, p) }
        switch parts.indices.min(by: { parts[$0] < parts[$1] }) {
        case 0:
            let streaks = noise.fractal(Vec3(p.x * 1.5, 0, p.z * 22), octaves: 4)
            return Material(
                colour: colour(0xB89A7C) * (1 + 0.12 * streaks + 0.05 * brush), gloss: 0.02, sharpness: 12)
        case 1:
            let plaster = noise.fractal(p * Vec3(2, 3, 1), octaves: 6)
            return Material(colour: colour(0xB9AD98) * (1 + 0.11 * plaster), gloss: 0)
        case 2:
            return Material(
                colour: colour(0xEDE6D8) * (1 + 0.05 * brush), gloss: 0.04, sharpness: 40, mirror: 0.15)
        case 3:
            let fired = mix(colour(0xB8552F), colour(0x8E3D24), 0.5 + 0.5 * brush)
            let band = smoothstep(0.012, 0, abs(p.y - 0.93) - 0.02)
            return Material(colour: mix(fired, colour(0xE3CDA8), band), gloss: 0.03, sharpness: 24)
        case 4:
            return Material(
                colour: colour(0x254A56) * (1 + 0.12 * brush), gloss: 0.06, sharpness: 130, mirror: 0.5)
        default:
            let label = abs(p.y - 0.34) < 0.15 && normal.z > 0.6
            let tint = label ? colour(0xE6DCC0) : colour(0xCF9A38)
            return Material(colour: tint * (1 + 0.08 * brush), gloss: 0.02, sharpness: 14)
        }
    }

    func surroundings(_ direction: Vec3, _ place: Vec2) -> Vec3 {
        colour(0xA89A84)
    }
}
