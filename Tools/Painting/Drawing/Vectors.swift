// The vector algebra of all pictures.

/// A point or direction in the plane of a picture: x to the right, y downwards.
typealias Vec2 = SIMD2<Float>

/// A point or direction in space (y upwards), or a colour in linear light.
typealias Vec3 = SIMD3<Float>

extension SIMD2<Float> {
    /// The Euclidean length.
    var length: Float { dot(self, self).squareRoot() }

    /// This vector turned by an angle in radians.
    func turned(by angle: Float) -> Vec2 {
        let c = cos(angle)
        let s = sin(angle)
        return Vec2(c * x - s * y, s * x + c * y)
    }
}

extension SIMD3<Float> {
    /// The Euclidean length.
    var length: Float { dot(self, self).squareRoot() }

    /// The vector of length one that points the same way.
    var unit: Vec3 { self / Swift.max(length, 1e-12) }

    /// The two horizontal coordinates.
    var xz: Vec2 { Vec2(x, z) }

    /// Brightness as the eye weighs the three primaries.
    var luminance: Float { 0.2126 * x + 0.7152 * y + 0.0722 * z }
}

/// The scalar product, summed from left to right so that it always rounds the same way.
@inline(__always)
func dot(_ a: Vec2, _ b: Vec2) -> Float {
    a.x * b.x + a.y * b.y
}

/// The scalar product, summed from left to right so that it always rounds the same way.
@inline(__always)
func dot(_ a: Vec3, _ b: Vec3) -> Float {
    a.x * b.x + a.y * b.y + a.z * b.z
}

/// The vector product.
func cross(_ a: Vec3, _ b: Vec3) -> Vec3 {
    Vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
}

/// Reflects the vector `a` at a mirror with the normal `n`.
func reflect(_ a: Vec3, _ n: Vec3) -> Vec3 {
    a - n * (2 * dot(a, n))
}

/// Clamps `x` to the range from `low` to `high`.
@inline(__always)
func clamp(_ x: Float, _ low: Float = 0, _ high: Float = 1) -> Float {
    min(max(x, low), high)
}

/// Interpolates from `a` to `b` by the fraction `t`.
@inline(__always)
func mix(_ a: Float, _ b: Float, _ t: Float) -> Float {
    a + (b - a) * t
}

/// Interpolates from `a` to `b` by the fraction `t`.
@inline(__always)
func mix(_ a: Vec2, _ b: Vec2, _ t: Float) -> Vec2 {
    a + (b - a) * t
}

/// Interpolates from `a` to `b` by the fraction `t`.
@inline(__always)
func mix(_ a: Vec3, _ b: Vec3, _ t: Float) -> Vec3 {
    a + (b - a) * t
}

/// A smooth step from 0 at `low` to 1 at `high`; it falls if `low` is above `high`.
@inline(__always)
func smoothstep(_ low: Float, _ high: Float, _ x: Float) -> Float {
    let t = clamp((x - low) / (high - low))
    return t * t * (3 - 2 * t)
}

/// A bell curve of height 1 around `centre`, about a third high at a distance of `width`.
func bell(_ x: Float, _ centre: Float, _ width: Float) -> Float {
    let t = (x - centre) / width
    return exp(-t * t)
}

/// Converts `0xRRGGBB` in sRGB to linear light.
func colour(_ hex: UInt32) -> Vec3 {
    func channel(_ shift: UInt32) -> Float {
        let v = Float((hex >> shift) & 0xFF) / 255
        return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4)
    }
    return Vec3(channel(16), channel(8), channel(0))
}

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
