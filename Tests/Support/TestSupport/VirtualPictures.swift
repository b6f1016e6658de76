/// The pictures of a virtual screen, which a terminal keeps beside its cells.
public struct VirtualPictures {
    /// A picture that floats above the text.
    public struct Floating: Hashable {
        /// The digest of the sent payload.
        public let payload: String
        /// Its left column.
        public let column: Int
        /// Its upper row.
        public let row: Int
        /// The number of covered columns.
        public let columns: Int
        /// The number of covered rows.
        public let rows: Int

        /// Creates a floating picture.
        public init(payload: String, column: Int, row: Int, columns: Int, rows: Int) {
            self.payload = payload
            self.column = column
            self.row = row
            self.columns = columns
            self.rows = rows
        }
    }

    /// A picture that replaces text.
    struct Drawn {
        let payload: String
        let columns: Int
        let rows: Int
    }

    /// The pixels of a cell.
    var cell = (width: 10, height: 20)
    private var sent: [Int: String] = [:]
    /// The picture being received: its control data and the payload so far.
    private var arriving: (control: [String: String], payload: String)?
    private var shown: [Showing: Floating] = [:]
    private var virtual: Set<Showing> = []

    private struct Showing: Hashable {
        let id: Int
        let number: Int
    }

    /// All floating pictures.
    public var floating: Set<Floating> { Set(shown.values) }
    /// The numbers of pictures that placeholders may name.
    public var ready: Set<Int> { Set(virtual.map(\.id)) }
    /// The numbers of stored pictures.
    public var kept: Set<Int> { Set(sent.keys) }

    /// Processes the body of a kitty sequence. Returns the error, if there is one.
    mutating func takeKitty(_ body: String, column: Int, row: Int) -> String? {
        let parts = body.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
        var control: [String: String] = [:]
        for pair in parts[0].split(separator: ",") {
            let sides = pair.split(separator: "=", maxSplits: 1)
            guard sides.count == 2 else { return "kitty \(body.prefix(40))" }
            control[String(sides[0])] = String(sides[1])
        }
        let payload = parts.count > 1 ? String(parts[1]) : ""
        guard control["q"] == "2", payload.utf8.count <= 4_096 else { return "kitty \(body.prefix(40))" }
        if let (begun, before) = arriving {
            arriving = nil
            return take(begun, before + payload, isLast: control["m"] != "1", column, row)
        }
        return take(control, payload, isLast: control["m"] != "1", column, row)
    }

    private mutating func take(
        _ control: [String: String], _ payload: String, isLast: Bool, _ column: Int, _ row: Int
    ) -> String? {
        guard isLast else {
            arriving = (control, payload)
            return nil
        }
        let id = Int(control["i"] ?? "") ?? 0
        // Konsole reads signed numbers.
        guard id <= Int(Int32.max) else { return "kitty id \(id)" }
        switch control["a"] {
        case "t": sent[id] = Self.digest(payload)
        case "p":
            guard let picture = sent[id] else { return "kitty knows no picture \(id)" }
            let showing = Showing(id: id, number: Int(control["p"] ?? "") ?? 0)
            if control["U"] == "1" {
                virtual.insert(showing)
                return nil
            }
            guard control["C"] == "1" else { return "kitty moves the cursor" }
            shown[showing] = Floating(
                payload: picture, column: column, row: row, columns: Int(control["c"] ?? "") ?? 0,
                rows: Int(control["r"] ?? "") ?? 0)
        case "d":
            if control["d"] == "I" {
                sent[id] = nil
                virtual = virtual.filter { $0.id != id }
                shown = shown.filter { $0.key.id != id }
            } else {
                let showing = Showing(id: id, number: Int(control["p"] ?? "") ?? 0)
                virtual.remove(showing)
                shown[showing] = nil
            }
        default: return "kitty \(control)"
        }
        return nil
    }

    /// Moves floating pictures with scrolled text. In kitty, pictures that lie wholly in the scrolled rows move.
    ///
    /// - Parameter rows: the number of rows down, or minus the number of rows up.
    mutating func scroll(_ region: Range<Int>, by rows: Int) {
        shown = shown.compactMapValues { picture in
            guard picture.row >= region.lowerBound, picture.row + picture.rows <= region.upperBound else {
                return picture
            }
            let row = picture.row + rows
            guard row < region.upperBound, row + picture.rows > region.lowerBound else { return nil }
            return Floating(
                payload: picture.payload, column: picture.column, row: row, columns: picture.columns,
                rows: picture.rows)
        }
    }

    /// Reads the body of a sixel sequence, which begins with the `q`.
    func sixel(_ body: String) -> Drawn? {
        let raster = body.drop { $0 != "\"" }.dropFirst().prefix { "0123456789;".contains($0) }.split(separator: ";")
        guard raster.count == 4, let width = Int(raster[2]), let height = Int(raster[3]) else { return nil }
        return Drawn(
            payload: Self.digest(String(body.drop { $0 != "\"" })), columns: (width + cell.width - 1) / cell.width,
            rows: (height + cell.height - 1) / cell.height)
    }

    /// Reads the body of an iTerm2 sequence.
    func iterm(_ body: String) -> Drawn? {
        let parts = body.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, parts[0].hasPrefix("1337;File=inline=1;") else { return nil }
        func number(_ name: String) -> Int? {
            parts[0].split(separator: ";").first { $0.hasPrefix(name + "=") }.flatMap {
                Int($0.dropFirst(name.count + 1))
            }
        }
        guard let columns = number("width"), let rows = number("height") else { return nil }
        return Drawn(payload: Self.digest(String(parts[1])), columns: columns, rows: rows)
    }

    /// Returns a short hash of a payload.
    public static func digest(_ payload: String) -> String {
        let hash = payload.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return String(hash, radix: 36)
    }
}
