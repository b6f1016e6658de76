import Cache
import Commands
import Model

/// What is done with photos of the list.
extension PhotosScreen {
    /// The photos that an action is about: those that are marked, listed or not, or else the selected one.
    var concerned: [PhotoKey] {
        guard !marks.keys.isEmpty else { return selection.map { [$0] } ?? [] }
        let all = lists.all
        let keys = (0..<all.count).lazy.compactMap { all.key(at: $0) }.filter { self.marks.keys.contains($0) }
        // Behind the last of them there is nothing to look for.
        return Array(keys.prefix(marks.keys.count))
    }

    /// Obeys a command that is about photos. Returns whether it was.
    func act(on command: Command) -> Bool {
        guard PhotoActions.commands.contains(command) else { return false }
        // Of a long list it takes a moment until all are marked, and then it is those that are meant.
        marks.whenSettled { [weak self] in
            guard let self else { return }
            PhotoActions(context, cache: cache, from: self).perform(command, on: concerned)
        }
        return true
    }

    /// Looks at photos one after the other: at all from the selected one on, or at those that an action is about, if they are
    /// several.
    ///
    /// - Parameter seconds: for each photo, if not as the user has set.
    func showSlides(seconds: Int? = nil) {
        marks.whenSettled { [weak self] in self?.showSlidesOfMarked(seconds: seconds) }
    }

    private func showSlidesOfMarked(seconds: Int?) {
        guard let selection else { return }
        let several = concerned.count > 1 ? concerned.filter { results.index(of: $0) != nil } : []
        let count = several.isEmpty ? results.count : several.count
        guard count > 1 else { return send(.notice("There is no other photo to show.")) }
        let first = several.contains(selection) ? selection : several.first ?? selection
        let screen = PhotoScreen(context, results: results, key: first, delegate: self)
        screen.beginSlideshow(over: several, seconds: seconds)
        photoScreenDidShow(first)
        send(.push(screen))
    }

    /// Shows all photos again, if only some are shown. The selection stays on its photo.
    func leaveFilter() {
        if lists.purpose == .filtering { lists.search("", for: .filtering) }
    }
}
