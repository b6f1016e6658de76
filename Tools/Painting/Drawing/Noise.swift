/// Smooth random fields over the plane and in space, the basis of clouds, rock, water and grain.
///
/// A field is a pure function of its seed and the position.
struct Noise: Sendable {
    private let seed: UInt32

    init(_ seed: UInt32) {
        self.seed = seed &* 0x9E37_79B1
    }

    /// Returns thirty-two random bits for an integer lattice point.
    @inline(__always)
    func hash(_ x: Int32, _ y: Int32, _ z: Int32 = 0) -> UInt32 {
        var h = seed
        h ^= UInt32(bitPattern: x) &* 0x27D4_EB2D
        h = (h ^ (h >> 15)) &* 0x2C1B_3C6D
        h ^= UInt32(bitPattern: y) &* 0x1656_67B1
        h = (h ^ (h >> 13)) &* 0x297A_2D39
        h ^= UInt32(bitPattern: z) &* 0x85EB_CA6B
        h = (h ^ (h >> 15)) &* 0x2C1B_3C6D
        return h ^ (h >> 16)
    }

    /// Returns a number from 0 up to 1 for a lattice point.
    @inline(__always)
    func unit(_ x: Int32, _ y: Int32, _ z: Int32 = 0) -> Float {
        Float(hash(x, y, z) >> 8) * (1 / Float(1 << 24))
    }

    /// Gradient noise over the plane, about −1 to 1, with features about one unit wide.
    func at(_ p: Vec2) -> Float {
        let ix = wholePart(p.x)
        let iy = wholePart(p.y)
        let f = Vec2(p.x - Float(ix), p.y - Float(iy))
        let u = f * f * f * (f * (f * 6 - 15) + 10)
        let a = slope(hash(ix, iy), f.x, f.y)
        let b = slope(hash(ix &+ 1, iy), f.x - 1, f.y)
        let c = slope(hash(ix, iy &+ 1), f.x, f.y - 1)
        let d = slope(hash(ix &+ 1, iy &+ 1), f.x - 1, f.y - 1)
        return mix(mix(a, b, u.x), mix(c, d, u.x), u.y) * 1.5
    }

    /// Smoothed lattice values in space, −1 to 1, with features about one unit wide.
    func at(_ p: Vec3) -> Float {
        let ix = wholePart(p.x)
        let iy = wholePart(p.y)
        let iz = wholePart(p.z)
        let f = Vec3(p.x - Float(ix), p.y - Float(iy), p.z - Float(iz))
        let u = f * f * (3 - 2 * f)
        func layer(_ z: Int32) -> Float {
            let near = mix(unit(ix, iy, z), unit(ix &+ 1, iy, z), u.x)
            let far = mix(unit(ix, iy &+ 1, z), unit(ix &+ 1, iy &+ 1, z), u.x)
            return mix(near, far, u.y)
        }
        return mix(layer(iz), layer(iz &+ 1), u.z) * 2 - 1
    }

    /// Several layers of noise, each finer and fainter than the last, about −1 to 1.
    func fractal(_ p: Vec2, octaves: Int, gain: Float = 0.5) -> Float {
        var sum: Float = 0
        var weight: Float = 1
        var place = p
        for _ in 0..<octaves {
            sum += weight * at(place)
            weight *= gain
            // Each layer is rotated a little, so that the lattices never line up visibly.
            place = Vec2(1.6 * place.x - 1.2 * place.y, 1.2 * place.x + 1.6 * place.y) + 17.3
        }
        return sum
    }

    /// Several layers of noise in space, about −1 to 1.
    func fractal(_ p: Vec3, octaves: Int, gain: Float = 0.5) -> Float {
        var sum: Float = 0
        var weight: Float = 1
        var place = p
        for _ in 0..<octaves {
            sum += weight * at(place)
            weight *= gain
            place = Vec3(1.6 * place.x - 1.2 * place.y, 1.2 * place.x + 1.6 * place.y, 2 * place.z) + 11.7
        }
        return sum
    }

    /// Layers folded into sharp crests like mountains: 0 in the valleys to about 1 along the ridges.
    func ridged(_ p: Vec2, octaves: Int, gain: Float = 0.5) -> Float {
        var sum: Float = 0
        var total: Float = 0
        var weight: Float = 1
        var above: Float = 1
        var place = p
        for _ in 0..<octaves {
            let fold = 1 - min(abs(at(place)), 1)
            let crest = fold * fold * above
            above = clamp(crest * 1.6)
            sum += weight * crest
            total += weight
            weight *= gain
            place = Vec2(1.6 * place.x - 1.2 * place.y, 1.2 * place.x + 1.6 * place.y) + 9.1
        }
        return sum / total
    }

    /// Returns the nearest of random points, one per lattice square, with the distances that draw cells.
    func cell(_ p: Vec2, jitter: Float = 1) -> NoiseCell {
        let ix = wholePart(p.x)
        let iy = wholePart(p.y)
        var best = NoiseCell(centre: .zero, key: 0, distance: 9, second: 9)
        for y in (iy &- 1)...(iy &+ 1) {
            for x in (ix &- 1)...(ix &+ 1) {
                let h = hash(x, y)
                let shift = Vec2(Float(h & 0xFFFF), Float(h >> 16)) / 65536 - 0.5
                let centre = Vec2(Float(x), Float(y)) + 0.5 + shift * jitter
                let distance = (centre - p).length
                if distance < best.distance {
                    best = NoiseCell(centre: centre, key: h, distance: distance, second: best.distance)
                } else if distance < best.second {
                    best.second = distance
                }
            }
        }
        return best
    }

    @inline(__always)
    private func slope(_ h: UInt32, _ x: Float, _ y: Float) -> Float {
        let gx = Float(Int32(bitPattern: h & 0xFFFF) - 32768) * (1 / 32768)
        let gy = Float(Int32(bitPattern: h >> 16) - 32768) * (1 / 32768)
        return gx * x + gy * y
    }
}

/// A cell of the plane around a random point, seen from a position within it.
struct NoiseCell: Sendable {
    /// The cell's point.
    var centre: Vec2

    /// Random bits of the cell.
    var key: UInt32

    /// The distance from the cell's point.
    var distance: Float

    /// The distance from the next nearest point.
    var second: Float

    /// A random number of the cell, from 0 up to 1.
    var unit: Float { Float((key &* 0x9E37_79B1) >> 8) / Float(1 << 24) }

    /// The approximate distance from the cell's edge.
    var edge: Float { (second - distance) / 2 }
}

/// A reproducible stream of pseudorandom numbers.
struct RandomSource: Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    /// Returns the next 64 bits (Steele, Lea and Flood's SplitMix64).
    mutating func bits() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Returns a number from 0 up to but not including 1.
    mutating func unit() -> Float {
        Float(bits() >> 40) / Float(1 << 24)
    }

    /// Returns a number within a range.
    mutating func within(_ low: Float, _ high: Float) -> Float {
        low + (high - low) * unit()
    }

    /// Returns an integer from 0 up to but not including `count`.
    mutating func below(_ count: Int) -> Int {
        Int(((bits() >> 32) * UInt64(count)) >> 32)
    }

    /// Returns a number around 0, usually within ±1 and rarely beyond ±2.5.
    mutating func bellShaped() -> Float {
        (unit() + unit() + unit() + unit() - 2) * 1.732
    }
}
