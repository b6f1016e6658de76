import Model
import Settings

/// The list of galleries while the user edits it, before it is saved.
struct GalleryDraft: Equatable {
    /// The built-in galleries, even if the user has removed them.
    private let builtIn: [Address]
    /// The list as saved in the file.
    let original: GalleryList
    /// The list with the user's changes.
    private(set) var list: GalleryList
    /// The galleries that the user has opened although they are not in the list.
    private(set) var visited: [Address]
    /// The index of the selected gallery.
    var selected = 0

    init(builtIn: [Address], list: GalleryList, visited: [Address] = []) {
        self.builtIn = builtIn
        original = list
        self.list = list
        self.visited = visited
    }

    /// The built-in galleries, unless the user has removed them.
    var presets: [Address] { list.hidesBuiltIn ? [] : builtIn }

    /// All galleries without duplicates: built-in galleries, the user's list, the visited galleries.
    var addresses: [Address] {
        let listed = presets + own
        return listed + visited.filter { !listed.contains($0) }
    }

    /// The galleries of the list that are not built in.
    private var own: [Address] { list.addresses.filter { !presets.contains($0) } }

    /// Returns whether a gallery is built in or in the list.
    func isListed(_ address: Address) -> Bool { presets.contains(address) || list.addresses.contains(address) }

    /// Whether the edited list differs from the saved list.
    var isChanged: Bool { list != original }

    /// The address of the selected gallery.
    var selection: Address? { addresses.indices.contains(selected) ? addresses[selected] : nil }

    /// Adds an address to the list and selects the gallery. If the list already has the address, only selects the
    /// gallery.
    mutating func add(_ address: Address) {
        if !isListed(address) { list.add(address) }
        select(address)
    }

    /// Adds the selected gallery to the list. Returns false if the list already has the gallery.
    ///
    /// - Parameter titles: the known names of galleries, to use as titles.
    mutating func addSelected(titles: [Address: String] = [:]) -> Bool {
        guard let address = selection, !isListed(address) else { return false }
        list.add(address)
        if let title = titles[address] { list.setTitle(title, of: address) }
        select(address)
        return true
    }

    /// Replaces the address of the selected gallery. Returns false if the list already has the new address.
    ///
    /// Secrets in the old address stay, since the field does not show them.
    mutating func replaceSelected(with new: Address) -> Bool {
        guard let selection else { return true }
        let address = new.restoringSecrets(of: selection)
        guard selection != address else { return true }
        guard !isListed(address) else { return false }
        list.add(selection)
        list.replace(selection, with: address)
        visited.removeAll { $0 == selection }
        select(address)
        return true
    }

    /// Sets the user's title of a gallery.
    mutating func setTitle(_ title: String, of address: Address) {
        list.setTitle(title, of: address)
        select(address)
    }

    /// The selected gallery's own update interval, if it has one.
    var selectedInterval: SyncInterval? { selection.flatMap { list.interval(of: $0) } }

    /// Sets the selected gallery's own update interval; nil to use the general interval.
    mutating func setInterval(_ interval: SyncInterval?) {
        guard let selection else { return }
        list.setInterval(interval, of: selection)
        select(selection)
    }

    /// Selects a gallery that the user opened or left, and shows it even if it is not in the list.
    ///
    /// - Parameter shown: the galleries of the open screens. They stay if this one is an album of theirs.
    mutating func visit(_ address: Address, above shown: [Address]) {
        if !isListed(address), !visited.contains(address) {
            visited = visited.filter { shown.contains($0) } + [address]
        }
        select(address)
    }

    /// Selects a gallery, if the list has it.
    mutating func select(_ address: Address) {
        if let index = addresses.firstIndex(of: address) { selected = index }
    }

    /// Swaps the selected gallery with the neighbour above or below. Returns false if there is no neighbour.
    mutating func moveSelected(by step: Int) -> Bool {
        let own = own
        guard let address = selection, let index = own.firstIndex(of: address), own.indices.contains(index + step)
        else { return false }
        list.exchange(address, own[index + step])
        select(address)
        return true
    }

    /// Removes a gallery, and selects the gallery below or the last gallery.
    mutating func remove(_ address: Address) {
        if presets.contains(address) { list.hidesBuiltIn = true }
        list.remove(address)
        visited.removeAll { $0 == address }
        selected = min(selected, max(0, addresses.count - 1))
    }

    /// Brings the built-in galleries back, and selects the first. Returns false if none are missing.
    mutating func restoreBuiltIn() -> Bool {
        guard list.hidesBuiltIn, let first = builtIn.first else { return false }
        list.hidesBuiltIn = false
        select(first)
        return true
    }
}
