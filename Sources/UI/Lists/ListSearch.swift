import Cells
import Commands
import Text

/// Searches the entries of a list screen, as the user types.
///
/// In the responder chain, this object is between the prompt and the screen, so that its notices reach the root screen.
@MainActor
final class ListSearch: Responder {
    /// Returns the indexes of the entries that match a text, in ascending order.
    var onFind: (String) -> [Int] = { _ in [] }
    /// Called with the index of the entry that the screen should select.
    var onSelect: (Int) -> Void = { _ in }

    private let context: ScreenContext
    private let prompt = LinePrompt()
    /// The text to find; empty without a search.
    private(set) var text = ""
    /// The indexes of the entries that match the text, in ascending order.
    private var matches: [Int] = []
    /// The entry that was selected before the user began to type; nil while the user does not type.
    private var origin: Int?

    init(_ context: ScreenContext) {
        self.context = context
        super.init()
        prompt.next = self
    }

    /// The prompt while the user types in it; otherwise nil.
    var focus: Responder? { origin == nil ? nil : prompt }

    /// Searches again, because the list has other entries.
    ///
    /// - Parameter newIndex: returns the new index of an entry; nil if the entry is gone.
    func update(_ newIndex: (Int) -> Int?) {
        if let origin { self.origin = newIndex(origin) ?? origin }
        find(text)
    }

    /// Performs a search command. Returns false for other commands.
    func perform(_ command: Command, selection: Int, in scopes: [CommandTable.Scope]) -> Bool {
        switch command {
        case .search: type(from: selection)
        case .searchNext, .searchPrevious:
            guard !text.isEmpty else {
                send(.notice(SearchText.none(context.name(of: .search, in: scopes))))
                return true
            }
            let match =
                command == .searchNext
                ? matches.first { $0 > selection } ?? matches.first : matches.last { $0 < selection } ?? matches.last
            guard let match else {
                send(.notice(SearchText.noMatch(text)))
                return true
            }
            onSelect(match)
        default: return false
        }
        return true
    }

    /// Searches for a text that the user typed after the command's name.
    func search(_ text: String, selection: Int) {
        find(text)
        guard let match = match(from: selection) else {
            return send(.notice(SearchText.noMatch(text)))
        }
        onSelect(match)
    }

    private func type(from selection: Int) {
        let before = text
        origin = selection
        prompt.onChange = { [weak self] in
            guard let self, let origin else { return }
            find($0)
            onSelect(match(from: origin) ?? origin)
        }
        prompt.onEnter = { [weak self] _ in self?.origin = nil }
        prompt.onEscape = { [weak self] in
            guard let self, let origin else { return }
            self.origin = nil
            find(before)
            onSelect(origin)
        }
        prompt.begin("/", "")
        find("")
    }

    private func match(from index: Int) -> Int? { matches.first { $0 >= index } ?? matches.first }

    private func find(_ text: String) {
        self.text = text.allSatisfy(\.isWhitespace) ? "" : text
        matches = self.text.isEmpty ? [] : onFind(self.text)
    }

    // MARK: - Texts

    /// The text of the status line while the user types; otherwise nil.
    var typingText: String? {
        guard origin != nil else { return nil }
        guard !text.isEmpty else { return SearchText.beginning }
        return matches.isEmpty ? SearchText.nothing : SearchText.found("\(matches.count)")
    }

    /// Returns the search text and the number of the selected match, for the heading.
    func headingText(_ selection: Int) -> String? {
        guard origin == nil, !text.isEmpty else { return nil }
        let place = matches.firstIndex(of: selection).map { "\($0 + 1) of \(matches.count)" }
        return "“\(text.madeVisible)” \(place ?? "\(matches.count) found")"
    }

    /// Draws the prompt at the bottom of an area while the user types.
    func drawPrompt(in surface: inout Surface, _ rest: inout Rect) {
        if origin != nil { prompt.draw(in: &surface, rest.takeBottom(1), context.theme) }
    }
}
