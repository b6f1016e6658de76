import Cache
import Cells
import Commands
import Model
import Text

/// Performs the search and filter commands of the photos screen.
///
/// In the responder chain, this object is between the prompt and the screen, so that its notices reach the root screen.
@MainActor
final class PhotoSearch: Responder {
    private enum Phase: Equatable {
        case idle
        /// The user is typing. The search starts from the previously selected row, and Esc returns to this row.
        case typing(from: PhotoEntries.Entry?)
        /// The user has pressed Enter before the search found a match.
        case awaitingMatch(from: PhotoEntries.Entry?)
    }

    /// Called with the photo or folder that the screen should select.
    var onSelect: (PhotoEntries.Entry) -> Void = { _ in }

    private var phase = Phase.idle
    /// The row that was selected before the search, until the whole list appears again.
    private var earlier: PhotoEntries.Entry?
    private let prompt = LinePrompt()
    private let lists: PhotoLists
    private let context: ScreenContext

    init(_ lists: PhotoLists, _ context: ScreenContext) {
        self.lists = lists
        self.context = context
        super.init()
        prompt.next = self
    }

    /// The prompt while the user types in it; otherwise nil.
    var focus: Responder? { isTyping ? prompt : nil }

    /// Performs a search command. Returns false for other commands.
    func perform(_ command: Command, selected: PhotoEntries.Entry?, in scopes: [CommandTable.Scope]) -> Bool {
        switch command {
        case .search: type("/", for: .finding, from: selected)
        case .filter: type("Filter:", for: .filtering, from: selected)
        case .searchNext: goToMatch(after: selected?.photo, backwards: false, in: scopes)
        case .searchPrevious: goToMatch(after: selected?.photo, backwards: true, in: scopes)
        // The first "back" leaves the filter, the next one the list.
        case .back where lists.filter != .all && lists.searchHidesOthers: leaveFilter()
        default: return false
        }
        return true
    }

    /// Performs a search command with the text after its name. Returns false for other commands.
    func perform(_ command: Command, text: String, selected: PhotoEntries.Entry?) -> Bool {
        switch command {
        case .search: lists.search(text, for: .finding)
        case .filter: lists.search(text, for: .filtering)
        default: return false
        }
        finishTyping(from: selected)
        // A search for the last text is complete, so no new lists will move the selection.
        if command == .search, phase == .idle, lists.filter != .all {
            select(lists.match(after: selected?.photo, including: true))
        }
        return true
    }

    /// Ends the typing of a search that began at a row.
    private func finishTyping(from origin: PhotoEntries.Entry?) {
        phase = lists.isSearching ? .awaitingMatch(from: origin) : .idle
        earlier = origin ?? earlier
    }

    /// Shows all photos again if a filter hides some.
    func leaveFilter() {
        if lists.searchHidesOthers { lists.search("", for: .filtering) }
    }

    /// Whether a search has selected the present row. Then the row stays selected when the whole list appears again.
    var hasFoundSelection: Bool { earlier != nil }

    /// Keeps the selection in place when the running search ends.
    func stopWaiting() { phase = .idle }

    /// Returns the row to select after the lists have changed. If the user waits for a match, the wait ends.
    func selectionInNewLists(_ selected: PhotoEntries.Entry?) -> PhotoEntries.Entry? {
        switch phase {
        // After a filter without matches, a search starts without a selection.
        case .typing(let origin): return match(from: origin ?? earlier)
        case .awaitingMatch(let origin):
            phase = .idle
            return match(from: origin ?? earlier)
        case .idle where lists.isFiltered: return match(from: selected)
        case .idle:
            defer { earlier = nil }
            return selected ?? earlier
        }
    }

    /// Returns the first match from a row on. Without matches, returns the row itself.
    private func match(from entry: PhotoEntries.Entry?) -> PhotoEntries.Entry? {
        guard let match = lists.match(after: entry?.photo, including: true) else { return entry }
        return .photo(match)
    }

    private var isTyping: Bool {
        if case .typing = phase { true } else { false }
    }

    private func type(_ label: String, for purpose: PhotoLists.Purpose, from selected: PhotoEntries.Entry?) {
        let before = (text: lists.filter.text, purpose: lists.purpose)
        phase = .typing(from: selected)
        prompt.onChange = { [weak self] in self?.lists.search($0, for: purpose) }
        prompt.onEnter = { [weak self] _ in
            guard let self, case .typing(let origin) = phase else { return }
            finishTyping(from: origin)
        }
        prompt.onEscape = { [weak self] in
            guard let self, case .typing(let origin) = phase else { return }
            phase = .idle
            lists.search(before.text, for: before.purpose)
            if let origin, !lists.isGone(origin) { onSelect(origin) }
        }
        prompt.begin(label, before.purpose == purpose ? before.text : "")
        if before.purpose != purpose { lists.search("", for: purpose) }
    }

    private func goToMatch(after selection: PhotoKey?, backwards: Bool, in scopes: [CommandTable.Scope]) {
        guard lists.filter != .all else {
            return send(.notice(SearchText.none(context.name(of: .search, in: scopes))))
        }
        guard !lists.isSearching else { return send(.notice("Still searching…")) }
        select(lists.match(after: selection, backwards: backwards))
    }

    private func select(_ match: PhotoKey?) {
        guard let match else { return send(.notice(SearchText.noMatch(lists.filter.text))) }
        onSelect(.photo(match))
    }

    // MARK: - Texts

    /// Returns the search text and the selected match's number, for the heading. Returns nil without a search,
    /// while the user types, or while a filter hides photos.
    func headingText(_ selection: PhotoKey?) -> String? {
        guard phase == .idle, !lists.isFiltered, let found = lists.found, !lists.isSearching else { return nil }
        let match = selection.flatMap { found.index(of: $0) }
        let standing = match.map { "\($0 + 1) of \(found.count)" } ?? "\(found.count) found"
        return "“\(found.filter.text.madeVisible)” \(standing)"
    }

    /// The text of the status line while the user types; otherwise nil.
    var typingText: String? {
        guard isTyping else { return nil }
        guard lists.filter != .all else { return SearchText.beginning }
        // Show the last count until the next one is known. Otherwise the text would flicker with each letter.
        guard let found = lists.found else { return "Searching…" }
        guard found.count > 0 else { return SearchText.nothing }
        return SearchText.found(CountText.text(found.count, "photo"))
    }

    /// Returns the byte ranges of a name that match the search.
    func matches(in name: String) -> [Range<Int>] {
        guard lists.filter != .all else { return [] }
        return (try? lists.reader.marks(of: lists.filter, in: name)) ?? []
    }

    /// Draws the prompt at the bottom of an area while the user types.
    func drawPrompt(in surface: inout Surface, _ rest: inout Rect) {
        if isTyping { prompt.draw(in: &surface, rest.takeBottom(1), context.theme) }
    }
}

/// The texts of searches on all screens.
enum SearchText {
    /// The text of the status line before the user has typed.
    static let beginning = "Type to search."
    /// The text of the status line if nothing matches.
    static let nothing = "No matches"

    /// Returns the text of the status line while the user types.
    static func found(_ count: String) -> String { count + " found  Enter: keep  Esc: back" }

    /// Returns the notice that there is no search.
    static func none(_ key: String) -> String { "No search yet. Press \(key) to search." }

    /// Returns the notice that nothing matches.
    static func noMatch(_ text: String) -> String { "No match for “\(text.madeVisible)”." }
}
