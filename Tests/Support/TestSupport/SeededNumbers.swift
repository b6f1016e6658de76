/// Numbers that follow from a seed, so that what fails fails again.
public struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    /// Begins with a seed.
    public init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    /// The same each time, or where more rounds than usual are asked for others each time: those are asked for to find what
    /// the usual ones have not found, and a test that runs with each change does not fail by chance.
    public init(areMore: Bool) { self.init(seed: areMore ? UInt64.random(in: 0...UInt64.max) : 1) }

    /// The next one.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var number = state
        number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
        return number ^ (number >> 31)
    }
}
