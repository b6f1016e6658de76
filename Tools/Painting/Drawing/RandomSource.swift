/// A stream of numbers that looks random and is the same for the same seed, everywhere and always.
struct RandomSource: Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    /// The next 64 bits (Steele, Lea and Flood's SplitMix64).
    mutating func bits() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// A number from 0 up to but not including 1.
    mutating func unit() -> Float {
        Float(bits() >> 40) / Float(1 << 24)
    }

    /// A number within a range.
    mutating func within(_ low: Float, _ high: Float) -> Float {
        low + (high - low) * unit()
    }

    /// A whole number from 0 up to but not including `count`.
    mutating func below(_ count: Int) -> Int {
        Int(((bits() >> 32) * UInt64(count)) >> 32)
    }

    /// A number about 0 that is usually within one and seldom beyond two and a half.
    mutating func bellShaped() -> Float {
        (unit() + unit() + unit() + unit() - 2) * 1.732
    }
}
