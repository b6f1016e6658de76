import Model
import Settings

/// What is done to the list is a draft until it is saved.
extension GalleriesScreen {
    /// Whether there is anything to save, or to discard.
    var isChanged: Bool { draft.isChanged || !unwantedCaches.isEmpty }

    /// - Parameter notice: what is said if it goes well.
    func save(notice: String? = nil) {
        let unwanted = unwantedCaches
        unwantedCaches = []
        context.galleries.save(draft.list, since: draft.original) { [weak self] failure in
            guard let self else { return }
            if let text = failure ?? notice { send(.notice(text)) }
            // What is still in the list on the disk keeps its cache, and can be saved once more.
            if failure == nil { removeCaches(of: unwanted) } else { unwantedCaches.formUnion(unwanted) }
            // Another program may have added to it.
            if !draft.isChanged, !isTyping { renewDraft() }
        }
        renewDraft()
    }

    /// Asks what becomes of the changes. Goes on when they are saved or discarded; else the user stays where he is.
    ///
    /// - Parameters:
    ///   - question: what the user is about to do.
    ///   - words: what saving and discarding are called there.
    func askAboutChanges(_ question: String, _ words: [String], then goOn: @escaping @MainActor () -> Void) {
        send(
            .choose(
                question,
                [
                    Choice("s", words[0]) { [weak self] in
                        self?.save()
                        goOn()
                    },
                    Choice("d", words[1]) { [weak self] in
                        self?.discard()
                        goOn()
                    },
                ], otherwise: "stay"))
    }

    private func discard() {
        unwantedCaches = []
        renewDraft()
    }

    /// A draft of what is kept now, on the same gallery as far as it is there.
    func renewDraft() {
        let selection = draft.selection
        draft = GalleryDraft(
            presets: context.galleries.presets, list: context.galleries.list, visited: visited)
        if let selection { draft.select(selection) }
        adoptDraft()
    }

    /// Selects a gallery: the one that was opened elsewhere.
    func select(_ address: Address) {
        if !draft.isListed(address) {
            visited = address
            if !draft.isChanged { renewDraft() }
        }
        draft.select(address)
        adoptDraft()
    }

    func adoptDraft() {
        scroll.setCount(draft.addresses.count)
        scroll.select(draft.selected)
        draft.selected = scroll.selected
        lookUp.look()
    }
}
