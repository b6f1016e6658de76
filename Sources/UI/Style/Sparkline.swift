/// A row of bars, one a column, as high as the numbers are: how a minute went, in a line.
enum Sparkline {
    /// The last of the numbers, as many as there are columns; the highest of them fills the line, and zero leaves it empty.
    static func text(_ numbers: [Int64], columns: Int, _ signs: Signs) -> String {
        let bars = signs.heights
        let numbers = numbers.suffix(max(0, columns))
        let highest = max(1, numbers.max() ?? 1)
        return String(
            numbers.map { number in
                guard number > 0 else { return " " }
                return bars[min(bars.count - 1, Int(Double(number) / Double(highest) * Double(bars.count)))]
            })
    }
}
