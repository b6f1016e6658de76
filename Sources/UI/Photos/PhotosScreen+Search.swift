import Cache
import Cells
import Commands
import Model
import Text

/// Searching, and the sections that one goes through.
extension PhotosScreen {
    func performSearching(_ command: Command) -> Bool {
        switch command {
        case .search: type("/", for: .finding)
        case .filter: type("Filter:", for: .filtering)
        case .searchNext: goToHit(backwards: false)
        case .searchPrevious: goToHit(backwards: true)
        // First out of the filter, and then out of the list.
        case .back where lists.filter != .all && lists.purpose == .filtering: lists.search("", for: .filtering)
        default: return false
        }
        return true
    }

    /// Searches for what was typed behind a command's name. Returns whether it was such a command.
    func perform(_ command: Command, text: String) -> Bool {
        switch command {
        case .search: lists.search(text, for: .finding)
        case .filter: lists.search(text, for: .filtering)
        default: return false
        }
        errand = lists.isSearching ? .awaitingHit(from: selection) : .none
        return true
    }

    private func type(_ label: String, for purpose: PhotoLists.Purpose) {
        let before = (text: lists.filter.text, purpose: lists.purpose)
        errand = .typing(from: selection)
        prompt.onChange = { [weak self] in self?.lists.search($0, for: purpose) }
        prompt.onEnter = { [weak self] _ in
            guard let self else { return }
            guard case .typing(let origin) = errand else { return }
            errand = lists.isSearching ? .awaitingHit(from: origin) : .none
        }
        prompt.onEscape = { [weak self] in
            guard let self, case .typing(let origin) = errand else { return }
            errand = .none
            lists.search(before.text, for: before.purpose)
            if let origin { select(origin) }
        }
        prompt.begin(label, before.purpose == purpose ? before.text : "")
        if before.purpose != purpose { lists.search("", for: purpose) }
    }

    private func goToHit(backwards: Bool) {
        guard lists.filter != .all else {
            return send(.notice("Nothing has been searched for yet; \(context.name(of: .search, in: scopes)) does."))
        }
        guard !lists.isSearching else { return send(.notice("Still searching…")) }
        guard let hit = lists.hit(after: selection, backwards: backwards) else {
            return send(.notice("“\(lists.filter.text.madeVisible)” is not found."))
        }
        select(hit)
    }

    private func select(_ key: PhotoKey) {
        selection = key
        if let place = results.index(of: key) { scroll.select(place) }
    }

    /// For the heading, as long as one goes from hit to hit: which of them one is on.
    var hitText: String? {
        guard errand == .none, !lists.isFiltered, let found = lists.found, !lists.isSearching else { return nil }
        let hit = selection.flatMap { found.index(of: $0) }
        let standing = hit.map { "\($0 + 1) of \(found.count)" } ?? "\(found.count) found"
        return "“\(found.filter.text.madeVisible)” \(standing)"
    }

    /// What there is to say of the search while it is typed.
    var searchText: String {
        guard lists.filter != .all else { return "Type what is to be found." }
        // Until the next hits are there the last ones are said: with each letter another text would flicker.
        guard let found = lists.found else { return "Searching…" }
        guard found.count > 0 else { return "Nothing is found" }
        return CountText.text(found.count, "photo") + " found  Enter keeps, Esc leads back"
    }

    /// Where in a name what was searched for stands.
    func hits(in name: String) -> [Range<Int>] {
        guard lists.filter != .all else { return [] }
        return (try? reader.marks(of: lists.filter, in: name)) ?? []
    }

    // MARK: - Sections

    /// A list of so many photos is long.
    private static let long = 100

    /// Whether sections have titles: one that holds everything needs none, and of a short list they would take more room
    /// than they are worth.
    var isDivided: Bool {
        guard isDivisionChosen || results.count > Self.long else { return false }
        return results.section(at: 0).map { $0.range.upperBound < results.count } ?? false
    }

    func performDividing(_ command: Command) -> Bool {
        switch command {
        case .nextSection:
            if let section = results.section(at: scroll.selected) { move(to: section.range.upperBound) }
        case .previousSection:
            guard let section = results.section(at: scroll.selected) else { break }
            let isAtStart = section.range.lowerBound == scroll.selected
            let before = isAtStart ? results.section(at: scroll.selected - 1) : nil
            move(to: before?.range.lowerBound ?? section.range.lowerBound)
        case .divide: divide()
        default: return false
        }
        return true
    }

    private func move(to place: Int) {
        scroll.select(place)
        selection = results.key(at: scroll.selected)
    }

    private func divide() {
        guard lists.order.criterion == .date else { return send(.notice("Only what is sorted by date is divided.")) }
        let wasDivided = isDivided
        isDivisionChosen = true
        // Of a short list the first division has not been seen yet.
        guard wasDivided == isDivided else { return }
        let rules: [SectionRule] = [.year, .month, .day, .none]
        let next = rules[((rules.firstIndex(of: lists.sections) ?? 0) + 1) % rules.count]
        lists.sort(by: lists.order, sections: next)
    }
}
