import Model
import Settings

/// The edited list of galleries, before it is saved.
struct GalleryDraft: Equatable {
    /// The built-in galleries. They cannot be removed.
    let presets: [Address]
    /// The saved list.
    let original: GalleryList
    /// The edited list.
    private(set) var list: GalleryList
    /// An open gallery that is not in the list.
    private(set) var visited: Address?
    /// The index of the selected gallery.
    var selected = 0

    init(presets: [Address], list: GalleryList, visited: Address? = nil) {
        self.presets = presets
        original = list
        self.list = list
        self.visited = visited
    }

    /// All galleries without duplicates: presets, the list, then the visited one.
    var addresses: [Address] {
        let listed = presets + own
        return listed + [visited].compactMap { $0 }.filter { !listed.contains($0) }
    }

    /// The galleries that can be removed.
    private var own: [Address] { list.addresses.filter { !presets.contains($0) } }

    /// Returns whether a gallery is a preset or in the list.
    func isListed(_ address: Address) -> Bool { presets.contains(address) || list.addresses.contains(address) }

    /// Whether the list was edited.
    var isChanged: Bool { list != original }

    /// The selected gallery.
    var selection: Address? { addresses.indices.contains(selected) ? addresses[selected] : nil }

    /// Adds a typed address and selects it. A listed address is only selected.
    mutating func add(typed text: String, home: String, currentFolder: String) throws(AddressError) {
        let address = try Address(typed: text, home: home, currentFolder: currentFolder)
        if !isListed(address) { list.add(address) }
        select(address)
    }

    /// Adds the selected gallery, if it is not listed. Returns whether it was added.
    mutating func addSelected() -> Bool {
        guard let address = selection, !isListed(address) else { return false }
        list.add(address)
        select(address)
        return true
    }

    /// Replaces the address of the selected gallery. Returns false if the new one is listed.
    ///
    /// Secrets in the old address stay, since the field does not show them.
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

    /// Sets the title of a gallery.
    mutating func setTitle(_ title: String, of address: Address) {
        list.setTitle(title, of: address)
        select(address)
    }

    /// The interval of the selected gallery, if it has its own.
    var selectedInterval: SyncInterval? { selection.flatMap { list.interval(of: $0) } }

    /// Sets the interval of the selected gallery; nil means the general one.
    mutating func setInterval(_ interval: SyncInterval?) {
        guard let selection else { return }
        list.setInterval(interval, of: selection)
        select(selection)
    }

    /// Selects a gallery, if it exists.
    mutating func select(_ address: Address) {
        if let index = addresses.firstIndex(of: address) { selected = index }
    }

    /// Swaps the selected gallery with a neighbour. Returns whether there is one.
    mutating func moveSelected(by step: Int) -> Bool {
        let own = own
        guard let address = selection, let index = own.firstIndex(of: address), own.indices.contains(index + step)
        else { return false }
        list.exchange(address, own[index + step])
        select(address)
        return true
    }

    /// Removes a gallery. The next one is selected, or else the previous one.
    mutating func remove(_ address: Address) {
        guard !presets.contains(address) else { return }
        if let index = list.addresses.firstIndex(of: address) { list.remove(at: index) }
        if visited == address { visited = nil }
        selected = min(selected, max(0, addresses.count - 1))
    }
}
