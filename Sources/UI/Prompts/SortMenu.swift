import Cells
import Commands
import Model

/// Asks for the order of a list. The menu receives the next key.
@MainActor
final class SortMenu: Responder {
    /// Called with the chosen order; nil for any other key.
    var onChoice: (PhotoOrder?) -> Void = { _ in }

    private let context: ScreenContext

    init(_ context: ScreenContext) {
        self.context = context
        super.init()
    }

    /// The orders to choose from, for the bottom line.
    var choices: [String] {
        let words = PhotoOrder.Criterion.allCases.compactMap { criterion in
            key(for: PhotoOrder(criterion)).map { "\($0) \(criterion.rawValue)" }
        }
        return words + (isReversedByCapitals ? ["Shift: reverse order"] : [])
    }

    /// Whether capital letters still reverse the order in the user's key bindings.
    private var isReversedByCapitals: Bool {
        PhotoOrder.Criterion.allCases.allSatisfy { criterion in
            key(for: PhotoOrder(criterion, ascending: false))?.description
                == key(for: PhotoOrder(criterion))?.description.uppercased()
        }
    }

    private func key(for order: PhotoOrder) -> Key? {
        context.keys.entries.first { $0.scope == .sorting && Self.order($0.command) == order }?.keys.first
    }

    override var takesKeys: Bool { true }

    override func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
        guard case .key(let key) = event else { return event }
        onChoice(context.keys.command(for: key, in: [.sorting]).flatMap(Self.order))
        return .needsDisplay
    }

    /// Returns the order that a sort command stands for; nil for other commands.
    static func order(_ command: Command) -> PhotoOrder? {
        switch command {
        case .sortByDate: PhotoOrder(.date)
        case .sortByName: PhotoOrder(.name)
        case .sortBySize: PhotoOrder(.size)
        case .sortByState: PhotoOrder(.state)
        case .sortByRating: PhotoOrder(.rating)
        case .sortByDateReversed: PhotoOrder(.date, ascending: false)
        case .sortByNameReversed: PhotoOrder(.name, ascending: false)
        case .sortBySizeReversed: PhotoOrder(.size, ascending: false)
        case .sortByStateReversed: PhotoOrder(.state, ascending: false)
        case .sortByRatingReversed: PhotoOrder(.rating, ascending: false)
        default: nil
        }
    }
}
