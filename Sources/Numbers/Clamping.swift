/// Conversions to integers that cannot trap. Untrusted numbers must use them: see Tools/Scripts/check-sources.
extension FixedWidthInteger {
    /// Truncates and clamps a number; 0 for NaN.
    ///
    ///     Int(clamped: 41.6) == 41
    ///     Int(clamped: 1e300) == .max
    public init(clamped number: Double) {
        let whole = number.rounded(.towardZero)
        if let exact = Self(exactly: whole) {
            self = exact
        } else {
            self = whole.isNaN ? 0 : whole < 0 ? .min : .max
        }
    }

    /// Parses decimal digits only: no sign, space or other script. Nil otherwise. Numbers above `bound` become `bound`.
    ///
    ///     Int(digits: "007", atMost: 100) == 7
    public init?(digits: some StringProtocol, atMost bound: Self = .max) {
        let bytes = digits.utf8
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        self = Swift.min(Self(digits) ?? .max, bound)
    }
}

extension Duration {
    /// Clamps seconds to a range from 0 to a thousand years; NaN becomes 0. `Duration` itself would trap.
    public static func seconds(clamped seconds: Double) -> Duration {
        .seconds(seconds.isNaN ? 0 : min(max(seconds, 0), 3.2e10))
    }
}
