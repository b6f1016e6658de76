import Cells

/// The parts of each row between the pictures in it.
///
/// ncurses writes a row from its first change to its last one, and what it finds in between it may write again. Changes on
/// either side of a picture are therefore given to it one after the other, a gap at a time.
struct PictureGaps {
    /// For each row the columns at which pictures end, in order.
    private var ends: [Int: [Int]] = [:]

    init(_ pictures: [Rect]) {
        for picture in pictures {
            for row in picture.rows { ends[row, default: []].append(picture.columns.upperBound) }
        }
        for row in ends.keys { ends[row]?.sort() }
    }

    /// The most pictures in one row.
    var most: Int { ends.values.map(\.count).max() ?? 0 }

    /// In which part of its row a column is: how many pictures end before it.
    func index(ofColumn column: Int, row: Int) -> Int {
        ends[row]?.firstIndex { column < $0 } ?? ends[row]?.count ?? 0
    }
}
