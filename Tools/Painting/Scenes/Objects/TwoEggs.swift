/// Two eggs in a bowl on a cloth, all of it white.
struct TwoEggs: StillLife {
    private let noise = Noise(951)

    var eye: Vec3 { Vec3(0, 4.2, 6.4) }
    var target: Vec3 { Vec3(0.22, 0.22, 0.0) }
    var zoom: Float { 4.4 }
    var window: Vec3 { Vec3(-0.75, 0.70, -0.10) }
    var windowLight: Vec3 { Vec3(1.95, 1.92, 1.86) }
    var windowHardness: Float { 4.5 }
    var roomLight: Vec3 { Vec3(0.62, 0.64, 0.68) }
    var ceiling: Float { 1.5 }
    var film: Film { Film(exposure: 0.86, vignette: 0.05, grain: 0.9, shoulder: 0.62) }

    func distance(_ p: Vec3) -> Float {
        min(min(cloth(p), bowl(p)), eggs(p))
    }

    private func cloth(_ p: Vec3) -> Float {
        let out = p.xz.length
        guard out > 1.5, p.y < 1.2 else { return p.y * 0.9 }
        let fold = 0.13 * noise.at(Vec3(p.x * 0.9 + p.z * 0.5, 0, p.z * 0.35 + 3)) * smoothstep(1.5, 2.6, out)
        return (p.y - fold) * 0.9
    }

    private func bowl(_ p: Vec3) -> Float {
        let out = p.xz.length
        let rough = Vec2(max(out - 1.62, 0), max(p.y - 0.8, 0)).length
        if rough > 1 { return rough }
        let share = clamp(out / 1.62)
        let rise = 0.10 + 0.62 * share * share * (0.35 + 0.65 * share)
        return max((abs(p.y - rise) - 0.035) * 0.62, out - 1.60) - 0.02
    }

    private func eggs(_ p: Vec3) -> Float {
        let rough = p.length - 1.5
        if rough > 1 { return rough }
        return min(
            egg(p, Vec3(-0.42, 0.56, 0.12), Vec3(0.35, 0.05, 0.94)),
            egg(p, Vec3(0.50, 0.56, -0.06), Vec3(0.95, 0.12, -0.3)))
    }

    /// One end of an egg is rounder than the other.
    private func egg(_ p: Vec3, _ middle: Vec3, _ axis: Vec3) -> Float {
        let way = axis.unit
        let d = p - middle
        let along = dot(d, way)
        let out = (d - way * along).length
        let radius = 0.40 - 0.055 * along
        return Outline.ellipse(Vec2(out, along), .zero, Vec2(radius, 0.54)) * 0.9
    }

    func material(_ p: Vec3, _ normal: Vec3) -> Material {
        let parts = [cloth(p), bowl(p), eggs(p)]
        switch parts.indices.min(by: { parts[$0] < parts[$1] }) {
        case 1: return Material(colour: Vec3(0.86, 0.865, 0.87), gloss: 0.05, sharpness: 110, mirror: 0.5)
        case 2:
            let grit = noise.at(p * 60)
            let tint = p.x < 0.04 ? colour(0xF4E6D6) : colour(0xF3EEE4)
            return Material(
                colour: tint * (1 + 0.02 * grit), gloss: 0.03, sharpness: 18, glow: Vec3(0.06, 0.05, 0.04))
        default:
            let thread = sin(p.x * 95) * sin(p.z * 95)
            let slub = noise.fractal(Vec3(p.x * 3, 0, p.z * 26), octaves: 3)
            return Material(colour: colour(0xF1F0EE) * (1 + 0.025 * thread + 0.02 * slub), gloss: 0)
        }
    }

    func surroundings(_ direction: Vec3, _ place: Vec2) -> Vec3 {
        Vec3(0.95, 0.96, 0.98)
    }
}
