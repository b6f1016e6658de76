/// An amount of data as it is written in settings: `2G`, `500M`, `none`.
struct DataSize: Equatable {
    /// Bytes; nil for no bound at all.
    let bytes: Int64?

    /// What may be written, for the sentence that says so.
    static let allowed = "a size, like 2G or 500M, or none"

    private static let units: [(letter: Character, bytes: Int64)] = [
        ("T", 1 << 40), ("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10),
    ]

    init(bytes: Int64?) {
        self.bytes = bytes
    }

    /// Reads a whole number with a unit behind it, or with none for bytes; a thousand and twenty-four of one are the next.
    init?(_ text: String) {
        guard text != "none" else {
            bytes = nil
            return
        }
        let unit = Self.units.first { text.hasSuffix(String($0.letter)) || text.hasSuffix($0.letter.lowercased()) }
        let digits = unit == nil ? text[...] : text.dropLast()
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(digits) else {
            return nil
        }
        let (bytes, overflows) = number.multipliedReportingOverflow(by: unit?.bytes ?? 1)
        guard !overflows else { return nil }
        self.bytes = bytes
    }

    /// As it is read again, in the largest unit that it is a whole number of.
    var text: String {
        guard let bytes else { return "none" }
        let unit = Self.units.first { bytes > 0 && bytes % $0.bytes == 0 }
        return unit.map { "\(bytes / $0.bytes)\($0.letter)" } ?? "\(bytes)"
    }
}
