extension Canvas {
    /// Draws a fir: a jagged cone of drooping branches, lit from the left.
    ///
    /// - Parameters:
    ///   - foot: The point where the trunk meets the ground.
    ///   - dark: The colour of the shaded side.
    ///   - light: The colour of the lit side.
    ///   - snow: The fraction of each branch that is covered with snow.
    mutating func fir(foot: Vec2, height: Float, _ dark: Vec3, light: Vec3, snow: Float = 0) {
        let grain = Noise(UInt32(truncatingIfNeeded: Int(foot.x * 4096)) &+ 17)
        let tiers = max(5, min(11, height * 40)).rounded()
        func half(_ p: Vec2) -> (width: Float, tier: Float) {
            let t = (p.y - foot.y + height) / height
            guard t > 0, t < 0.93 else { return (t >= 0.93 && t < 1 ? 0.022 * height : -1, 1) }
            let side = p.x < foot.x ? Float(3) : 8
            let droop = abs(p.x - foot.x) / height * 1.1
            let place = (t - droop * 0.35) * tiers + 0.22 * grain.at(Vec2(t * tiers * 0.8, side))
            let within = fract(place)
            let reach = 0.20 * pow(t, 0.85) + 0.012
            let ragged = 0.035 * grain.at(Vec2(p.x, p.y) * (26 / height)) * t
            return ((reach * (0.62 + 0.42 * within) + ragged) * height, within)
        }
        let box = Box(foot.x - height * 0.3, foot.y - height * 1.02, foot.x + height * 0.3, foot.y)
        fill({ p in abs(p.x - foot.x) - half(p).width }, in: box) { p in
            let (width, within) = half(p)
            let across = (p.x - foot.x) / max(width, 1e-5)
            let needles = 0.5 + 0.5 * grain.at(Vec2(p.x, p.y) * (60 / height))
            let shade = mix(light, dark, clamp(0.5 + 0.6 * across + 0.4 * (0.5 - needles)))
            let green = shade * (1.15 - 0.65 * within)
            guard snow > 0 else { return green }
            let cover = smoothstep(snow + 0.12, snow - 0.12, within + 0.25 * (needles - 0.5))
            let white = mix(colour(0xFFFDF8), colour(0xA9BEDC), clamp(0.35 + 0.65 * across))
            return mix(green, white, cover)
        }
    }
}
