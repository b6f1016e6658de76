/// A sun over the sea in leaded glass, the stone around it dark.
struct SunWindow: Scene {
    private let noise = Noise(1201)
    private let sun = Vec2(0.5, 0.60)
    private let warm = Gradient([(0, 0xF0641C), (0.3, 0xDC3020), (0.65, 0xA01848), (1, 0x4A1470)])
    private let cool = Gradient([(0, 0xF09A38), (0.25, 0xD86A78), (0.5, 0x4A62C8), (1, 0x16248A)])

    var format: PictureFormat { .portrait }
    var film: Film { Film(exposure: 1.05, saturation: 1.08, vignette: 0.1) }

    func paint(_ canvas: inout Canvas) {
        canvas.shade { p in
            let frame = arch(p)
            return frame < 0 ? glass(p, frame) : stone(p, frame)
        }
        // Bright panes illuminate the lead and stone around them.
        let panes = canvas
        canvas.lighten { p in
            var spill = Vec3.zero
            for ring in 1...3 {
                for step in 0..<8 {
                    let way = Vec2(1, 0).turned(by: Float(step) * 0.785 + Float(ring) * 0.4)
                    spill += panes.sample(p + way * (0.012 * Float(ring * ring)))
                }
            }
            return spill * (0.16 / 24)
        }
    }

    /// A pointed arch.
    private func arch(_ p: Vec2) -> Float {
        let half: Float = 0.385
        let spring: Float = 0.56
        if p.y > spring { return max(abs(p.x - 0.5) - half, p.y - 1.235) }
        // Two circles, each with its centre beyond the other side.
        let reach = half * 1.55
        let left = (p - Vec2(0.5 + half - reach, spring)).length - reach
        let right = (p - Vec2(0.5 - half + reach, spring)).length - reach
        return max(left, right)
    }

    private func glass(_ p: Vec2, _ frame: Float) -> Vec3 {
        let border = frame + 0.052
        var lead: Float
        var tint: Vec3
        let key: Float
        if border > 0 {
            // A border of alternating small panes runs along the frame.
            let along = p.y > 0.56 ? p.y : 0.56 + (atan2(p.y - 0.56, abs(p.x - 0.5) + 0.2)) * 0.55
            let index = wholePart(along / 0.052 + 100)
            let within = abs(fract(along / 0.052 + 100) - 0.5)
            lead = min(min(border, -frame), (0.5 - within) * 0.052)
            key = noise.unit(index, p.x < 0.5 ? 1 : 2)
            tint = index & 1 == 0 ? colour(0xB01E2A) : colour(0xE8B030)
        } else {
            let cell = noise.cell(p * 10.5, jitter: 0.92)
            let middle = cell.centre / 10.5
            lead = min(cell.edge / 10.5, -border)
            key = cell.unit
            (tint, lead) = subject(p, middle, key, lead)
        }
        let mullion = abs(abs(p.x - 0.5) - 0.165) - 0.006
        let bars = min(mullion, abs(wrap(p.y - 0.56, 0.225) - 0.1125) - 0.003)
        lead = min(lead, bars)
        // Old glass: streaks, seeds and a light that is stronger higher up.
        let streak = noise.fractal(Vec2(p.x * 24 + key * 90, p.y * 9), octaves: 4)
        let seed = smoothstep(0.75, 0.95, noise.at(p * 90 + key * 50))
        let daylight = mix(1.5, 0.95, p.y / 1.333) + 0.6 * exp(-(p - sun).length * 3.6)
        let light = tint * (daylight * (0.72 + 0.45 * key) * (1 + 0.24 * streak + 0.35 * seed))
        let bead = colour(0x14161C) + Vec3(0.05, 0.05, 0.06) * smoothstep(0.006, 0.0, lead)
        return mix(bead, light, smoothstep(0.0035, 0.0062, lead))
    }

    /// Returns the motif: each pane has the colour at its centre.
    private func subject(_ p: Vec2, _ middle: Vec2, _ key: Float, _ cellLead: Float) -> (Vec3, Float) {
        let disc = (p - sun).length - 0.152
        let horizon = p.y - 0.80 - 0.018 * sin(p.x * 13)
        if horizon > 0 {
            let lane = abs(middle.x - 0.5) < 0.07 + (middle.y - 0.8) * 0.25
            let depth = (middle.y - 0.8) / 0.43
            let deep = mix(colour(0x1FA0A8), colour(0x0E2C7A), clamp(depth + (key - 0.5) * 0.4))
            return (lane ? mix(colour(0xFFC850), colour(0x48B0A0), depth) : deep, min(cellLead, horizon))
        }
        if disc < 0 { return (mix(colour(0xFFF0A0), colour(0xFFC63A), key), min(cellLead, -disc)) }
        let toPane = middle - sun
        let turns = atan2(toPane.y, toPane.x) / (Float.pi * 2) * 16 + 100
        let ray = wholePart(turns) & 1 == 0
        let out = (toPane.length - 0.152) / 0.55
        return ((ray ? warm : cool).at(out), min(cellLead, min(disc, -horizon)))
    }

    private func stone(_ p: Vec2, _ frame: Float) -> Vec3 {
        let course = wholePart(p.y / 0.111)
        let shift = course & 1 == 0 ? Float(0) : 0.09
        let block = wholePart((p.x + shift) / 0.18)
        let joint = min(
            min(fract(p.y / 0.111), 1 - fract(p.y / 0.111)) * 0.111,
            min(fract((p.x + shift) / 0.18), 1 - fract((p.x + shift) / 0.18)) * 0.18)
        let rough = noise.fractal(p * 14, octaves: 6)
        var tint = colour(0x2B2622) * (0.8 + 0.5 * noise.unit(block, course)) * (1 + 0.35 * rough)
        tint *= 0.5 + 0.5 * smoothstep(0.0, 0.005, joint)
        // A moulding steps back towards the glass and catches light on its edges.
        let step = fract(frame / 0.022)
        let moulding = frame < 0.044 ? mix(1.9, 0.5, step) : 1
        return tint * moulding * (0.55 + 1.4 * exp(-frame * 12))
    }
}
