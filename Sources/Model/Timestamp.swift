import Numbers

/// A moment in time, to the millisecond, in UTC.
///
/// Gallery files and the cache keep moments and nothing else; the user's time zone and locale come in where a date is
/// shown. A plain count of milliseconds sorts, compares and stores as one integer.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z, negative before it.
    public var milliseconds: Int64

    /// The moment that many milliseconds after 1970 began.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Whole seconds since 1970 began, rounded down.
    public var seconds: Int64 {
        // Not by a subtraction: a damaged cache may hold any number.
        milliseconds / 1000 - (milliseconds % 1000 < 0 ? 1 : 0)
    }

    /// The milliseconds above ``seconds``, 0…999.
    public var millisecondsPart: Int {
        Int((milliseconds % 1000 + 1000) % 1000)
    }

    /// The moment that many seconds later, or before for a number below 0.
    public func advanced(by seconds: Double) -> Timestamp {
        Timestamp(milliseconds: Int64(clamped: Double(milliseconds) + seconds * 1000))
    }

    /// Earlier moments come first.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.milliseconds < right.milliseconds
    }
}
