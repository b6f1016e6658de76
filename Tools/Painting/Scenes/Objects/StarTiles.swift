/// Stars and crosses of glazed tile, a patch of sun across them.
struct StarTiles: Scene {
    private let noise = Noise(1001)
    /// The width of one star with its part of the crosses.
    private let cell: Float = 1.0 / 3.0

    var film: Film { Film(exposure: 1.05, saturation: 1.05, vignette: 0.22) }

    func paint(_ canvas: inout Canvas) {
        canvas.shade { p in
            // The sun comes through a lattice, so it falls in slanting panes.
            let slant = Vec2(p.x + p.y * 0.55, p.y - p.x * 0.10) + 0.004 * noise.at(p * 9)
            let pane = max(abs(slant.x - 0.95) - 0.46, abs(slant.y - 0.40) - 0.62)
            let bars = min(abs(slant.x - 0.95), abs(slant.y - 0.40))
            let sun = smoothstep(0.02, -0.02, pane) * smoothstep(0.010, 0.034, bars)
            let daylight = mix(colour(0x8EA4C8) * 0.62, colour(0xFFF0D6) * 1.18, sun)
            return tile(p - Vec2(2 * cell, 1.5 * cell)) * daylight
        }
    }

    /// Returns the colour of the wall in even light.
    private func tile(_ p: Vec2) -> Vec3 {
        let q = p / cell
        let column = wholePart(q.x + 0.5)
        let row = wholePart(q.y + 0.5)
        let star = q - Vec2(Float(column), Float(row))
        let edge = octagram(star, 0.3535)
        let step: Float = 0.01
        let slope =
            Vec2(octagram(star + Vec2(step, 0), 0.3535) - edge, octagram(star + Vec2(0, step), 0.3535) - edge)
            / step
        if edge < 0 {
            return glazed(
                starColour(star, edge, column, row), -edge, slope, star, Noise(77).unit(column, row))
        }

        let crossColumn = wholePart(q.x)
        let crossRow = wholePart(q.y)
        let cross = q - Vec2(Float(crossColumn) + 0.5, Float(crossRow) + 0.5)
        let key = Noise(78).unit(crossColumn, crossRow)
        return glazed(crossColour(cross, edge), edge, slope * -1, cross, key)
    }

    private func starColour(_ q: Vec2, _ edge: Float, _ column: Int32, _ row: Int32) -> Vec3 {
        let blue = (column + row) & 1 == 0
        let ground = blue ? colour(0x12489A) : colour(0x16808C)
        var tint = ground
        let angle = atan2(q.y, q.x)
        let out = q.length
        let line = cell * 0.012
        // From the rim inwards: a white band, a ring of petals, a small star and a golden eye.
        tint = mix(tint, colour(0xEFE8D6), smoothstep(line, 0, abs(edge + 0.062) - 0.016))
        let petal = abs(sin(angle * 4))
        let rose = out - 0.145 - 0.105 * pow(1 - petal, 0.8)
        tint = mix(tint, blue ? colour(0x2FA6B8) : colour(0xE9B23C), smoothstep(line, -line, rose))
        tint = mix(tint, colour(0xEFE8D6), smoothstep(line, 0, abs(rose) - 0.009))
        let inner = octagram(q, 0.095)
        tint = mix(tint, blue ? colour(0xF2EBD8) : colour(0x123F86), smoothstep(line, -line, inner))
        tint = mix(tint, blue ? colour(0xD8922A) : colour(0xF2EBD8), smoothstep(line, -line, out - 0.052))
        return tint
    }

    private func crossColour(_ q: Vec2, _ edge: Float) -> Vec3 {
        var tint = colour(0xEDE3CC)
        let line = cell * 0.012
        tint = mix(tint, colour(0xA8341F), smoothstep(line, 0, abs(edge - 0.062) - 0.012))
        let angle = atan2(q.y, q.x)
        let leaf = q.length - 0.20 * pow(abs(cos(angle * 2)), 1.6) - 0.022
        tint = mix(tint, colour(0x1B6A5A), smoothstep(line, -line, leaf))
        tint = mix(tint, colour(0xA8341F), smoothstep(line, -line, q.length - 0.040))
        return tint
    }

    /// Returns the colour under glaze: uneven, rounded towards the joint, with fine cracks.
    ///
    /// - Parameters:
    ///   - depth: The distance from the tile's edge.
    ///   - outwards: The direction of the nearest joint.
    ///   - key: A number of the tile.
    private func glazed(_ tint: Vec3, _ depth: Float, _ outwards: Vec2, _ q: Vec2, _ key: Float) -> Vec3 {
        let field = Noise(1010 &+ UInt32(key * 1000))
        var result = tint * (0.84 + 0.26 * key + 0.13 * field.fractal(q * 4, octaves: 4))
        let crack = field.cell(q * 9).edge
        result *= 1 - 0.16 * smoothstep(0.035, 0.0, crack)
        // The rounded rim shines towards the window, up and to the left, and is dim on the other side.
        let bevel = smoothstep(0.055, 0.012, depth)
        result *= 1 - 0.35 * bevel
        result += Vec3(repeating: 0.30 * bevel * smoothstep(0.2, 1.0, dot(outwards, Vec2(-0.6, -0.8))))
        let joint = smoothstep(0.011, 0.017, depth)
        let mortar = colour(0x8C8474) * (0.5 + 0.15 * noise.fractal(q * 40, octaves: 2))
        return mix(mortar, result, joint)
    }

    /// An eight-pointed star: two squares, one of them on its corner.
    private func octagram(_ q: Vec2, _ half: Float) -> Float {
        let level = max(abs(q.x), abs(q.y)) - half
        let turned = (abs(q.x) + abs(q.y)) * 0.707_107 - half
        return min(level, turned)
    }
}
