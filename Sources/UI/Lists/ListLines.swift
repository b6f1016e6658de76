/// Divides the entries of a list into lines: several entries in a line, and a new line for each section.
///
/// Lines are computed on demand from any entry, so the cost does not grow with the list.
struct ListLines {
    /// The number of entries.
    let count: Int
    /// The number of entries in a full line.
    let columns: Int
    /// Whether a title stands above the first line of each section and above the first visible line.
    let hasTitles: Bool
    /// Returns the section that contains an entry, or nil in a list without sections.
    private let section: (Int) -> Range<Int>?

    init(count: Int, columns: Int = 1, hasTitles: Bool = false, section: @escaping (Int) -> Range<Int>? = { _ in nil })
    {
        self.count = count
        self.columns = max(1, columns)
        self.hasTitles = hasTitles
        self.section = section
    }

    /// Returns the indexes of the entries in the same line as an entry, which must exist.
    func line(of index: Int) -> Range<Int> {
        let section = section(index) ?? 0..<count
        let start = section.lowerBound + (index - section.lowerBound) / columns * columns
        return start..<min(start + columns, section.upperBound)
    }

    /// Returns the line after a line, or nil after the last line.
    func line(after line: Range<Int>) -> Range<Int>? {
        line.upperBound < count ? self.line(of: line.upperBound) : nil
    }

    /// Returns the line before a line, or nil before the first line.
    func line(before line: Range<Int>) -> Range<Int>? {
        line.lowerBound > 0 ? self.line(of: line.lowerBound - 1) : nil
    }

    /// Returns the line that is some lines further on, or back if the amount is negative. Stops at the list's ends.
    func line(_ amount: Int, after line: Range<Int>) -> Range<Int> {
        var line = line
        for _ in 0..<abs(amount) {
            guard let next = amount > 0 ? self.line(after: line) : self.line(before: line) else { break }
            line = next
        }
        return line
    }

    /// Returns whether a line is the first of its section.
    func beginsSection(_ line: Range<Int>) -> Bool {
        section(line.lowerBound)?.lowerBound == line.lowerBound
    }
}
