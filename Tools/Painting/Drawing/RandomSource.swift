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
