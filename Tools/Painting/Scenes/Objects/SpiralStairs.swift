/// A spiral staircase seen from the top, in black and white.
struct SpiralStairs: Scene {
    private let noise = Noise(2801)
    private let eye = Vec2(0.53, 0.71)
    private let steps: Float = 22
    /// The reduction with each turn down, as a natural logarithm.
    private let shrink: Float = 0.80

    var format: PictureFormat { .portrait }
    var film: Film { Film(exposure: 1.05, contrast: 1.12, saturation: 0, vignette: 0.3, grain: 2.0) }

    func paint(_ canvas: inout Canvas) {
        canvas.shade { p in Vec3(repeating: light(p)) }
    }

    private func light(_ p: Vec2) -> Float {
        // Each turn lies below the last and looks smaller; the wells are not exactly aligned.
        var q = p - eye
        q += Vec2(0.05, -0.045) * exp(-q.length * 2.2)
        let out = q.length
        let angle = atan2(q.y, q.x) / (2 * Float.pi)
        let depth = -log(max(out, 0.0012) / 0.92) / shrink
        let coil = depth + angle + 0.25
        let turn = Float(wholePart(coil))
        let within = coil - turn
        // The number of turns down the stairs at this position; light from the roof gets weaker.
        let down = turn - angle
        let dim = exp(-max(down, 0) * 0.30) * smoothstep(0.012, 0.07, out)

        let bottom: Float = 0.0024
        if out < 0.020 { return bottom + 0.30 * smoothstep(0.020, 0.0, out) }
        let treads = smoothstep(0.655, 0.645, within)
        let tread = self.tread(q, angle, within) * treads
        let rail = balustrade(q, angle, within)
        let wall = self.wall(within)
        var value = within < 0.65 ? tread : wall
        value = mix(value, rail.0, rail.1)
        let side = 0.80 + 0.30 * cos((angle + 0.36) * 2 * Float.pi)
        return bottom + value * dim * side
    }

    private func tread(_ q: Vec2, _ angle: Float, _ within: Float) -> Float {
        let place = angle * steps + within * 0.35
        let key = noise.unit(wholePart(place) &+ 40, 2)
        let share = fract(place)
        let marble = noise.fractal(q * 16 / max(q.length, 0.05) * 0.4 + key * 20, octaves: 4)
        // Each tread is shaded by the one above near its back edge and bright along its nosing.
        let shade = mix(0.20, 0.80, smoothstep(0.0, 0.38, share))
        let nosing = smoothstep(0.86, 0.90, share) * smoothstep(1.0, 0.955, share)
        let gap = smoothstep(0.955, 0.985, share)
        let hollow = 1 - 0.10 * bell(within, 0.36, 0.16)
        return (shade * (0.92 + 0.14 * key + 0.07 * marble) * hollow + 0.42 * nosing) * (1 - 0.88 * gap)
            * smoothstep(0.0, 0.10, within + 0.05)
    }

    /// Returns the brightness and opacity of the handrail along the well and its balusters.
    private func balustrade(_ q: Vec2, _ angle: Float, _ within: Float) -> (Float, Float) {
        let rail = abs(within - 0.845)
        if rail < 0.060 {
            let round = 1 - rail / 0.060
            let sheen = bell(within, 0.828, 0.016)
            return (0.045 + 0.07 * round + 0.85 * sheen, smoothstep(0.060, 0.050, rail))
        }
        guard within > 0.63, within < 0.80 else { return (0, 0) }
        let share = abs(fract(angle * steps * 2 + within * 1.1) - 0.5)
        return (0.035, smoothstep(0.16, 0.11, share) + smoothstep(0.662, 0.652, within) * 0.9)
    }

    /// The underside and the side of the flight below, seen past the rail.
    private func wall(_ within: Float) -> Float {
        if within > 0.90 { return mix(0.10, 0.60, smoothstep(0.905, 1.0, within)) }
        return mix(0.34, 0.52, smoothstep(0.65, 0.80, within))
    }
}
