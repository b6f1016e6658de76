import Model

/// The galleries that the user remembers, a file with an address in each line.
public struct GalleryList: Equatable, Sendable {
    /// In the user's order, none twice.
    public private(set) var addresses: [Address]

    /// A list of these; of a repeated one the first counts.
    public init(_ addresses: [Address] = []) {
        var seen: Set<Address> = []
        self.addresses = addresses.filter { seen.insert($0).inserted }
    }

    /// Reads a file's text. Lines that are no address are passed over: what is there is the user's, but not ours to stop
    /// at.
    public init(text: String) {
        self.init(text.split(separator: "\n").compactMap { try? Address($0.trimmed) })
    }

    /// The file's text.
    public var text: String {
        "# Galleries, one address in each line. Vitrine rewrites this file.\n"
            + addresses.map { $0.text + "\n" }.joined()
    }

    /// Adds one at the end, if it is not there. Returns its place.
    @discardableResult
    public mutating func add(_ address: Address) -> Int {
        if let place = addresses.firstIndex(of: address) { return place }
        addresses.append(address)
        return addresses.count - 1
    }

    /// Takes one out.
    public mutating func remove(at place: Int) {
        addresses.remove(at: place)
    }
}
