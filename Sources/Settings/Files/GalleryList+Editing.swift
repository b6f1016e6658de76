import Model

/// What the user makes of his list, beside adding and removing.
extension GalleryList {
    /// What the user calls a gallery, if he has said so.
    public func title(of address: Address) -> String? {
        lines.first { $0.address == address }?.title
    }

    /// Says what a gallery is called; nil, or nothing but spaces, for what it is called by itself. One that is not in the list
    /// comes into it.
    public mutating func setTitle(_ title: String?, of address: Address) {
        let title = title.flatMap { GalleryLine.title($0) }
        guard title != self.title(of: address) else { return }
        add(address)
        for index in lines.indices where lines[index].address == address { lines[index].title = title }
    }

    /// Puts another address in the place of one; title and interval stay. Returns false, and changes nothing, if the other is
    /// in the list already.
    @discardableResult
    public mutating func replace(_ address: Address, with other: Address) -> Bool {
        guard other != address else { return true }
        guard !addresses.contains(other) else { return false }
        for index in lines.indices where lines[index].address == address { lines[index].address = other }
        return true
    }

    /// Lets two galleries change places.
    public mutating func exchange(_ one: Address, _ other: Address) {
        guard let first = lines.firstIndex(where: { $0.address == one }),
            let second = lines.firstIndex(where: { $0.address == other })
        else { return }
        lines.swapAt(first, second)
    }
}
