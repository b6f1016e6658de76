/// A scene of solid bodies on a table, lit by a window.
protocol StillLife: Scene {
    /// Where the eye is and what it looks at.
    var eye: Vec3 { get }
    var target: Vec3 { get }

    /// The focal length in halves of the picture's shorter side.
    var zoom: Float { get }

    /// The direction to the window's middle, its light, and how large it is: 4 casts soft shadows, 30 hard ones.
    var window: Vec3 { get }
    var windowLight: Vec3 { get }
    var windowHardness: Float { get }

    /// The light of the room from above.
    var roomLight: Vec3 { get }

    /// No body reaches above this height, so that nothing there need be looked for.
    var ceiling: Float { get }

    /// The signed distance to the nearest body; beyond about one it may be told as less than it is.
    func distance(_ p: Vec3) -> Float

    /// What the body nearest to a place on its skin is made of.
    func material(_ p: Vec3, _ normal: Vec3) -> Material

    /// The light that comes from where no body is.
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
