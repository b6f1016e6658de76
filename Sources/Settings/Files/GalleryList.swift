import Model

/// The user's list of galleries. Each line of its file has an address, an update interval and a title.
///
///     var list = GalleryList(text: try PrivateFile.read(path) ?? "")
///     list.add(address)
///     list.setInterval(SyncInterval("30m"), of: address)
///     try PrivateFile.write(list.text, to: path)
///
/// The user may edit the file. Lines without an address are kept and written back.
public struct GalleryList: Equatable, Sendable {
    /// The lines of the file in the user's order. No address occurs twice.
    private var lines: [GalleryLine]

    /// Creates a list from addresses, and skips repeated addresses.
    public init(_ addresses: [Address] = []) {
        self.init(lines: addresses.map { GalleryLine($0) })
    }

    /// Reads the list from the text of its file.
    public init(text: String) {
        let lines = text.lines.map(\.trimmed).filter { !$0.isEmpty && !Self.headers.contains($0) }
        self.init(lines: lines.map { GalleryLine($0) })
    }

    private init(lines: [GalleryLine]) {
        var seen: Set<Address> = []
        self.lines = lines.filter { line in line.address.map { seen.insert($0).inserted } ?? true }
    }

    /// Returns the mistakes in the text of a file. Lines with mistakes still count as galleries.
    public static func mistakes(in text: String, path: String) -> [SettingsFile.Mistake] {
        text.lines.enumerated().compactMap { index, line in
            GalleryLine(line.trimmed).error.map { SettingsFile.Mistake(path: path, line: index + 1, error: $0) }
        }
    }

    /// The addresses in the user's order. No address occurs twice.
    public var addresses: [Address] { lines.compactMap(\.address) }

    private static let header = """
        # Galleries. Each line: address, tab, update interval (every 30m or never), tab, title. \
        Vitrine rewrites this file.
        """
    /// The first lines that this version and earlier versions write into the file.
    private static let headers = [
        header, "# Galleries, one address in each line. Vitrine rewrites this file.",
        """
        # Galleries, one address in each line; behind a tab, how often it is updated: every 30m, never; \
        behind another, its title. Vitrine rewrites this file.
        """,
        """
        # Galleries, one address in each line; behind a tab, how often it is updated: every 30m, never. \
        Vitrine rewrites this file.
        """,
    ]

    /// The text for the file.
    public var text: String {
        ([Self.header] + lines.map(\.text)).map { $0 + "\n" }.joined()
    }

    /// Returns the gallery's own update interval; nil if the gallery has none.
    public func interval(of address: Address) -> SyncInterval? {
        lines.first { $0.address == address }?.interval
    }

    /// Sets the gallery's own update interval. Adds the gallery if the list lacks it.
    public mutating func setInterval(_ interval: SyncInterval?, of address: Address) {
        guard interval != self.interval(of: address) else { return }
        add(address)
        for index in lines.indices where lines[index].address == address { lines[index].interval = interval }
    }

    /// Adds an address at the end, unless the list has the address. Returns the address's index.
    @discardableResult
    public mutating func add(_ address: Address) -> Int {
        let addresses = addresses
        if let index = addresses.firstIndex(of: address) { return index }
        lines.append(GalleryLine(address))
        return addresses.count
    }

    /// Removes a gallery, if the list has it.
    public mutating func remove(_ address: Address) {
        lines.removeAll { $0.address == address }
    }
}

/// Titles, changes of address, and the order of galleries.
extension GalleryList {
    /// Returns the user's title for a gallery, if any.
    public func title(of address: Address) -> String? {
        lines.first { $0.address == address }?.title
    }

    /// Sets the user's title for a gallery. Adds the gallery if the list lacks it.
    ///
    /// - Parameter title: the title; a blank title removes the present title.
    public mutating func setTitle(_ title: String, of address: Address) {
        let title = GalleryLine.title(title)
        guard title != self.title(of: address) else { return }
        add(address)
        for index in lines.indices where lines[index].address == address { lines[index].title = title }
    }

    /// Replaces an address, and keeps the gallery's title and interval.
    ///
    /// - Returns: false, without any change, if the new address is already listed.
    @discardableResult
    public mutating func replace(_ address: Address, with other: Address) -> Bool {
        guard other != address else { return true }
        guard !addresses.contains(other) else { return false }
        for index in lines.indices where lines[index].address == address { lines[index].address = other }
        return true
    }

    /// Swaps the positions of two galleries.
    public mutating func exchange(_ one: Address, _ other: Address) {
        guard let first = lines.firstIndex(where: { $0.address == one }),
            let second = lines.firstIndex(where: { $0.address == other })
        else { return }
        lines.swapAt(first, second)
    }
}

/// The built-in galleries. The list names a built-in gallery only if it has a title or an interval.
extension GalleryList {
    /// The line that removes the built-in galleries.
    private static let removal = "no-built-in-galleries"

    /// Whether the user has removed the built-in galleries.
    public var hidesBuiltIn: Bool {
        get { lines.contains { $0.text == Self.removal } }
        set {
            guard newValue != hidesBuiltIn else { return }
            if newValue { lines.append(GalleryLine(Self.removal)) } else { lines.removeAll { $0.text == Self.removal } }
        }
    }

    /// Returns the addresses, with the built-in gallery unless the user has removed it.
    public func addresses(withBuiltIn builtIn: Address?) -> [Address] {
        guard let builtIn, !hidesBuiltIn, !addresses.contains(builtIn) else { return addresses }
        return addresses + [builtIn]
    }
}

extension GalleryList {
    /// Merges the changes that two programs made to the same list.
    ///
    ///     let list = mine.merging(theirs, since: before)
    ///
    /// Additions and removals of both programs count. If both programs changed the same line or the order, this list
    /// wins.
    ///
    /// - Parameter before: the list with which both programs started.
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
        let present = Set(merged.addresses)
        merged.lines += lines.filter { line in
            line.address.map { known[$0] == nil && !present.contains($0) } ?? false
        }
        if isReordered(since: before) { merged.adoptOrder(of: self) }
        if hidesBuiltIn != before.hidesBuiltIn { merged.hidesBuiltIn = hidesBuiltIn }
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

    /// Puts the galleries that both lists have into the order of another list. All other lines keep their positions.
    private mutating func adoptOrder(of other: GalleryList) {
        let (mine, others) = (lines(of: self), Set(other.addresses))
        let indices = lines.indices.filter { lines[$0].address.map { others.contains($0) } ?? false }
        for (index, line) in zip(indices, other.addresses.compactMap { mine[$0] }) { lines[index] = line }
    }
}

/// A line of the file of galleries: address, tab, update interval, tab, title.
private struct GalleryLine: Equatable, Sendable {
    /// The gallery's address; nil for a comment or an invalid address.
    var address: Address?
    /// The gallery's own update interval; nil if the general setting applies.
    var interval: SyncInterval? {
        didSet { rest = interval?.description ?? "" }
    }
    /// The user's title for the gallery, if any.
    var title: String?
    /// The interval as text, or the invalid text in its place, which Vitrine writes back. For a line without an
    /// address, this is the whole line.
    private var rest: String

    init(_ address: Address) {
        self.address = address
        rest = ""
    }

    /// Parses a line without white space at its ends.
    init(_ text: String) {
        let (start, rest) = Self.split(text)
        address = try? Address(start)
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

    /// Returns the title without control characters; nil if nothing is left.
    static func title(_ text: String) -> String? {
        let isHarmless = { (scalar: Unicode.Scalar) in scalar.value >= 0x20 && scalar.value != 0x7F }
        let title = String(text.unicodeScalars.map { isHarmless($0) ? Character($0) : " " }).trimmed
        return title.isEmpty ? nil : title
    }

    /// The error if the text after the address is not an interval.
    var error: SettingsError? {
        guard address != nil, interval == nil, !rest.isEmpty else { return nil }
        return .value(rest, of: "every", allowed: SyncInterval.allowed)
    }

    var text: String {
        guard let address else { return rest }
        if let title { return "\(address.text)\t\(rest)\t\(title)" }
        return rest.isEmpty ? address.text : "\(address.text)\t\(rest)"
    }

    /// Splits a line at its first tab, or at the spaces before `never` or `every`.
    private static func split(_ text: String) -> (start: String, rest: String) {
        for index in text.indices where text[index].isWhitespace {
            if text[index] == "\t" { return (text[..<index].trimmed, String(text[text.index(after: index)...])) }
            let rest = text[index...].trimmed
            if rest == "never" || rest.hasPrefix("every ") { return (text[..<index].trimmed, rest) }
        }
        return (text, "")
    }
}
