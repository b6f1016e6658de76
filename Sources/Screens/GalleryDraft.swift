import Model
import Settings

/// The list of galleries while it is being edited: nothing counts before it is saved.
struct GalleryDraft: Equatable {
    /// Those that come with Vitrine. They cannot be removed.
    let presets: [Address]
    /// What was there before.
    private let original: GalleryList
    /// What would be saved.
    private(set) var list: GalleryList
    /// The selected one, among all.
    var selected = 0

    init(presets: [Address], list: GalleryList) {
        self.presets = presets
        original = list
        self.list = list
    }

    /// All there is to choose from: presets first, and none twice.
    var addresses: [Address] { presets + list.addresses.filter { !presets.contains($0) } }

    /// Whether there is anything to save.
    var isChanged: Bool { list != original }

    /// The selected one.
    var selection: Address? { addresses.indices.contains(selected) ? addresses[selected] : nil }

    /// Adds what was typed, if it is a place that can be gone to, and selects it. What is there already is only selected.
    mutating func add(typed text: String, home: String, currentFolder: String) throws(AddressError) {
        let address = try Address(typed: text, home: home, currentFolder: currentFolder)
        if !addresses.contains(address) { list.add(address) }
        selected = addresses.firstIndex(of: address) ?? 0
    }

    /// How often the selected one is updated, if that is set for it.
    var selectedInterval: SyncInterval? { selection.flatMap { list.interval(of: $0) } }

    /// Says how often the selected one is updated; nil for as often as is set for all.
    mutating func setInterval(_ interval: SyncInterval?) {
        if let selection { list.setInterval(interval, of: selection) }
    }

    /// Selects a gallery, if it is there.
    mutating func select(_ address: Address) {
        if let place = addresses.firstIndex(of: address) { selected = place }
    }

    /// Removes the selected one. The next takes its place, else the one before. Returns false for a preset.
    mutating func removeSelected() -> Bool {
        guard let address = selection, !presets.contains(address),
            let place = list.addresses.firstIndex(of: address)
        else { return false }
        list.remove(at: place)
        selected = min(selected, max(0, addresses.count - 1))
        return true
    }
}
