import Model

/// Divides rows that are sorted by date into days, months or years of the user's time zone.
///
/// It looks for one section at a time, from one of its rows on: a million rows may have ten thousand days.
struct SectionDivider {
    let rows: OrderedRows
    let rule: SectionRule

    /// The section that a row is in, by its place among the rows.
    func section(at place: Int) -> PhotoSection? {
        guard rule != .none, place >= 0, place < rows.count else { return nil }
        let day = LocalDay(of: Timestamp(milliseconds: rows.number(at: place)))
        let moments = day.moments(of: rule)
        // At least that row, whatever a time zone's history makes of its periods.
        let start = min(place, rows.countOfRows(below: moments.lowerBound.milliseconds))
        let end = max(place + 1, rows.countOfRows(below: moments.upperBound.milliseconds))
        return PhotoSection(start: day.start(of: rule), range: start..<end)
    }
}
