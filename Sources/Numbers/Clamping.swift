/// Ways into integers that cannot trap. Where numbers come from outside these are the only ones: see Tools/Scripts/check-sources.
extension FixedWidthInteger {
    /// The whole part of a number, or the type's bound that is nearest to it; 0 for what is not a number.
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

    /// Reads decimal digits, and nothing else: no sign, no space, no digits of other scripts. Nil if there is anything else, or
    /// nothing. A number above `bound` is `bound`, however many digits it has.
    ///
    ///     Int(digits: "007", atMost: 100) == 7
    public init?(digits: some StringProtocol, atMost bound: Self = .max) {
        let bytes = digits.utf8
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        self = Swift.min(Self(digits) ?? .max, bound)
    }
}

extension Duration {
    /// So many seconds: 0 for less or for what is not a number, and at most a thousand years. A `Duration` that is made of a
    /// `Double` without bounds traps.
    public static func seconds(clamped seconds: Double) -> Duration {
        .seconds(seconds.isNaN ? 0 : min(max(seconds, 0), 3.2e10))
    }
}
