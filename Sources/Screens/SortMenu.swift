import Cells
import Commands
import Model

/// What a list is sorted by, asked for with a key: has the focus for the one key that follows.
@MainActor
final class SortMenu: Responder {
    /// Called with the answer; nil for any other key.
    var onChoice: (PhotoOrder?) -> Void = { _ in }

    /// What there is to choose, for the line at the bottom.
    static var text: String {
        let choices = CommandTable.entries.filter { $0.scope == .sorting && order($0.command)?.ascending == true }
        let words = choices.map { "\($0.keys[0].description) \(order($0.command)?.criterion.rawValue ?? "")" }
        return "Sort by  " + words.joined(separator: "  ") + "   capital letter: the other way round"
    }

    override func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
        guard case .key(let key) = event else { return event }
        onChoice(CommandTable.command(for: key, in: [.sorting]).flatMap(Self.order))
        return .needsDisplay
    }

    private static func order(_ command: Command) -> PhotoOrder? {
        switch command {
        case .sortByDate: PhotoOrder(.date)
        case .sortByName: PhotoOrder(.name)
        case .sortBySize: PhotoOrder(.size)
        case .sortByState: PhotoOrder(.state)
        case .sortByDateReversed: PhotoOrder(.date, ascending: false)
        case .sortByNameReversed: PhotoOrder(.name, ascending: false)
        case .sortBySizeReversed: PhotoOrder(.size, ascending: false)
        case .sortByStateReversed: PhotoOrder(.state, ascending: false)
        default: nil
        }
    }
}
