import Model

/// The galleries that the user remembers, a file with an address in each line.
///
///     var list = GalleryList(text: try PrivateFile.read(path) ?? "")
///     list.add(address)
///     try PrivateFile.write(list.text, to: path)
///
/// The file is the user's as well: what he wrote into it and is no address is passed over, and written back.
public struct GalleryList: Equatable, Sendable {
    private enum Line: Equatable, Sendable {
        case address(Address)
        /// A comment, or an address with a slip of the pen in it.
        case other(String)
    }

    /// In the user's order, no address twice.
    private var lines: [Line]

    /// A list of these; of a repeated one the first counts.
    public init(_ addresses: [Address] = []) {
        self.init(lines: addresses.map { .address($0) })
    }

    /// Reads a file's text.
    public init(text: String) {
        let lines = text.lines.map(\.trimmed).filter { !$0.isEmpty && $0 != Self.header }
        self.init(lines: lines.map { line in (try? Address(line)).map { .address($0) } ?? .other(line) })
    }

    private init(lines: [Line]) {
        var seen: Set<Address> = []
        self.lines = lines.filter { line in
            if case .address(let address) = line { seen.insert(address).inserted } else { true }
        }
    }

    /// The galleries, in the user's order, none twice.
    public var addresses: [Address] {
        lines.compactMap { if case .address(let address) = $0 { address } else { nil } }
    }

    private static let header = "# Galleries, one address in each line. Vitrine rewrites this file."

    /// The file's text.
    public var text: String {
        let texts = lines.map { line in
            switch line {
            case .address(let address): address.text
            case .other(let text): text
            }
        }
        return ([Self.header] + texts).map { $0 + "\n" }.joined()
    }

    /// Adds one at the end, if it is not there. Returns its place.
    @discardableResult
    public mutating func add(_ address: Address) -> Int {
        let addresses = addresses
        if let place = addresses.firstIndex(of: address) { return place }
        lines.append(.address(address))
        return addresses.count
    }

    /// Takes one out.
    public mutating func remove(at place: Int) {
        let line = Line.address(addresses[place])
        lines.removeAll { $0 == line }
    }
}
