import CNcurses
import Cells
import Glibc

/// ncurses, which works out the fewest bytes that turn one screen into another.
///
/// It writes into memory and never sees the terminal: when and how fast bytes go out is not its business, and what it
/// cannot draw can be added before they do. "The library is not thread safe"; the main actor has it to itself.
@MainActor
final class NcursesScreen {
    private var screen = vitrine_screen()
    private var pairs: ColourPairs
    private var capabilities: Capabilities
    /// Lets those lines scroll that terminfo names (DECSTBM).
    private let linesAtFirst: [UInt8]
    /// What is on the terminal; nil when nothing is known of it.
    private var shown: Surface?

    /// Begins a screen, and chooses what is used of the terminal.
    init(_ environment: TerminalEnvironment, size: Size, cellAspect: Double?) throws(TerminalError) {
        var lines: Int32 = 0
        guard vitrine_screen_open(&screen, environment.kind, Int32(size.rows), Int32(size.columns), &lines) == 0 else {
            throw .unknownKind(environment.kind)
        }
        linesAtFirst = Array("\u{1B}[1;\(lines)r".utf8)
        pairs = ColourPairs()
        capabilities = Capabilities(
            unicode: environment.isUnicode, colours: environment.colourDepth(terminfoColours: pairs.colourCount),
            cellAspect: cellAspect ?? 0.5)
        let window = vitrine_ncurses_window()
        // The keys then send what terminfo says they do.
        keypad(window, true)
        // Moving what is there to the side would take along cells that ncurses does not know.
        idcok(window, false)
        nonl()
    }

    /// Gives ncurses' memory back. Nothing may be asked of the screen afterwards.
    func close() {
        vitrine_screen_close(&screen)
    }

    /// What is used of the terminal.
    var used: Capabilities { capabilities }

    /// Uses more of the terminal, or less. What is drawn in another way now is drawn anew.
    func use(_ change: (inout Capabilities) -> Void) {
        let before = capabilities
        change(&capabilities)
        let isDrawnAlike =
            before.unicode == capabilities.unicode && before.colours == capabilities.colours
            && before.pixels == capabilities.pixels
        if !isDrawnAlike { shown = nil }
    }

    /// Whether the next update clears the screen first, and whatever pictures lie over it.
    func clears(for size: Size) -> Bool { shown?.size != size }

    /// The bytes that turn what is on the terminal into the surface.
    ///
    /// - Parameter ceded: cells that are not ncurses' to write, because a picture has taken their place.
    /// - Returns: nil if the screen has to be cleared first, and the pictures on it.
    func update(to wanted: Surface, ceded: [Rect]) -> [UInt8]? {
        var surface = wanted
        for rect in ceded { surface.cede(rect, to: Self.cededCell) }
        let isKnown = shown?.size == surface.size
        if !isKnown {
            resizeterm(Int32(surface.size.rows), Int32(surface.size.columns))
            // The whole of the next update, beginning with an empty screen.
            clearok(vitrine_ncurses_window(), true)
            erase()
        }
        let before = isKnown ? shown : nil
        let gaps = PictureGaps(ceded)
        for gap in 0...gaps.most {
            guard put(surface, instead: before, { gaps.index(ofColumn: $0, row: $1) == gap }) else {
                // All colour pairs are taken, most of them by pictures that are gone.
                pairs.removeAll()
                reset_color_pairs()
                shown = nil
                return ceded.isEmpty ? update(to: wanted, ceded: []) : nil
            }
            if gap == gaps.most { placeCursor(surface) }
            wnoutrefresh(vitrine_ncurses_window())
            doupdate()
        }
        shown = surface
        var output = takeOutput()
        // ncurses would set all of the terminal's colours back to its defaults, those too that the user has changed.
        if !isKnown, let reset = keyString("oc") { output.replaceAll(of: reset, with: []) }
        // It begins with the lines that terminfo names and lets no others scroll. Text never does, but pictures would.
        if !isKnown { output.replaceAll(of: linesAtFirst, with: Self.allLines) }
        return output + TrueColourOverlay.bytes(surface, shown: before, after: output, capabilities)
    }

    /// The same for a surface without pictures.
    func update(to surface: Surface) -> [UInt8] {
        // Without pictures there is nothing that would be in the way.
        update(to: surface, ceded: []) ?? []
    }

    /// Lets ncurses believe that a picture's cells hold something that it has written, so that it writes all of them when they
    /// are text again. Returns the bytes to be sent behind the picture.
    func cede(_ rect: Rect) -> [UInt8] {
        guard let before = shown else { return [] }
        var surface = before
        surface.cede(rect, to: Self.cededCell)
        guard put(surface, instead: before, { _, _ in true }) else { return [] }
        // What it would write for that is not sent. So the terminal has to be brought to where ncurses believes it to be.
        leaveok(vitrine_ncurses_window(), false)
        move(0, 0)
        wnoutrefresh(vitrine_ncurses_window())
        doupdate()
        _ = takeOutput()
        shown = surface
        placeCursor(surface)
        wnoutrefresh(vitrine_ncurses_window())
        doupdate()
        return (keyString("sgr0") ?? []) + Array("\u{1B}[H".utf8) + takeOutput()
    }

    /// Forgets what is on the terminal: somebody else has written to it.
    func forget() {
        shown = nil
    }

    /// The bytes that give the terminal back as it was.
    func leave() -> [UInt8] {
        endwin()
        shown = nil
        return takeOutput()
    }

    /// What a key sends, by its terminfo name.
    func keyString(_ name: String) -> [UInt8]? {
        guard let string = vitrine_terminfo_string(name) else { return nil }
        let bytes = Array(String(cString: string).utf8)
        return bytes.isEmpty ? nil : bytes
    }

    /// What ncurses believes to stand under pictures. Nothing that it would pass over by writing it again.
    private static let cededCell = Cell(TrueColourOverlay.marker)

    /// Puts those cells that are different and meant. Returns false if it ran out of colour pairs.
    private func put(
        _ surface: Surface, instead before: Surface?, _ isMeant: (_ column: Int, _ row: Int) -> Bool
    ) -> Bool {
        for row in 0..<surface.size.rows {
            if let before, before.row(row) == surface.row(row) { continue }
            for column in 0..<surface.size.columns {
                let cell = surface[column, row]
                if cell.width == 0 || cell == before?[column, row] || !isMeant(column, row) { continue }
                guard put(cell, column, row) else { return false }
            }
        }
        return true
    }

    private func put(_ cell: Cell, _ column: Int, _ row: Int) -> Bool {
        var text = capabilities.unicode ? cell.text : ASCIIFallback.text(for: cell.text)
        var style = cell.style
        if cell.isTrueColour, capabilities.colours == .full {
            text = TrueColourOverlay.marker.text
            style = .plain
        }
        var attributes = Self.bits(style.attributes)
        var number: Int32 = 0
        if capabilities.colours != .none {
            guard let pair = pairs.pair(style.foreground, style.background) else { return false }
            number = pair.number
            if pair.isReversed { attributes ^= vitrine_ncurses_attribute_reverse() }
        }
        guard capabilities.unicode || text.utf8.count < 2 else {
            // Two ASCII characters stand for a wide one.
            for (offset, byte) in text.utf8.enumerated() {
                var scalar = UInt32(byte)
                vitrine_screen_put(Int32(row), Int32(column + offset), &scalar, 1, attributes, number)
            }
            return true
        }
        var scalars = text.unicodeScalars.map(\.value)
        vitrine_screen_put(Int32(row), Int32(column), &scalars, Int32(scalars.count), attributes, number)
        return true
    }

    private func placeCursor(_ surface: Surface) {
        if let cursor = surface.cursor {
            move(Int32(cursor.row), Int32(cursor.column))
            curs_set(1)
        } else {
            curs_set(0)
        }
        leaveok(vitrine_ncurses_window(), surface.cursor == nil)
    }

    private func takeOutput() -> [UInt8] {
        fflush(screen.output)
        let count = Int(lseek(screen.descriptor, 0, SEEK_END))
        guard count > 0 else { return [] }
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, pread(screen.descriptor, buffer.baseAddress, count, 0))
        }
        ftruncate(screen.descriptor, 0)
        lseek(screen.descriptor, 0, SEEK_SET)
        return bytes
    }

    private static let allLines = Array("\u{1B}[r".utf8)

    private static func bits(_ attributes: Style.Attributes) -> UInt32 {
        var bits: UInt32 = 0
        if attributes.contains(.bold) { bits |= vitrine_ncurses_attribute_bold() }
        if attributes.contains(.dim) { bits |= vitrine_ncurses_attribute_dim() }
        if attributes.contains(.underline) { bits |= vitrine_ncurses_attribute_underline() }
        if attributes.contains(.reverse) { bits |= vitrine_ncurses_attribute_reverse() }
        return bits
    }
}

extension [UInt8] {
    fileprivate mutating func replaceAll(of sequence: [UInt8], with other: [UInt8]) {
        var start = startIndex
        while let found = self[start...].firstRange(of: sequence) {
            replaceSubrange(found, with: other)
            start = found.lowerBound + other.count
        }
    }
}

/// ncurses' numbered pairs of text and background colour, made as they are needed.
struct ColourPairs {
    private struct Pair: Hashable {
        let foreground: Int32
        let background: Int32
    }

    private let colours: Int32
    private let limit: Int32
    private var numbers: [Pair: Int32] = [:]

    /// Asks ncurses what there is, for the screen that is set.
    init() {
        start_color()
        // -1 is then the terminal's own colour. Terminals that cannot go back to it get white on black.
        use_default_colors()
        colours = vitrine_ncurses_colors()
        limit = vitrine_ncurses_pairs()
    }

    /// How many colours there are, in terminfo's count.
    var colourCount: Int { Int(colours) }

    /// The pair for two colours, and whether text and background are to be exchanged; nil when there are no pairs left.
    mutating func pair(_ foreground: Colour, _ background: Colour) -> (number: Int32, isReversed: Bool)? {
        let pair = Pair(foreground: number(foreground), background: number(background))
        guard pair.foreground >= 0 || pair.background >= 0 else { return (0, false) }
        if let number = numbers[pair] { return (number, false) }
        // With eight colours there are sixty-four pairs, and as many combinations: each serves both ways round. Not so the
        // terminal's own colours: exchanged, its background would be what its text was.
        let other = Pair(foreground: pair.background, background: pair.foreground)
        if limit <= 256, pair.foreground >= 0, pair.background >= 0, let number = numbers[other] {
            return (number, true)
        }
        let next = Int32(numbers.count) + 1
        guard next < limit else { return nil }
        init_extended_pair(next, pair.foreground, pair.background)
        numbers[pair] = next
        return (next, false)
    }

    /// Begins anew. Every cell that is shown has to be put again.
    mutating func removeAll() {
        numbers.removeAll(keepingCapacity: true)
    }

    private func number(_ colour: Colour) -> Int32 {
        switch colour {
        case .terminal, .rgb: -1
        case .palette(let index): Int32(index) < colours ? Int32(index) : Int32(index) % max(1, colours)
        }
    }
}

/// The parts of each row between the pictures in it.
///
/// ncurses writes a row from its first change to its last one, and what it finds in between it may write again. Changes on
/// either side of a picture are therefore given to it one after the other, a gap at a time.
struct PictureGaps {
    /// For each row the columns at which pictures end, in order.
    private var ends: [Int: [Int]] = [:]

    init(_ pictures: [Rect]) {
        for picture in pictures {
            for row in picture.rows { ends[row, default: []].append(picture.columns.upperBound) }
        }
        for row in ends.keys { ends[row]?.sort() }
    }

    /// The most pictures in one row.
    var most: Int { ends.values.map(\.count).max() ?? 0 }

    /// In which part of its row a column is: how many pictures end before it.
    func index(ofColumn column: Int, row: Int) -> Int {
        ends[row]?.firstIndex { column < $0 } ?? ends[row]?.count ?? 0
    }
}
