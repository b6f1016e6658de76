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
