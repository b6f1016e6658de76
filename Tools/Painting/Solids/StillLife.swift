/// A scene of solid bodies on a table, lit by a window.
protocol StillLife: Scene {
    /// The position of the eye and the point it looks at.
    var eye: Vec3 { get }
    var target: Vec3 { get }

    /// The focal length in halves of the picture's shorter side.
    var zoom: Float { get }

    /// The direction to the window's centre, its light, and its size: 4 casts soft shadows, 30 hard ones.
    var window: Vec3 { get }
    var windowLight: Vec3 { get }
    var windowHardness: Float { get }

    /// The light of the room from above.
    var roomLight: Vec3 { get }

    /// The greatest height of any body.
    var ceiling: Float { get }

    /// Returns the signed distance to the nearest body. Beyond about one it may be too small.
    func distance(_ p: Vec3) -> Float

    /// Returns the material of the nearest body at a point on its surface.
    func material(_ p: Vec3, _ normal: Vec3) -> Material

    /// Returns the light from a direction without bodies.
    func surroundings(_ direction: Vec3, _ place: Vec2) -> Vec3
}

extension StillLife {
    var target: Vec3 { Vec3(0, 0.8, 0) }
    var zoom: Float { 3 }
    var window: Vec3 { Vec3(-0.7, 0.75, 0.35) }
    var windowLight: Vec3 { Vec3(2.3, 2.1, 1.85) }
    var windowHardness: Float { 7 }
    var roomLight: Vec3 { Vec3(0.30, 0.33, 0.38) }
    var ceiling: Float { 4 }

    func paint(_ canvas: inout Canvas) {
        let marcher = RayMarcher(scene: self)
        let middle = canvas.extent / 2
        canvas.shade { p in marcher.light(at: (p - middle) * 2, place: p) }
    }
}

/// Computes the light from a still life by marching along rays.
struct RayMarcher<Subject: StillLife> {
    private let scene: Subject
    private let right: Vec3
    private let up: Vec3
    private let forward: Vec3
    private let window: Vec3

    init(scene: Subject) {
        self.scene = scene
        forward = (scene.target - scene.eye).unit
        right = cross(forward, Vec3(0, 1, 0)).unit
        up = cross(right, forward)
        window = scene.window.unit
    }

    /// Returns the light at a point of the picture.
    ///
    /// - Parameters:
    ///   - film: The point measured from the middle in halves of the shorter side.
    ///   - place: The same point in canvas units, for painting the surroundings.
    func light(at film: Vec2, place: Vec2) -> Vec3 {
        let ray = (forward * scene.zoom + right * film.x - up * film.y).unit
        guard let hit = march(from: scene.eye, along: ray, reach: 40) else {
            return scene.surroundings(ray, place)
        }
        return skin(hit, ray, place, mirroring: true)
    }

    /// Returns the light that a point on a surface sends back along the ray.
    private func skin(_ p: Vec3, _ ray: Vec3, _ place: Vec2, mirroring: Bool) -> Vec3 {
        let n = normal(p)
        let material = scene.material(p, n)
        let start = p + n * 0.004
        let facing = dot(n, window)
        let lit = facing > 0 ? facing * openness(start) : 0
        let crevice = shelter(p, n)

        let fromAbove = 0.55 + 0.45 * n.y
        // The table reflects some of the window's warm light upwards.
        let bounced = scene.windowLight * (0.10 * (0.5 - 0.5 * n.y))
        var light = scene.windowLight * lit + (scene.roomLight * fromAbove + bounced) * crevice
        light += scene.windowLight * (clamp(facing * 0.5 + 0.5) * crevice) * material.glow
        var result = material.colour * light

        let glancing = pow(1 - clamp(-dot(ray, n)), 5)
        let half = (window - ray).unit
        let sheen = pow(clamp(dot(n, half)), material.sharpness) * (material.sharpness + 8) / 25
        let shine = material.gloss + (1 - material.gloss) * glancing * min(material.gloss * 8, 1)
        result += scene.windowLight * (sheen * lit * shine)

        if mirroring, material.mirror > 0 {
            let bounce = reflect(ray, n)
            let share = material.mirror * (material.gloss + (1 - material.gloss) * glancing)
            var seen = scene.surroundings(bounce, place)
            if let hit = march(from: start, along: bounce, reach: 12) {
                seen = skin(hit, bounce, place, mirroring: false)
            }
            result = mix(result, seen, clamp(share))
        }
        return result
    }

    /// Returns the first point along a ray that lies on a surface.
    private func march(from origin: Vec3, along ray: Vec3, reach: Float) -> Vec3? {
        var t: Float = 0.002
        if origin.y > scene.ceiling {
            guard ray.y < 0 else { return nil }
            t = (scene.ceiling - origin.y) / ray.y
        }
        for _ in 0..<160 {
            let p = origin + ray * t
            let gap = scene.distance(p)
            if gap < 0.0007 * (1 + t * 0.25) { return p }
            t += gap
            if t > reach || (ray.y > 0 && p.y > scene.ceiling) { return nil }
        }
        return origin + ray * t
    }

    private func normal(_ p: Vec3) -> Vec3 {
        // Four points around this one give the slope as well as six would.
        let step: Float = 0.0012
        let corners = [Vec3(1, -1, -1), Vec3(-1, -1, 1), Vec3(-1, 1, -1), Vec3(1, 1, 1)]
        var n = Vec3.zero
        for corner in corners { n += corner * scene.distance(p + corner * step) }
        return n.unit
    }

    /// Returns how much of the window a point sees, from 0 to 1. Near misses make soft shadow edges.
    private func openness(_ p: Vec3) -> Float {
        var open: Float = 1
        var t: Float = 0.02
        for _ in 0..<120 {
            let place = p + window * t
            if place.y > scene.ceiling || t > 6 { break }
            let gap = scene.distance(place)
            open = min(open, 0.5 + 0.5 * scene.windowHardness * gap / t)
            if open < 0 { return 0 }
            // Longer steps would miss how near the ray came, and the shadow's edge would show rings.
            t += min(max(abs(gap) * 0.4, 0.012), 0.2)
        }
        return smoothstep(0, 1, open)
    }

    /// Returns how open a point is to the room, from 0 in deep corners to 1.
    private func shelter(_ p: Vec3, _ n: Vec3) -> Float {
        var shut: Float = 0
        var weight: Float = 1
        for step in 1...5 {
            let reach = 0.07 * Float(step * step) * 0.6 + 0.01
            shut += weight * clamp(1 - scene.distance(p + n * reach) / reach)
            weight *= 0.72
        }
        return pow(clamp(1 - shut / 3.0), 1.3)
    }
}

/// The material at a point of a surface.
struct Material: Sendable {
    /// The fraction of each primary that is reflected in all directions.
    var colour: Vec3

    /// The strength of specular reflection, seen straight on.
    var gloss: Float = 0.04

    /// The sharpness of highlights: about 8 for wax, 400 for glass.
    var sharpness: Float = 60

    /// The fraction of the surroundings mirrored at a grazing angle; 0 saves the work.
    var mirror: Float = 0

    /// Light from the far side, as through leaves and fruit.
    var glow: Vec3 = .zero
}
