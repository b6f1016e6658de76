import Model
import Settings

/// The list of galleries while it is being edited: nothing counts before it is saved.
struct GalleryDraft: Equatable {
    /// Those that come with Vitrine. They cannot be removed.
    let presets: [Address]
    /// What was there before.
    let original: GalleryList
    /// What would be saved.
    private(set) var list: GalleryList
    /// One that was opened without being in the list.
    private(set) var visited: Address?
    /// The selected one, among all.
    var selected = 0

    init(presets: [Address], list: GalleryList, visited: Address? = nil) {
        self.presets = presets
        original = list
        self.list = list
        self.visited = visited
    }

    /// All there is to choose from: presets first, none twice, and last what is not in the list.
    var addresses: [Address] {
        let listed = presets + own
        return listed + [visited].compactMap { $0 }.filter { !listed.contains($0) }
    }

    /// Those that can be removed.
    private var own: [Address] { list.addresses.filter { !presets.contains($0) } }

    /// Whether a gallery is one of those that are kept in the list.
    func isListed(_ address: Address) -> Bool { presets.contains(address) || list.addresses.contains(address) }

    /// Whether there is anything to save.
    var isChanged: Bool { list != original }

    /// The selected one.
    var selection: Address? { addresses.indices.contains(selected) ? addresses[selected] : nil }

    /// Adds what was typed, if it is a place that can be gone to, and selects it. What is there already is only selected.
    mutating func add(typed text: String, home: String, currentFolder: String) throws(AddressError) {
        let address = try Address(typed: text, home: home, currentFolder: currentFolder)
        if !isListed(address) { list.add(address) }
        select(address)
    }

    /// Adds the selected one, if it is not in the list. Returns whether that was so.
    mutating func addSelected() -> Bool {
        guard let address = selection, !isListed(address) else { return false }
        list.add(address)
        select(address)
        return true
    }

    /// Puts what was typed in the place of the selected one. Returns false if that is there already. Secrets that were not shown,
    /// and so not typed, stay.
    mutating func replaceSelected(typed text: String, home: String, currentFolder: String) throws(AddressError) -> Bool
    {
        var address = try Address(typed: text, home: home, currentFolder: currentFolder)
        if let selection { address = address.restoringSecrets(of: selection) }
        guard let selection, selection != address else { return true }
        guard !isListed(address) else { return false }
        list.add(selection)
        list.replace(selection, with: address)
        if visited == selection { visited = nil }
        select(address)
        return true
    }

    /// Says what a gallery is called.
    mutating func setTitle(_ title: String, of address: Address) {
        list.setTitle(title, of: address)
        select(address)
    }

    /// How often the selected one is updated, if that is set for it.
    var selectedInterval: SyncInterval? { selection.flatMap { list.interval(of: $0) } }

    /// Says how often the selected one is updated; nil for as often as is set for all.
    mutating func setInterval(_ interval: SyncInterval?) {
        guard let selection else { return }
        list.setInterval(interval, of: selection)
        select(selection)
    }

    /// Selects a gallery, if it is there.
    mutating func select(_ address: Address) {
        if let place = addresses.firstIndex(of: address) { selected = place }
    }

    /// Lets the selected one change places with the one above it, or below. Returns whether there is one that it can.
    mutating func moveSelected(by step: Int) -> Bool {
        let own = own
        guard let address = selection, let place = own.firstIndex(of: address), own.indices.contains(place + step)
        else { return false }
        list.exchange(address, own[place + step])
        select(address)
        return true
    }

    /// Removes one. If it was selected, the next takes its place, else the one before.
    mutating func remove(_ address: Address) {
        guard !presets.contains(address) else { return }
        if let place = list.addresses.firstIndex(of: address) { list.remove(at: place) }
        if visited == address { visited = nil }
        selected = min(selected, max(0, addresses.count - 1))
    }
}
