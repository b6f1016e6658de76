/// Three pears on a plank, by a window.
struct ThreePears: StillLife {
    private let noise = Noise(701)
    private let left = Pear(foot: Vec3(-1.12, 0, 0.05), lean: Vec3(-0.10, 1, 0.05), size: 1.0, seed: 1)
    private let middle = Pear(foot: Vec3(0.18, 0, -0.45), lean: Vec3(0.14, 1, -0.05), size: 1.14, seed: 2)
    private let lying = Pear(foot: Vec3(0.95, 0.485, 0.70), lean: Vec3(0.90, 0.10, 0.48), size: 0.92, seed: 3)

    var eye: Vec3 { Vec3(0.1, 2.2, 7.4) }
    var target: Vec3 { Vec3(0.28, 0.84, 0) }
    var zoom: Float { 4.0 }
    var window: Vec3 { Vec3(-0.85, 0.62, 0.30) }
    var windowLight: Vec3 { Vec3(2.0, 1.72, 1.32) }
    var ceiling: Float { 2.5 }
    var film: Film { Film(exposure: 1.0, contrast: 1.08, saturation: 1.05, vignette: 0.28) }

    func distance(_ p: Vec3) -> Float {
        min(min(p.y, left.distance(p)), min(middle.distance(p), lying.distance(p)))
    }

    func material(_ p: Vec3, _ normal: Vec3) -> Material {
        var pear = left
        if middle.distance(p) < pear.distance(p) { pear = middle }
        if lying.distance(p) < pear.distance(p) { pear = lying }
        if p.y < pear.distance(p) { return wood(p) }
        if pear.stem(p) < pear.flesh(p) {
            return Material(colour: colour(0x4A3220), gloss: 0.03, sharpness: 20)
        }
        let up = pear.height(p)
        let soft = noise.fractal(p * 2.2 + Float(pear.seed) * 9, octaves: 4)
        let green = mix(colour(0x8C9A3A), colour(0xD2AE48), smoothstep(-0.35, 0.5, soft + up * 0.25))
        // The side that grew in the sun is red.
        let blush = smoothstep(0.0, 0.75, dot(normal, Vec3(0.45, 0.15, 0.75).unit) * 0.7 + soft * 0.5 - 0.05)
        var skin = mix(green, colour(0xB04A2E), blush * 0.8)
        let spots = noise.at(p * 34)
        skin = mix(skin, colour(0x5B4A1C), smoothstep(0.62, 0.82, spots) * 0.55)
        let ends = smoothstep(0.10, 0.0, up) + smoothstep(1.52, 1.62, up)
        return Material(
            colour: mix(skin, colour(0x6E5420), clamp(ends) * 0.6), gloss: 0.05, sharpness: 38,
            glow: skin * 0.10)
    }

    private func wood(_ p: Vec3) -> Material {
        let plank = wholePart((p.z + 10.3) / 1.15)
        let within = fract((p.z + 10.3) / 1.15)
        let shift = Float(plank) * 5.3
        let bend = noise.at(Vec3(p.x * 0.5, 0, p.z * 1.3) + shift)
        let rings = sin((p.z * 9 + bend * 7 + shift) * 2.1)
        let fibre = noise.fractal(Vec3(p.x * 2.2, shift, p.z * 70), octaves: 3)
        var tint = mix(colour(0x6B4326), colour(0x8E6038), 0.5 + 0.22 * rings + 0.25 * fibre)
        tint *= 0.85 + 0.3 * noise.unit(plank, 3)
        let gap = smoothstep(0.018, 0.004, min(within, 1 - within))
        return Material(colour: tint * (1 - 0.85 * gap), gloss: 0.04, sharpness: 26, mirror: 0.12)
    }

    func surroundings(_ direction: Vec3, _ place: Vec2) -> Vec3 {
        let light = exp(-2.2 * (place - Vec2(0.25, 0.30)).length)
        let brush = noise.fractal(place * Vec2(5, 8), octaves: 5)
        let wall = mix(colour(0x16242A), colour(0x5C7F80), clamp(light * 1.15))
        return wall * (1 + 0.16 * brush)
    }
}
