import Cache
import Commands
import Model
import Text

/// Photos are marked, for what is to be done with many of them.
extension PhotosScreen {
    func performMarking(_ command: Command) -> Bool {
        switch command {
        case .mark: markOn(1)
        case .markRange: markRange()
        case .markAll: if isListRead { marks.mark(0..<results.count, of: results, last: nil) }
        case .invertMarks: if isListRead { marks.invert(results) }
        case .unmark: marks.clear()
        default: return false
        }
        return true
    }

    /// Marks so many photos from the selected one on, or takes their marks away, and selects the next: at the end none twice.
    func markOn(_ count: Int) {
        for _ in 0..<count {
            guard let key = selection else { return }
            marks.toggle(key)
            // Of a list that is still being read, the place may not be known yet.
            guard let place = results.index(of: key), place < results.count - 1 else { return }
            scroll.select(place + 1)
            selectionDidMove()
        }
    }

    private func markRange() {
        guard let last = marks.last, let start = results.index(of: last) else {
            return send(.notice("\(context.name(of: .mark, in: scopes)) marks the photo where the range begins."))
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
