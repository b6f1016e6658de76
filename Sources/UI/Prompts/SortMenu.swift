import Cells
import Commands
import Model

/// What a list is sorted by, asked for with a key: has the focus for the one key that follows.
@MainActor
final class SortMenu: Responder {
    /// Called with the answer; nil for any other key.
    var onChoice: (PhotoOrder?) -> Void = { _ in }

    private let context: ScreenContext

    init(_ context: ScreenContext) {
        self.context = context
        super.init()
    }

    /// What there is to choose, for the line at the bottom.
    var choices: [String] {
        let words = PhotoOrder.Criterion.allCases.compactMap { criterion in
            key(for: PhotoOrder(criterion)).map { "\($0) \(criterion.rawValue)" }
        }
        return words + (isReversedByCapitals ? ["capital letter: the other way round"] : [])
    }

    /// Whether the user has left it so.
    private var isReversedByCapitals: Bool {
        PhotoOrder.Criterion.allCases.allSatisfy { criterion in
            key(for: PhotoOrder(criterion, ascending: false))?.description
                == key(for: PhotoOrder(criterion))?.description.uppercased()
        }
    }

    private func key(for order: PhotoOrder) -> Key? {
        context.keys.entries.first { $0.scope == .sorting && Self.order($0.command) == order }?.keys.first
    }

    override func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
        guard case .key(let key) = event else { return event }
        onChoice(context.keys.command(for: key, in: [.sorting]).flatMap(Self.order))
        return .needsDisplay
    }

    /// The order that a command stands for.
    static func order(_ command: Command) -> PhotoOrder? {
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
