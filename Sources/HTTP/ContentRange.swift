/// The part of a whole that an answer says it holds (RFC 9110, section 14.4).
struct ContentRange: Equatable {
    let first: Int64
    let last: Int64
    let whole: Int64

    /// Reads `bytes 7-99/100`. A whole of unknown length is no use here, and anything odd is nil.
    init?(_ text: String?) {
        guard let text, text.lowercased().hasPrefix("bytes ") else { return nil }
        let numbers = text.dropFirst("bytes ".count).split(separator: "/", omittingEmptySubsequences: false)
        guard numbers.count == 2 else { return nil }
        let ends = numbers[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]),
            let whole = Self.number(numbers[1]), first <= last, last < whole
        else { return nil }
        (self.first, self.last, self.whole) = (first, last, whole)
    }

    /// Whether it is all that there is of a part.
    func isAnswer(to part: Range<Int64>) -> Bool {
        first == part.lowerBound && last == min(part.upperBound, whole) - 1
    }

    private static func number(_ digits: Substring) -> Int64? {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(digits)
    }
}
