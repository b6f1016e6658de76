/// A terminal for tests, which turns a program's output into a screen.
///
/// It understands the sequences of ncurses for an xterm, and those that Vitrine adds. It records all others in
/// ``violations``: every written byte must belong to that grammar.
public final class VirtualScreen {
    /// A cell of the screen.
    public struct Cell: Equatable {
        /// The character; empty in the right half of a wide character.
        public var text = " "
        /// The SGR codes in force when it was written.
        public var style = ""
    }

    /// Its width.
    public private(set) var columns: Int
    /// Its height.
    public private(set) var rows: Int
    private var cells: [[Cell]]
    private var main: [[Cell]]?
    private var row = 0
    private var column = 0
    private var style = ""
    private var saved = (row: 0, column: 0, style: "")
    private var wrapsNext = false
    /// Whether a character in the last column moves the cursor to the next row at once, as in old terminals, whose
    /// terminfo lacks `xenl`.
    public var wrapsAtOnce = false
    /// The scrolling region.
    private var region = 0..<24
    private var pending: [UInt8] = []
    private var lastText = " "
    /// Sequences that do not belong to the grammar.
    public private(set) var violations: [String] = []
    /// The received queries, such as `CSI c` and `OSC 11;?`. A ``Persona`` answers them.
    public private(set) var questions: [String] = []
    /// DEC private modes that are on.
    public private(set) var modes: Set<Int> = [25, 7]
    /// The pictures on it.
    public private(set) var pictures = VirtualPictures()
    /// Bytes taken so far.
    public private(set) var byteCount = 0

    /// Makes an empty screen.
    public init(columns: Int = 80, rows: Int = 24) {
        self.columns = columns
        self.rows = rows
        cells = Self.blank(columns, rows)
        region = 0..<rows
    }

    /// Whether the program has switched to the alternate screen.
    public var isAlternate: Bool { main != nil }
    /// The cursor's position.
    public var cursor: (column: Int, row: Int) { (column, row) }
    /// Whether the cursor is visible.
    public var isCursorVisible: Bool { modes.contains(25) }

    /// Returns the cell at a position.
    public subscript(column: Int, row: Int) -> Cell { cells[row][column] }

    /// Returns a row's text, without trailing blanks.
    public func text(inRow row: Int) -> String {
        var text = cells[row].map(\.text).joined()
        while text.last == " " { text.removeLast() }
        return text
    }

    /// All rows, one line each.
    public var text: String { (0..<rows).map(text(inRow:)).joined(separator: "\n") }

    /// All cells, to compare two screens.
    public var allCells: [[Cell]] { cells }

    /// Changes the size. The contents are lost, as ncurses must assume.
    public func resize(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
        cells = Self.blank(columns, rows)
        region = 0..<rows
        row = min(row, rows - 1)
        column = min(column, columns - 1)
    }

    /// Processes output, which may be cut anywhere.
    public func write(_ bytes: some Collection<UInt8>) {
        byteCount += bytes.count
        pending += bytes
        while let length = step() { pending.removeFirst(length) }
    }

    private static func blank(_ columns: Int, _ rows: Int) -> [[Cell]] {
        Array(repeating: Array(repeating: Cell(), count: columns), count: rows)
    }

    /// CAN cancels an incomplete sequence.
    private static let cancel: UInt8 = 0x18

    /// Processes one character or sequence. Returns its length in bytes; nil if it is incomplete.
    private func step() -> Int? {
        guard let first = pending.first else { return nil }
        switch first {
        case 0x1B: return escape()
        case 0x0D:
            column = 0
            wrapsNext = false
            return 1
        case 0x0A:
            lineFeed()
            return 1
        case 0x08:
            column = max(0, column - 1)
            wrapsNext = false
            return 1
        case 0x0E, 0x0F, 0x00, Self.cancel: return 1
        case 0x00..<0x20, 0x7F:
            violations.append("control \(first)")
            return 1
        case 0x80..<0xC0:
            violations.append("byte \(first)")
            return 1
        default:
            let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1
            // After a character that was cut off, CAN follows, which cancels all sequences.
            if let cut = pending.prefix(length).firstIndex(of: Self.cancel) { return cut }
            guard pending.count >= length else { return nil }
            put(String(decoding: pending.prefix(length), as: UTF8.self))
            return length
        }
    }

    private func put(_ text: String) {
        guard let scalar = text.unicodeScalars.first else { return }
        if (0x80...0x9F).contains(scalar.value) { violations.append("C1 \(scalar.value)") }
        let width = Self.width(scalar)
        guard width > 0 else {
            let place = wrapsNext ? column : max(0, column - 1)
            cells[row][place].text += text
            return
        }
        // The window may have become narrower while output was on its way.
        guard width <= columns else { return }
        if wrapsNext || column + width > columns {
            column = 0
            lineFeed()
            wrapsNext = false
        }
        lastText = text
        cells[row][column] = Cell(text: text, style: style)
        if width == 2 { cells[row][column + 1] = Cell(text: "", style: style) }
        column += width
        guard column >= columns else { return }
        if wrapsAtOnce {
            column = 0
            lineFeed()
        } else {
            column = columns - 1
            wrapsNext = true
        }
    }

    private static func width(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default: break
        }
        return switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF,
            0x20000...0x3FFFD:
            2
        default: 1
        }
    }

    private func lineFeed() {
        if row + 1 == region.upperBound { scrollUp(region, 1) } else { row = min(rows - 1, row + 1) }
        wrapsNext = false
    }

    private func scrollUp(_ region: Range<Int>, _ count: Int) {
        pictures.scroll(region, by: -count)
        for _ in 0..<min(count, region.count) {
            cells.remove(at: region.lowerBound)
            cells.insert(Array(repeating: Cell(), count: columns), at: region.upperBound - 1)
        }
    }

    private func scrollDown(_ region: Range<Int>, _ count: Int) {
        pictures.scroll(region, by: count)
        for _ in 0..<min(count, region.count) {
            cells.remove(at: region.upperBound - 1)
            cells.insert(Array(repeating: Cell(), count: columns), at: region.lowerBound)
        }
    }

    private func escape() -> Int? {
        guard pending.count > 1 else { return nil }
        switch pending[1] {
        case Self.cancel: return 2
        case UInt8(ascii: "["): return controlSequence()
        case UInt8(ascii: "P"), UInt8(ascii: "]"), UInt8(ascii: "_"): return string()
        case UInt8(ascii: "("), UInt8(ascii: ")"): return pending.count > 2 ? 3 : nil
        case UInt8(ascii: "7"): saved = (row, column, style)
        case UInt8(ascii: "8"): (row, column, style) = saved
        case UInt8(ascii: "="), UInt8(ascii: ">"): break
        case UInt8(ascii: "M"): if row == region.lowerBound { scrollDown(region, 1) } else { row = max(0, row - 1) }
        default: violations.append("ESC \(Character(UnicodeScalar(pending[1])))")
        }
        wrapsNext = false
        return 2
    }

    /// Processes DCS, OSC and APC up to their end: ST, or for OSC also a bell.
    private func string() -> Int? {
        var end = 2
        while true {
            guard end < pending.count else { return nil }
            if pending[end] == Self.cancel { return end + 1 }
            if pending[end] == 0x07, pending[1] == UInt8(ascii: "]") { break }
            if pending[end] == 0x1B {
                guard end + 1 < pending.count else { return nil }
                if pending[end + 1] == UInt8(ascii: "\\") { break }
                // In tmux's passthrough, each escape is doubled.
                end += 1
            }
            end += 1
        }
        let length = end + (pending[end] == 0x07 ? 1 : 2)
        take(string: Array(pending[2..<end]), pending[1])
        return length
    }

    private func take(string bytes: [UInt8], _ introducer: UInt8) {
        let body = String(decoding: bytes, as: UTF8.self)
        switch introducer {
        case UInt8(ascii: "P") where body.hasPrefix("tmux;\u{1B}\u{1B}"):
            var inner = Array(bytes.dropFirst(5))
            while let doubled = inner.firstRange(of: [0x1B, 0x1B]) { inner.remove(at: doubled.lowerBound) }
            take(string: Array(inner.dropFirst(2).dropLast(inner.last == 0x07 ? 1 : 2)), inner[1])
        case UInt8(ascii: "P"):
            guard let picture = pictures.sixel(body) else { return violations.append("DCS \(body.prefix(40))") }
            draw(picture)
        case UInt8(ascii: "_"):
            if body.contains("a=q") { return questions.append("APC \(body)") }
            let wrong = pictures.takeKitty(String(body.dropFirst()), column: column, row: row)
            if let wrong { violations.append(wrong) }
        default:
            if body.hasPrefix("52;c;") { return }
            if body == "11;?" { return questions.append("OSC \(body)") }
            guard let picture = pictures.iterm(body) else { return violations.append("OSC \(body.prefix(40))") }
            draw(picture)
        }
    }

    /// Draws a picture at the cursor. Each cell names the picture and its part.
    private func draw(_ picture: VirtualPictures.Drawn) {
        if row + picture.rows >= region.upperBound { violations.append("a picture that scrolls the screen") }
        if column + picture.columns > columns { violations.append("a picture that is cut off") }
        for y in 0..<picture.rows where row + y < rows {
            for x in 0..<picture.columns where column + x < columns {
                cells[row + y][column + x] = Cell(text: "\(picture.payload).\(x).\(y)", style: "")
            }
        }
        row = min(rows - 1, row + picture.rows)
    }

    private func controlSequence() -> Int? {
        let ends = { (byte: UInt8) in (0x40...0x7E).contains(byte) || byte == Self.cancel }
        guard let end = pending.dropFirst(2).firstIndex(where: ends) else { return nil }
        if pending[end] == Self.cancel { return end + 1 }
        let body = String(decoding: pending[2..<end], as: UTF8.self)
        let final = Character(UnicodeScalar(pending[end]))
        if Self.questions.contains("\(body)\(final)") {
            questions.append("CSI \(body)\(final)")
            return end + 1
        }
        let isPrivate = body.hasPrefix("?")
        let numbers = body.drop { $0 == "?" }.split(separator: ";", omittingEmptySubsequences: false).map {
            Int($0) ?? 0
        }
        apply(final, numbers, body: body, isPrivate: isPrivate)
        return end + 1
    }

    private static let questions: Set = [
        "c", "0c", ">c", ">q", ">0q", "14t", "16t", "?2026$p", "?1;1;0S",
    ]

    private func apply(_ final: Character, _ numbers: [Int], body: String, isPrivate: Bool) {
        func number(_ index: Int, default value: Int = 1) -> Int {
            numbers.indices.contains(index) && numbers[index] > 0 ? numbers[index] : value
        }
        if final != "m" { wrapsNext = false }
        switch final {
        case "m": style = VirtualStyle.style(style, adding: numbers)
        case "H", "f": (row, column) = (min(rows, number(0)) - 1, min(columns, number(1)) - 1)
        case "A": row = max(0, row - number(0))
        case "B": row = min(rows - 1, row + number(0))
        case "C": column = min(columns - 1, column + number(0))
        case "D": column = max(0, column - number(0))
        case "G", "`": column = min(columns, number(0)) - 1
        case "d": row = min(rows, number(0)) - 1
        case "K": erase(row, from: numbers.first == 1 ? 0 : column, to: numbers.first == 1 ? column + 1 : columns)
        case "J":
            let mode = numbers.first ?? 0
            if mode == 0 { erase(row, from: column, to: columns) }
            if mode == 1 { erase(row, from: 0, to: column + 1) }
            for other in 0..<rows where mode == 2 || (mode == 0 && other > row) || (mode == 1 && other < row) {
                erase(other, from: 0, to: columns)
            }
        case "X": erase(row, from: column, to: min(columns, column + number(0)))
        case "b": for _ in 0..<number(0) { put(lastText) }
        case "h" where isPrivate: for mode in numbers { setMode(mode, true) }
        case "l" where isPrivate: for mode in numbers { setMode(mode, false) }
        case "S": scrollUp(region, number(0))
        case "T": scrollDown(region, number(0))
        case "L": if region.contains(row) { scrollDown(row..<region.upperBound, number(0)) }
        case "M": if region.contains(row) { scrollUp(row..<region.upperBound, number(0)) }
        case "r":
            region = number(0) - 1..<min(rows, number(1, default: rows))
            (row, column) = (0, 0)
        case "h", "l", "t": break
        // The Linux console's shapes of the cursor.
        case "c" where isPrivate: break
        default: violations.append("CSI \(body)\(final)")
        }
    }

    private func erase(_ row: Int, from start: Int, to end: Int) {
        for column in start..<max(start, end) { cells[row][column] = Cell() }
    }

    private func setMode(_ mode: Int, _ isOn: Bool) {
        if isOn { modes.insert(mode) } else { modes.remove(mode) }
        guard mode == 1049 else { return }
        if isOn, main == nil {
            main = cells
            cells = Self.blank(columns, rows)
        } else if !isOn, let main {
            cells = main
            self.main = nil
        }
    }
}
