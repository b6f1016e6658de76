/// A fraction of whole numbers, as EXIF keeps measured values.
struct Ratio: Sendable, Equatable {
    let numerator: UInt32
    let denominator: UInt32

    init(_ numerator: UInt32, _ denominator: UInt32) {
        self.numerator = numerator
        self.denominator = denominator
    }
}
