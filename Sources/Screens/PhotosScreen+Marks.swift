import Cache
import Commands
import Model
import Text

/// Photos are marked, for what is to be done with many of them.
extension PhotosScreen {
    func obeyMarking(_ command: Command) -> Bool {
        switch command {
        case .mark:
            guard let selection else { break }
            marks.toggle(selection)
            // Of a list that is still being read, the place may not be known yet.
            guard results.index(of: selection) != nil else { break }
            scroll.select(scroll.selected + 1)
            selectionDidMove()
        case .markRange: markRange()
        case .markAll: if isListRead { marks.mark(0..<results.count, of: results, last: nil) }
        case .invertMarks: if isListRead { marks.invert(results) }
        case .unmark: marks.clear()
        default: return false
        }
        return true
    }

    private func markRange() {
        guard let last = marks.last, let start = results.index(of: last) else {
            let key = context.keys.key(for: .mark, in: scopes).map { "\($0)" } ?? ""
            return send(.notice("\(key) marks the photo where the range begins."))
        }
        let ends = [start, scroll.selected].sorted()
        marks.mark(ends[0]..<ends[1] + 1, of: results, last: selection)
    }

    /// Of a long list the beginning is there at once; what is the rest of it is known a moment later.
    private var isListRead: Bool {
        if !results.isComplete { send(.notice("The list is still being read.")) }
        return results.isComplete
    }

    /// For the heading: how many are marked.
    var marksText: String? { marks.keys.isEmpty ? nil : "\(marks.keys.count) marked" }
}
