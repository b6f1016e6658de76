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
    private var lines: [GalleryLine]

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

extension GalleryList {
    /// What both have made of a list: this one, and somebody else who began with the same.
    ///
    ///     let list = mine.merging(theirs, since: before)
    ///
    /// What one of both has added is there, and what one has removed is not. Of what both have changed, and of the order if
    /// both have changed that, this one counts.
    ///
    /// - Parameter before: what both began with.
    public func merging(_ theirs: GalleryList, since before: GalleryList) -> GalleryList {
        guard theirs != before else { return self }
        guard self != before else { return theirs }
        var merged = theirs
        let (kept, known) = (lines(of: self), lines(of: before))
        merged.lines.removeAll { line in
            line.address.map { known[$0] != nil && kept[$0] == nil } ?? false
        }
        for index in merged.lines.indices {
            guard let address = merged.lines[index].address, let mine = kept[address], mine != known[address] else {
                continue
            }
            merged.lines[index] = mine
        }
        let there = Set(merged.addresses)
        merged.lines += lines.filter { line in
            line.address.map { known[$0] == nil && !there.contains($0) } ?? false
        }
        if isReordered(since: before) { merged.adoptOrder(of: self) }
        return merged
    }

    private func lines(of list: GalleryList) -> [Address: GalleryLine] {
        var lines: [Address: GalleryLine] = [:]
        for line in list.lines { if let address = line.address { lines[address] = line } }
        return lines
    }

    private func isReordered(since before: GalleryList) -> Bool {
        let (now, then) = (Set(addresses), Set(before.addresses))
        return addresses.filter { then.contains($0) } != before.addresses.filter { now.contains($0) }
    }

    /// The places of those that both have are filled with them in the other's order; everything else stays where it is.
    private mutating func adoptOrder(of other: GalleryList) {
        let (mine, others) = (lines(of: self), Set(other.addresses))
        let places = lines.indices.filter { lines[$0].address.map { others.contains($0) } ?? false }
        for (place, line) in zip(places, other.addresses.compactMap { mine[$0] }) { lines[place] = line }
    }
}

/// A line of the file of galleries: an address; behind a tab how often it is updated; and behind another what the user calls
/// it.
private struct GalleryLine: Equatable, Sendable {
    /// Nil for a comment, or an address with a slip of the pen in it.
    var address: Address?
    /// How often it is updated; nil for as often as is set for all.
    var interval: SyncInterval? {
        didSet { rest = interval?.description ?? "" }
    }
    /// What the user calls it, if he has said so.
    var title: String?
    /// What stands behind the address, or all of a line that has none: it is written back.
    private var rest: String

    init(_ address: Address) {
        self.address = address
        rest = ""
    }

    /// Reads a line without white space at its ends.
    init(_ text: String) {
        let (place, rest) = Self.split(text)
        address = try? Address(place)
        guard address != nil else {
            self.rest = text
            return
        }
        let fields = rest.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false)
        let every = fields.first?.trimmed ?? ""
        interval = SyncInterval(every)
        self.rest = interval?.description ?? every
        title = fields.count > 1 ? Self.title(String(fields[1])) : nil
    }

    /// A title as it can stand in a line; nil for none.
    static func title(_ text: String) -> String? {
        let isHarmless = { (scalar: Unicode.Scalar) in scalar.value >= 0x20 && scalar.value != 0x7F }
        let title = String(text.unicodeScalars.map { isHarmless($0) ? Character($0) : " " }).trimmed
        return title.isEmpty ? nil : title
    }

    /// What is wrong with it, if an address is there and what stands behind it means nothing.
    var error: SettingsError? {
        guard address != nil, interval == nil, !rest.isEmpty else { return nil }
        return .value(rest, of: "every", allowed: SyncInterval.allowed)
    }

    var text: String {
        guard let address else { return rest }
        if let title { return "\(address.text)\t\(rest)\t\(title)" }
        return rest.isEmpty ? address.text : "\(address.text)\t\(rest)"
    }

    /// The address ends at a tab; or where somebody has typed spaces in its place, and then one of these words.
    private static func split(_ text: String) -> (place: String, rest: String) {
        for place in text.indices where text[place].isWhitespace {
            if text[place] == "\t" { return (text[..<place].trimmed, String(text[text.index(after: place)...])) }
            let rest = text[place...].trimmed
            if rest == "never" || rest.hasPrefix("every ") { return (text[..<place].trimmed, rest) }
        }
        return (text, "")
    }
}
