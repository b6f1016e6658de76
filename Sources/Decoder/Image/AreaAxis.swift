/// How one side of a picture is divided among output pixels: output pixel `i` stands for the stretch from
/// `boundary(i)` to `boundary(i + 1)` of the source, and the boundaries may cut through source pixels.
struct AreaAxis {
    /// Source pixels there are.
    let sourceCount: Int
    /// Output pixels wanted.
    let count: Int
    private let start: Double
    private let length: Double

    /// Clamps the stretch to the source, and to a length at which neighbouring boundaries still differ.
    init(start: Double, length: Double, sourceCount: Int, count: Int) {
        precondition(sourceCount > 0 && count > 0, "nothing to filter")
        let shortest = Double(count) * 1e-9
        let end = Double(sourceCount)
        self.start = max(0, min(start, end - shortest))
        self.length = max(shortest, min(length, end - self.start))
        self.sourceCount = sourceCount
        self.count = count
    }

    /// Where output pixel `index` begins and the one before it ends.
    func boundary(_ index: Int) -> Double {
        min(Double(sourceCount), index == count ? start + length : start + length * Double(index) / Double(count))
    }

    /// The source pixels with a share in the output.
    var touched: Range<Int> {
        let first = Int(start)
        return first..<max(first + 1, min(sourceCount, Int((start + length).rounded(.up))))
    }
}
