import Cache
import Commands
import Model
import Settings
import Text

/// What is done to the list, and to the galleries in it.
extension GalleriesScreen {
    /// Obeys a command that is about the selected gallery. Returns whether it was.
    func edit(_ command: Command) -> Bool {
        guard [.edit, .moveUp, .moveDown, .refresh, .stop, .remove].contains(command) else { return false }
        guard let address = draft.selection else { return true }
        switch command {
        case .edit:
            // What comes with Vitrine lies where it lies.
            if draft.presets.contains(address) {
                startTyping(.title, draft.list.title(of: address) ?? "")
            } else {
                startTyping(.otherAddress, address.textWithoutSecrets)
            }
        case .moveUp, .moveDown:
            if draft.moveSelected(by: command == .moveUp ? -1 : 1) { adoptDraft() }
        case .refresh: send(.notice(GalleryUpdates(context).refresh([address])))
        case .stop: GalleryUpdates(context).stop(address)
        default: remove(address)
        }
        return true
    }

    /// Takes another address for the selected gallery, and goes on to its title.
    func changeAddress(_ text: String) {
        let old = draft.selection
        do throws(AddressError) {
            let isNew = try draft.replaceSelected(
                typed: text, home: context.home, currentFolder: context.currentFolder)
            guard isNew else { return problem = "This gallery is in the list already." }
            // What was opened without being in the list has its place there now, under another address.
            if visited == old { visited = nil }
            adoptDraft()
            startTyping(.title, draft.selection.flatMap { draft.list.title(of: $0) } ?? "")
        } catch {
            problem = error.description
        }
    }

    func setTitle(_ text: String) {
        if let address = draft.selection { draft.setTitle(text, of: address) }
        stopTyping()
        adoptDraft()
    }

    /// Takes a gallery out of the list. If there is something of it on the disk, the user is asked what becomes of that.
    private func remove(_ address: Address) {
        guard !draft.presets.contains(address) else {
            return send(.notice("This gallery comes with Vitrine and cannot be removed."))
        }
        guard let facts = facts[address] else { return removeFromList(address) }
        send(
            .choose(
                "Remove “\(title(of: address).madeVisible)”?",
                [
                    Choice("l", "from the list only") { [weak self] in self?.removeFromList(address) },
                    Choice("c", "with its cache, \(ByteText.text(facts.size))") { [weak self] in
                        self?.removeFromList(address)
                        self?.unwantedCaches.insert(address)
                    },
                ]))
    }

    private func removeFromList(_ address: Address) {
        if visited == address { visited = nil }
        draft.remove(address)
        adoptDraft()
    }

    /// Removes the caches of galleries that are not in the list any more, now that this is saved. Off the main actor: it takes
    /// as long as there are files.
    func removeCaches(of galleries: Set<Address>) {
        let addresses = galleries.filter { !draft.addresses.contains($0) }
        guard !addresses.isEmpty else { return }
        for address in addresses { GalleryUpdates(context).stop(address) }
        removing = Task.detached { [weak self, caches = context.caches, before = removing] in
            await before?.value
            for address in addresses {
                do {
                    try await caches.discard(address)
                } catch {
                    await self?.send(.notice("\(error)"))
                }
            }
            await self?.lookUpSizes()
        }
    }

    /// What a gallery is called here: by its own title, or by all of its address.
    func title(of address: Address) -> String { draft.list.title(of: address) ?? address.description }
}
