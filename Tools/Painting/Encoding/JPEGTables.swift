/// JPEG's fixed tables: the zigzag order and the quantisation steps of annex K.
enum JPEGTables {
    /// For each position in the file, the coefficient's index in the block.
    static let zigzag: [Int] = {
        // Diagonals, alternately upwards and downwards.
        (0..<15).flatMap { diagonal in
            let rows = (max(0, diagonal - 7)...min(7, diagonal))
            let cells = rows.map { row in row * 8 + diagonal - row }
            return diagonal.isMultiple(of: 2) ? cells.reversed() : cells
        }
    }()

    /// The steps for brightness, row by row.
    static func luminance(quality: Int) -> [Int] {
        scaled(
            [
                16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55,
                14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51, 87, 80, 62,
                18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92,
                49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
            ], quality)
    }

    /// The steps for colour, row by row.
    static func chrominance(quality: Int) -> [Int] {
        var steps = [Int](repeating: 99, count: 64)
        for (place, step) in [(0, 17), (1, 18), (2, 24), (3, 47), (8, 18), (9, 21), (10, 26), (11, 66)] {
            steps[place] = step
        }
        for (place, step) in [(16, 24), (17, 26), (18, 56), (24, 47), (25, 66)] {
            steps[place] = step
        }
        return scaled(steps, quality)
    }

    private static func scaled(_ steps: [Int], _ quality: Int) -> [Int] {
        let percent = quality < 50 ? 5000 / quality : 200 - 2 * quality
        return steps.map { min(max(($0 * percent + 50) / 100, 1), 255) }
    }
}
