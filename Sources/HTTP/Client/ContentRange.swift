import Numbers

/// The part of a whole that an answer says it holds (RFC 9110, section 14.4).
struct ContentRange: Equatable {
    let first: ByteCount
    let last: ByteCount
    let whole: ByteCount

    /// Reads `bytes 7-99/100`. A whole of unknown length is no use here, and anything odd is nil.
    init?(_ text: String?) {
        guard let text, text.lowercased().hasPrefix("bytes ") else { return nil }
        let numbers = text.dropFirst("bytes ".count).split(separator: "/", omittingEmptySubsequences: false)
        guard numbers.count == 2 else { return nil }
        let ends = numbers[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = ByteCount(digits: ends[0]), let last = ByteCount(digits: ends[1]),
            let whole = ByteCount(digits: numbers[1]), first <= last, last < whole
        else { return nil }
        (self.first, self.last, self.whole) = (first, last, whole)
    }

    /// Whether it is all that there is of a part.
    func isAnswer(to part: Range<ByteCount>) -> Bool {
        first == part.lowerBound && last == min(part.upperBound, whole) - 1
    }
}
