/// What became of a row that was touched.
struct RowKey {
    let row: Int64
    /// Its sort key; nil if the row is gone.
    let key: SortKey?
    /// Whether the list has it. The key of a row that it has not is kept all the same: one asks where it would stand.
    let isListed: Bool

    init(_ row: Int64, _ key: SortKey?, isListed: Bool = true) {
        (self.row, self.key, self.isListed) = (row, key, isListed && key != nil)
    }
}
