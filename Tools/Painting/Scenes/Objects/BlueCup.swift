/// A cup of coffee in cobalt blue on a red chequered cloth.
struct BlueCup: StillLife {
    private let noise = Noise(801)
    private let outside: Lathe
    private let inside: Lathe

    init() {
        let outline = [
            Vec2(0.36, 0.08), Vec2(0.42, 0.15), Vec2(0.62, 0.36), Vec2(0.76, 0.70), Vec2(0.81, 1.0),
            Vec2(0.85, 1.16),
        ]
        outside = Lathe(at: .zero, outline: outline)
        inside = Lathe(at: .zero, outline: outline.map { Vec2($0.x - 0.05, $0.y + 0.06) } + [Vec2(0.84, 1.5)])
    }

    var eye: Vec3 { Vec3(0.2, 4.3, 5.6) }
    var target: Vec3 { Vec3(0.12, 0.36, 0.05) }
    var zoom: Float { 4.25 }
    var window: Vec3 { Vec3(-0.62, 0.66, -0.42) }
    var windowLight: Vec3 { Vec3(2.7, 2.45, 2.1) }
    var windowHardness: Float { 9 }
    var ceiling: Float { 1.3 }
    var film: Film { Film(exposure: 0.95, contrast: 1.05, saturation: 1.06, vignette: 0.22) }

    func distance(_ p: Vec3) -> Float {
        var nearest = min(cloth(p), saucer(p))
        let rough = Solid.cylinder(p, Vec3(0.15, 0.6, 0), radius: 1.42, half: 0.75, rounding: 0.1)
        if rough > 1 { return min(nearest, min(rough, spoon(p))) }
        nearest = min(nearest, min(cup(p), coffee(p)))
        return min(nearest, spoon(p))
    }

    private func cloth(_ p: Vec3) -> Float {
        let out = p.xz.length
        guard out > 1.7, p.y < 1.2 else { return p.y * 0.98 }
        return (p.y - 0.03 * sin(p.x * 1.1 + p.z * 0.7) * smoothstep(1.7, 3, out)) * 0.98
    }

    private func saucer(_ p: Vec3) -> Float {
        let out = p.xz.length
        let rise = 0.05 + 0.16 * smoothstep(0.55, 1.5, out) + 0.03 * smoothstep(1.42, 1.5, out)
        let rough = Vec2(max(out - 1.53, 0), max(p.y - 0.3, 0)).length
        if rough > 1 { return rough }
        let plate = (abs(p.y - rise) - 0.025) * 0.85
        return max(plate, out - 1.52)
    }

    private func cup(_ p: Vec3) -> Float {
        let outer = outside.distance(p)
        let bowl = max(outer, -inside.distance(p)) - 0.012
        let q = p - Vec3(0.86, 0.66, 0.12)
        let along = Vec2(q.x * 0.96 + q.z * 0.28, q.y)
        let ear = Vec2((along.length - 0.30), q.z * 0.96 - q.x * 0.28).length - 0.062
        return Outline.melt(bowl, max(ear, -outer - 0.05), 0.06)
    }

    private func coffee(_ p: Vec3) -> Float {
        max(abs(p.y - 0.95) - 0.03, p.xz.length - 0.775)
    }

    private func spoon(_ p: Vec3) -> Float {
        let bowlMiddle = Vec3(-0.62, 0.235, 1.10)
        let bowl = Solid.ellipsoid(p, bowlMiddle, Vec3(0.24, 0.045, 0.16))
        let handle = Solid.rod(
            p, bowlMiddle + Vec3(0.2, 0.0, 0.0), Vec3(0.95, 0.27, 1.18), 0.022, tapering: 0.042)
        return Outline.melt(bowl, handle, 0.08) * 0.8
    }

    func material(_ p: Vec3, _ normal: Vec3) -> Material {
        let parts = [cloth(p), saucer(p), cup(p), coffee(p), spoon(p)]
        switch parts.indices.min(by: { parts[$0] < parts[$1] }) {
        case 1:
            let out = p.xz.length
            let band = smoothstep(0.012, 0.004, abs(out - 1.36) - 0.035)
            return Material(
                colour: mix(colour(0xF2EEE6), colour(0x16409A), band), gloss: 0.05, sharpness: 120,
                mirror: 0.8)
        case 2:
            let rim = smoothstep(1.14, 1.18, p.y)
            let inside = p.xz.length < 0.79 && normal.y > -0.2 && dot(normal.xz, p.xz) < 0
            let glaze = mix(
                colour(0x0F3FA0), colour(0x0A2C78), 0.5 + 0.5 * noise.fractal(p * 2.6, octaves: 3))
            let tint = inside ? colour(0xF0ECE2) : mix(glaze, colour(0xD9D2C0), rim * 0.7)
            return Material(colour: tint, gloss: 0.05, sharpness: 160, mirror: 0.9)
        case 3: return brew(p)
        case 4: return Material(colour: colour(0x8C8C90), gloss: 0.55, sharpness: 90, mirror: 0.9)
        default: return weave(p)
        }
    }

    /// Coffee with a swirl of cream and a rim of small bubbles.
    private func brew(_ p: Vec3) -> Material {
        let out = p.xz.length
        let angle = atan2(p.z, p.x)
        let swirl = sin(angle * 2 + out * 11 + 1.4 * noise.at(p * 3.5))
        let cream = smoothstep(0.25, 0.95, swirl) * smoothstep(0.68, 0.35, out)
        let crema = smoothstep(0.64, 0.76, out + 0.04 * noise.at(p * 14))
        let tint = mix(mix(colour(0x3A1E0E), colour(0xC99A64), cream * 0.85), colour(0xA8743C), crema)
        return Material(colour: tint, gloss: 0.03, sharpness: 140, mirror: 0.7)
    }

    /// Cotton woven of red and white threads in broad stripes both ways.
    private func weave(_ p: Vec3) -> Material {
        let q = p.xz.turned(by: 0.42) * 1.55
        func stripe(_ x: Float) -> Float {
            smoothstep(0.24, 0.26, abs(fract(x) - 0.5))
        }
        let share = (stripe(q.x) + stripe(q.y)) / 2
        let thread = 0.5 + 0.25 * sin(q.x * 150) + 0.25 * sin(q.y * 150)
        let tint = mix(colour(0xF4EEE4), colour(0xC02A2C), share)
        let fluff = noise.fractal(p * 9, octaves: 3)
        return Material(colour: tint * (0.86 + 0.14 * thread + 0.05 * fluff), gloss: 0.01, sharpness: 8)
    }

    func surroundings(_ direction: Vec3, _ place: Vec2) -> Vec3 {
        // The glaze mirrors a bright window with a cross bar in a dim room.
        let aim = window.unit
        let side = cross(aim, Vec3(0, 1, 0)).unit
        let q = Vec2(dot(direction, side), dot(direction, cross(side, aim)))
        let pane = dot(direction, aim) > 0 ? max(abs(q.x) - 0.30, abs(q.y) - 0.36) : 1
        let bars = min(abs(q.x), abs(q.y))
        let glass = smoothstep(0.02, -0.02, pane) * smoothstep(0.012, 0.03, bars)
        return mix(colour(0x4A443C), colour(0x8A94A0), clamp(direction.y)) + Vec3(2.6, 2.6, 2.5) * glass
    }
}
