/// A smooth sequence of colours along a line.
struct Gradient: Sendable {
    private let stops: [(at: Float, colour: Vec3)]

    /// The colours, as `0xRRGGBB` in sRGB, with rising positions.
    init(_ stops: [(Float, UInt32)]) {
        self.stops = stops.map { ($0.0, colour($0.1)) }
    }

    /// Returns the colour at a position; constant before the first and after the last stop.
    func at(_ t: Float) -> Vec3 {
        guard let next = stops.firstIndex(where: { $0.at > t }) else { return stops[stops.count - 1].colour }
        guard next > 0 else { return stops[0].colour }
        let (a, b) = (stops[next - 1], stops[next])
        // Mixing square roots looks more even to the eye.
        let blend = mix(a.colour.squareRoot(), b.colour.squareRoot(), smoothstep(a.at, b.at, t))
        return blend * blend
    }
}
