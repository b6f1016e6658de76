import Model

/// Divides rows that are sorted by date into days, months or years of the user's time zone.
///
/// It does not look at every row: from the first row of a section it searches for the first row after it.
struct SectionDivider {
    let rows: OrderedRows
    let rule: SectionRule

    /// The sections from the top of the list down.
    func sections(ascending: Bool) -> [PhotoSection] {
        guard rows.count > 0, rule != .none else { return [] }
        var sections: [PhotoSection] = []
        var start = 0
        while start < rows.count {
            let day = LocalDay(of: Timestamp(milliseconds: rows.number(at: start)))
            // At least one row, whatever a time zone's history makes of its periods.
            let end = max(start + 1, rows.countOfRows(below: day.end(of: rule).milliseconds))
            sections.append(PhotoSection(start: day.start(of: rule), range: start..<end))
            start = end
        }
        guard !ascending else { return sections }
        return sections.reversed().map { section in
            PhotoSection(
                start: section.start,
                range: rows.count - section.range.upperBound..<rows.count - section.range.lowerBound)
        }
    }
}
