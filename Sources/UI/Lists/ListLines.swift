/// How the entries of a list stand in lines: so many in each, and a section begins a new one.
///
/// It is asked for one line after the other, from wherever one is: nobody goes through a million entries to learn which line
/// is the last.
struct ListLines {
    /// How many entries there are.
    let count: Int
    /// How many stand in a line that is full.
    let columns: Int
    /// Whether the first line of a section has a title above it, and the first one that is seen, too.
    let hasTitles: Bool
    /// The entries of the section that an entry is in; nil if there are no sections.
    private let section: (Int) -> Range<Int>?

    init(count: Int, columns: Int = 1, hasTitles: Bool = false, section: @escaping (Int) -> Range<Int>? = { _ in nil })
    {
        self.count = count
        self.columns = max(1, columns)
        self.hasTitles = hasTitles
        self.section = section
    }

    /// The line that an entry stands in: the entries in it. There has to be one.
    func line(of index: Int) -> Range<Int> {
        let section = section(index) ?? 0..<count
        let start = section.lowerBound + (index - section.lowerBound) / columns * columns
        return start..<min(start + columns, section.upperBound)
    }

    /// The line that comes after one, if there is any.
    func line(after line: Range<Int>) -> Range<Int>? {
        line.upperBound < count ? self.line(of: line.upperBound) : nil
    }

    /// The line that comes before one, if there is any.
    func line(before line: Range<Int>) -> Range<Int>? {
        line.lowerBound > 0 ? self.line(of: line.lowerBound - 1) : nil
    }

    /// The line so many lines after one, or before it; the last one or the first one, if there are not so many.
    func line(_ amount: Int, after line: Range<Int>) -> Range<Int> {
        var line = line
        for _ in 0..<abs(amount) {
            guard let next = amount > 0 ? self.line(after: line) : self.line(before: line) else { break }
            line = next
        }
        return line
    }

    /// Whether a section begins with a line.
    func beginsSection(_ line: Range<Int>) -> Bool {
        section(line.lowerBound)?.lowerBound == line.lowerBound
    }
}
