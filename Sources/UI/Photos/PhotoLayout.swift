import Cache
import Cells
import Glibc
import Model
import Text

/// The line above the photos of a day, a month or a year.
@MainActor
struct SectionTitle {
    let section: PhotoSection
    let rule: SectionRule
    /// Whether all photos of the list are known, and so how many the section has.
    let isCounted: Bool
    let theme: Theme

    /// `2006`, `July 2006`, `Sunday 30 July 2006`, in the words of the user's locale.
    var text: String {
        switch rule {
        case .none: ""
        case .day: DateText.day(section.start)
        case .month: DateText.month(section.start)
        case .year: "\(section.start.year)"
        }
    }

    func draw(in surface: inout Surface, _ line: Rect) {
        var rest = line
        _ = rest.takeLeft(1)
        _ = rest.takeRight(1)
        let count = isCounted ? CountText.text(section.range.count, "photo") : ""
        _ = rest.takeLeft(surface.write(text.truncated(toWidth: rest.size.columns), in: rest, style: theme.section))
        guard rest.size.columns >= count.displayWidth + 4 else { return }
        surface.write(count, in: rest.takeRight(count.displayWidth), style: theme.detail)
        let rule = theme.signs.rule(rest.size.columns - 2)
        _ = rest.takeLeft(1)
        surface.write(rule, in: rest, style: theme.detail)
    }
}
