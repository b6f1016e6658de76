import Model

/// The galleries that the user remembers, a file with an address in each line, and behind it how often it is updated, and what
/// the user calls it.
///
///     var list = GalleryList(text: try PrivateFile.read(path) ?? "")
///     list.add(address)
///     list.setInterval(SyncInterval("30m"), of: address)
///     try PrivateFile.write(list.text, to: path)
///
/// The file is the user's as well: what he wrote into it and is no address is passed over, and written back.
public struct GalleryList: Equatable, Sendable {
    /// In the user's order, no address twice.
    var lines: [GalleryLine]

    /// A list of these; of a repeated one the first counts.
    public init(_ addresses: [Address] = []) {
        self.init(lines: addresses.map { GalleryLine($0) })
    }

    /// Reads a file's text.
    public init(text: String) {
        let lines = text.lines.map(\.trimmed).filter { !$0.isEmpty && !Self.headers.contains($0) }
        self.init(lines: lines.map { GalleryLine($0) })
    }

    private init(lines: [GalleryLine]) {
        var seen: Set<Address> = []
        self.lines = lines.filter { line in line.address.map { seen.insert($0).inserted } ?? true }
    }

    /// What in a file's text is wrong and is passed over: the galleries are there all the same.
    public static func mistakes(in text: String, path: String) -> [SettingsFile.Mistake] {
        text.lines.enumerated().compactMap { index, line in
            GalleryLine(line.trimmed).error.map { SettingsFile.Mistake(path: path, line: index + 1, error: $0) }
        }
    }

    /// The galleries, in the user's order, none twice.
    public var addresses: [Address] { lines.compactMap(\.address) }

    private static let header = """
        # Galleries, one address in each line; behind a tab, how often it is updated: every 30m, never; \
        behind another, its title. Vitrine rewrites this file.
        """
    /// As this version writes it, and as others did.
    private static let headers = [
        header, "# Galleries, one address in each line. Vitrine rewrites this file.",
        """
        # Galleries, one address in each line; behind a tab, how often it is updated: every 30m, never. \
        Vitrine rewrites this file.
        """,
    ]

    /// The file's text.
    public var text: String {
        ([Self.header] + lines.map(\.text)).map { $0 + "\n" }.joined()
    }

    /// How often a gallery is updated; nil for as often as is set for all.
    public func interval(of address: Address) -> SyncInterval? {
        lines.first { $0.address == address }?.interval
    }

    /// Says how often a gallery is updated. One that is not in the list comes into it.
    public mutating func setInterval(_ interval: SyncInterval?, of address: Address) {
        guard interval != self.interval(of: address) else { return }
        add(address)
        for index in lines.indices where lines[index].address == address { lines[index].interval = interval }
    }

    /// Adds one at the end, if it is not there. Returns its place.
    @discardableResult
    public mutating func add(_ address: Address) -> Int {
        let addresses = addresses
        if let place = addresses.firstIndex(of: address) { return place }
        lines.append(GalleryLine(address))
        return addresses.count
    }

    /// Takes one out.
    public mutating func remove(at place: Int) {
        let address = addresses[place]
        lines.removeAll { $0.address == address }
    }
}
