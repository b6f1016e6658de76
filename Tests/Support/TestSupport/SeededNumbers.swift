/// Random numbers from a seed, so that failures are reproducible.
public struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    /// Starts with a seed.
    public init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    /// Starts with a fixed seed, or with a random one if more rounds than usual are requested.
    ///
    /// Extra rounds look for new failures. The usual rounds must not fail by chance.
    public init(areMore: Bool) { self.init(seed: areMore ? UInt64.random(in: 0...UInt64.max) : 1) }

    /// Returns the next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var number = state
        number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
        return number ^ (number >> 31)
    }
}
