/// In which order the rows of a GIF's picture are stored: "every 8th row, starting with row 0; every 8th row, starting with
/// row 4; every 4th row, starting with row 2; every 2nd row, starting with row 1" (GIF89a, Appendix E) if it is interlaced.
struct GIFRowOrder {
    private static let passes = [(start: 0, step: 8), (start: 4, step: 8), (start: 2, step: 4), (start: 1, step: 2)]

    /// The picture's rows.
    let height: Int
    /// Whether they are stored in four passes.
    let isInterlaced: Bool

    /// Where a row is among the first `count` that are stored. Of an interlaced picture whose row is not among them, the
    /// nearest one above it that is.
    func place(of row: Int, among count: Int) -> Int? {
        guard isInterlaced else { return row < count ? row : nil }
        var nearest: (row: Int, place: Int)?
        var before = 0
        for pass in Self.passes where pass.start < height {
            if row >= pass.start {
                let index = (row - pass.start) / pass.step
                let found = pass.start + index * pass.step
                if before + index < count, found > nearest?.row ?? -1 { nearest = (found, before + index) }
            }
            before += (height - pass.start + pass.step - 1) / pass.step
        }
        return nearest?.place
    }
}
