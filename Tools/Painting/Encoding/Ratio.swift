/// A fraction of integers, as EXIF stores measured values.
struct Ratio: Sendable, Equatable {
    let numerator: UInt32
    let denominator: UInt32

    init(_ numerator: UInt32, _ denominator: UInt32) {
        self.numerator = numerator
        self.denominator = denominator
    }
}
