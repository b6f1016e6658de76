import CNcurses
import Cells
import Glibc
import Text

/// Computes the bytes of each frame with ncurses.
///
/// ncurses writes into memory and never to the terminal. This class decides when the bytes are sent, and adds what
/// ncurses cannot draw. "The library is not thread safe", so only the main actor uses it.
@MainActor
final class NcursesScreen {
    private var screen = vitrine_screen()
    private var pairs: ColourPairs
    private var capabilities: Capabilities
    /// The bytes that limit scrolling to the number of lines in terminfo (DECSTBM).
    private let linesAtFirst: [UInt8]
    /// The surface on the terminal; nil if its contents are unknown.
    private var shown: Surface?

    /// Opens an ncurses screen, and determines the capabilities to use.
    init(_ environment: TerminalEnvironment, size: Size, cellAspect: Double?) throws(TerminalError) {
        var lines: Int32 = 0
        switch vitrine_screen_open(&screen, environment.kind, Int32(size.rows), Int32(size.columns), &lines) {
        case 0: break
        case -2: throw .fixedCursor(environment.kind)
        default: throw .unknownKind(environment.kind)
        }
        linesAtFirst = Array("\u{1B}[1;\(lines)r".utf8)
        pairs = ColourPairs()
        capabilities = Capabilities(
            unicode: environment.isUnicode,
            colours: environment.colourDepth(terminfoColours: pairs.colourCount, on: environment.brand?.brand),
            cellAspect: cellAspect ?? 0.5)
        let window = vitrine_ncurses_window()
        // Let keys send terminfo's sequences.
        keypad(window, true)
        // Forbid inserting and deleting characters, which would move cells that ncurses does not know.
        idcok(window, false)
        nonl()
    }

    /// Frees the memory of ncurses. The caller must not use the screen afterwards.
    func close() {
        vitrine_screen_close(&screen)
    }

    /// Whether the terminal has reverse video, according to terminfo.
    var reverses: Bool { vitrine_terminfo_reverses() }

    /// The terminal capabilities that the screen uses.
    var used: Capabilities { capabilities }

    /// Changes the capabilities. The next frame redraws everything if the drawing depends on the change.
    func use(_ change: (inout Capabilities) -> Void) {
        let before = capabilities
        change(&capabilities)
        let isDrawnAlike =
            before.unicode == capabilities.unicode && before.colours == capabilities.colours
            && before.pixels == capabilities.pixels
        if !isDrawnAlike { shown = nil }
    }

    /// Returns whether the next update clears the screen and its pictures.
    func clears(for size: Size) -> Bool { shown?.size != size }

    /// Returns the bytes that change the terminal's contents into the surface.
    ///
    /// - Parameters:
    ///   - ceded: cells covered by pictures, which ncurses must not write.
    ///   - hasPictures: whether the terminal shows pictures. They would move if ncurses scrolled the terminal.
    /// - Returns: nil if the screen and its pictures must be cleared first.
    func update(to wanted: Surface, ceded: [Rect], hasPictures: Bool) -> [UInt8]? {
        var surface = wanted
        for rect in ceded { surface.cede(rect, to: Self.cededCell) }
        let isKnown = shown?.size == surface.size
        if !isKnown {
            resizeterm(Int32(surface.size.rows), Int32(surface.size.columns))
            // Make the next update complete, starting with an empty screen.
            clearok(vitrine_ncurses_window(), true)
            erase()
        }
        let before = isKnown ? shown : nil
        let parts = changes(to: surface, from: before, between: PictureGaps(ceded), inRows: hasPictures)
        for (index, part) in parts.enumerated() where !part.isEmpty || index == parts.count - 1 {
            guard put(part, of: surface) else {
                // All colour pairs are used, mostly by pictures no longer visible.
                pairs.removeAll()
                reset_color_pairs()
                shown = nil
                return hasPictures ? nil : update(to: wanted)
            }
            if index == parts.count - 1 { placeCursor(surface) }
            wnoutrefresh(vitrine_ncurses_window())
            doupdate()
        }
        pairs.endFrame()
        shown = surface
        var output = takeOutput()
        // ncurses would reset the terminal's palette, including colours that the user changed.
        if !isKnown, let reset = keyString("oc") { output.replaceAll(of: reset, with: []) }
        // ncurses restricts scrolling to terminfo's lines. That is fine for text, but pictures need the whole screen.
        if !isKnown { output.replaceAll(of: linesAtFirst, with: Self.allLines) }
        return output + TrueColourOverlay.bytes(surface, shown: before, after: output, capabilities)
    }

    /// Returns the bytes that show a surface without pictures.
    func update(to surface: Surface) -> [UInt8] {
        // Without pictures there is always an update.
        update(to: surface, ceded: [], hasPictures: false) ?? []
    }

    /// Tells ncurses that the cells under a picture contain a marker. When these cells become text again, ncurses sees
    /// a change and writes all of them. Returns the bytes to send after the picture.
    func cede(_ rect: Rect) -> [UInt8] {
        guard var surface = shown else { return [] }
        // Change the cells in place: there are many pictures, and a second reference would make Swift copy all cells.
        // If this fails, the next update clears the screen.
        shown = nil
        // Include the neighbouring columns, because a wide character beside the picture may lose a half.
        let columns = (rect.columns.lowerBound - 1..<rect.columns.upperBound + 1).clamped(to: 0..<surface.size.columns)
        let points = rect.rows.clamped(to: 0..<surface.size.rows).flatMap { row in
            columns.map { Point(column: $0, row: row) }
        }
        let before = points.map { surface[$0.column, $0.row] }
        surface.cede(rect, to: Self.cededCell)
        let changed = zip(points, before).filter { point, old in
            let cell = surface[point.column, point.row]
            return !isSame(cell, old) && cell.width > 0
        }
        guard put(changed.map(\.0), of: surface) else { return [] }
        // Discard the output of ncurses for these cells, and then bring the terminal to the state that ncurses assumes.
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

    /// Discards the known contents of the terminal, because another program has changed them.
    func invalidate() {
        shown = nil
    }

    /// Returns the bytes that restore the terminal for other programs.
    func leave() -> [UInt8] {
        endwin()
        shown = nil
        return takeOutput() + lineErasure
    }

    /// The bytes that restore the terminal without ncurses, which signal handlers cannot call.
    var leavingSequence: [UInt8] {
        ["sgr0", "cnorm", "rmkx", "rmcup"].flatMap { keyString($0) ?? [] } + lineErasure
    }

    /// The bytes that clear the cursor's line, if the terminal has no other screen to return to (`rmcup`).
    private var lineErasure: [UInt8] {
        keyString("rmcup") == nil ? [UInt8(ascii: "\r")] + (keyString("el") ?? []) : []
    }

    /// Returns a terminfo string by its name, without delays such as `$<3>`.
    func keyString(_ name: String) -> [UInt8]? {
        guard let string = vitrine_terminfo_string(name) else { return nil }
        var bytes = Array(String(cString: string).utf8)
        while let start = bytes.firstIndex(of: Array("$<".utf8)),
            let end = bytes[start...].firstIndex(of: UInt8(ascii: ">"))
        {
            bytes.removeSubrange(start...end)
        }
        return bytes.isEmpty ? nil : bytes
    }

    /// The contents that ncurses assumes under pictures: a marker. ncurses never prints this character just to move the
    /// cursor.
    private static let cededCell = Cell(TrueColourOverlay.marker)

    /// Returns the cells that ncurses must write, in separate lists. Pictures divide rows into parts. The first list
    /// has the cells of each row's first part, and so on.
    ///
    /// - Parameter inRows: whether each row has lists of its own. ncurses scrolls only if several rows have changed
    ///   since the last update.
    private func changes(
        to surface: Surface, from before: Surface?, between gaps: PictureGaps, inRows: Bool
    ) -> [[Point]] {
        let width = gaps.most + 1
        var parts = Array(repeating: [Point](), count: inRows ? width * max(1, surface.size.rows) : width)
        func add(_ cell: Cell, _ column: Int, _ row: Int) {
            // ncurses writes both halves of a wide character at once.
            guard cell.width > 0 else { return }
            let part = gaps.index(ofColumn: column, row: row)
            parts[inRows ? row * width + part : part].append(Point(column: column, row: row))
        }
        for row in 0..<surface.size.rows {
            let cells = surface.row(row)
            if let old = before?.row(row) {
                if cells == old { continue }
                for (column, (cell, old)) in zip(cells, old).enumerated() where !isSame(cell, old) {
                    add(cell, column, row)
                }
            } else {
                for (column, cell) in cells.enumerated() { add(cell, column, row) }
            }
        }
        return parts
    }

    /// Whether ncurses sees no difference between two cells.
    private func isSame(_ one: Cell, _ other: Cell) -> Bool {
        let areMarked = one.isTrueColour && other.isTrueColour && capabilities.colours == .full
        return areMarked && one.width == other.width || one == other
    }

    /// Gives ncurses cells of a surface. Returns false if no colour pairs are left.
    private func put(_ points: [Point], of surface: Surface) -> Bool {
        var scalars: [UInt32] = []
        // Use a loop. A closure would check for each cell whether it runs on the main actor.
        for point in points {
            guard put(surface[point.column, point.row], at: point, &scalars) else { return false }
        }
        return true
    }

    /// Gives ncurses a cell. Returns false if no colour pairs are left.
    ///
    /// - Parameter scalars: memory for the cell's scalars.
    private func put(_ cell: Cell, at point: Point, _ scalars: inout [UInt32]) -> Bool {
        let cell = cell.isTrueColour && capabilities.colours == .full ? Self.cededCell : cell
        let style = cell.style
        var attributes = Self.bits(style.attributes)
        var number: Int32 = 0
        if capabilities.colours != .none, style.foreground != .terminal || style.background != .terminal {
            guard let pair = pairs.pair(style.foreground, style.background) else { return false }
            number = pair.number
            if pair.isReversed { attributes ^= vitrine_ncurses_attribute_reverse() }
        }
        let (row, column) = (Int32(point.row), Int32(point.column))
        scalars.removeAll(keepingCapacity: true)
        guard !capabilities.unicode else {
            cell.forEachScalar { scalars.append($0.value) }
            vitrine_screen_put(row, column, &scalars, Int32(scalars.count), attributes, number)
            return true
        }
        // Two ASCII characters replace a wide character.
        scalars += ASCIIFallback.text(for: cell.text).utf8.map { UInt32($0) }
        for offset in scalars.indices {
            vitrine_screen_put(row, column + Int32(offset), &scalars[offset], 1, attributes, number)
        }
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
        _ = ftruncate(screen.descriptor, 0)
        lseek(screen.descriptor, 0, SEEK_SET)
        return bytes
    }

    private static let allLines = Array("\u{1B}[r".utf8)

    private static func bits(_ attributes: Style.Attributes) -> UInt32 {
        guard !attributes.isEmpty else { return 0 }
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
        while let found = firstIndex(of: sequence, from: start) {
            replaceSubrange(found..<found + sequence.count, with: other)
            start = found + other.count
        }
    }

    /// Returns the index where a sequence first begins. The standard library's search is generic, and took a tenth of
    /// all instructions of Vitrine's start.
    fileprivate func firstIndex(of sequence: [UInt8], from start: Int = 0) -> Int? {
        guard let first = sequence.first, count >= sequence.count else { return nil }
        for index in start..<Swift.max(start, count - sequence.count + 1)
        where self[index] == first && self[index..<index + sequence.count].elementsEqual(sequence) {
            return index
        }
        return nil
    }
}

/// The colour pairs of ncurses, which are made on demand.
struct ColourPairs {
    private struct Pair: Hashable {
        let foreground: Int32
        let background: Int32
    }

    private let colours: Int32
    /// The number of colours that ncurses takes by index. It takes larger numbers as red, green and blue on terminals
    /// with direct colours, such as `xterm-direct`.
    private let indexed: Int32
    /// For each colour of the usual palette, the terminal's own colour that shows it.
    private let indices: [Int32]
    private let limit: Int32
    private var numbers: [Pair: Int32] = [:]
    /// Whether all pairs were freed for the current frame.
    private var isFreedForFrame = false

    /// Reads the limits for colours and pairs of the current screen.
    init() {
        start_color()
        // After this call, -1 is the terminal's default colour. Terminals without default colours get white on black.
        use_default_colors()
        colours = vitrine_ncurses_colors()
        // Terminfo has "CO" only for some terminals with direct colours. The others have eight colours by index.
        indexed = colours > 256 ? max(8, vitrine_terminfo_number("CO")) : 256
        indices = (0...255).map { [colours] in Self.index(of: $0, among: colours) }
        limit = vitrine_ncurses_pairs()
    }

    /// The number of colours according to terminfo.
    var colourCount: Int { Int(colours) }

    /// Returns the pair for two colours, and whether to swap foreground and background; nil if no pairs are left.
    ///
    /// If freeing all pairs cannot help, this is the pair of the terminal's own colours.
    mutating func pair(_ foreground: Colour, _ background: Colour) -> (number: Int32, isReversed: Bool)? {
        let pair = Pair(foreground: number(foreground), background: number(background))
        guard pair.foreground >= 0 || pair.background >= 0 else { return (0, false) }
        if let number = numbers[pair] { return (number, false) }
        // With eight colours there are only 64 pairs, so each pair also serves for the same two colours in reverse.
        // Default colours cannot be reversed.
        let other = Pair(foreground: pair.background, background: pair.foreground)
        if limit <= 256, pair.foreground >= 0, pair.background >= 0, let number = numbers[other] {
            return (number, true)
        }
        let next = Int32(numbers.count) + 1
        // Some terminals have no colours or very few pairs, and the user can still ask for colours.
        if next >= limit, isFreedForFrame || limit <= 1 { return (0, false) }
        guard next < limit else { return nil }
        init_extended_pair(next, pair.foreground, pair.background)
        numbers[pair] = next
        return (next, false)
    }

    /// Frees all pairs. The caller must draw all visible cells again.
    mutating func removeAll() {
        numbers.removeAll(keepingCapacity: true)
        isFreedForFrame = true
    }

    /// Lets the next frame free all pairs again.
    mutating func endFrame() {
        isFreedForFrame = false
    }

    private func number(_ colour: Colour) -> Int32 {
        switch colour {
        case .terminal, .rgb: return -1
        case .palette(let index) where Int32(index) >= indexed:
            let (red, green, blue) = Colour.usualValues(ofPalette: index)
            // Smaller numbers would be indices, so black becomes the darkest other colour.
            return max(indexed, Int32(red) << 16 | Int32(green) << 8 | Int32(blue))
        case .palette(let index): return indices[Int(index)]
        }
    }

    /// Returns the colour that shows a colour of the usual palette on a terminal with this number of colours.
    private static func index(of index: UInt8, among colours: Int32) -> Int32 {
        // If there are fewer than 256 colours, those after the first 16 have other values.
        let known = colours < 256 ? max(1, min(16, colours)) : 256
        guard index >= known else { return Int32(index) }
        // A bright colour becomes the plain one.
        guard index >= 16 else { return Int32(index) % known }
        let wanted = Colour.usualValues(ofPalette: index)
        func distance(_ other: Int32) -> Int {
            let found = Colour.usualValues(ofPalette: UInt8(other))
            let red = Int(found.0) - Int(wanted.0)
            let green = Int(found.1) - Int(wanted.1)
            let blue = Int(found.2) - Int(wanted.2)
            return red * red + green * green + blue * blue
        }
        return (0..<known).min { distance($0) < distance($1) } ?? 0
    }
}

/// Draws cells with 24-bit colours, which ncurses cannot show.
///
/// ncurses sees ``marker`` in such a cell, so ncurses neither clears the cell at a line's end nor takes the cell for
/// blank. Vitrine writes the real contents afterwards, in the same update. When the cell becomes ordinary text, ncurses
/// sees a change from the marker and writes the text. So at any time, either ncurses or Vitrine draws a cell, never
/// both.
///
/// ncurses may rewrite a marker without need, and Vitrine must detect this. Between two changes in a row, ncurses may
/// print cells instead of moving past them, and scrolling moves other cells along. ncurses also moves the cursor by
/// printing cells, but only single-byte characters. Therefore the marker is a character of several bytes.
enum TrueColourOverlay {
    /// The glyph that ncurses sees in place of such a cell. On very slow terminals, the user may see this glyph
    /// briefly.
    static let marker = Glyph("░")

    /// Returns the bytes to send after the bytes of ncurses.
    ///
    /// - Parameters:
    ///   - shown: the previous surface; nil if the screen was cleared.
    ///   - output: the bytes of ncurses.
    static func bytes(
        _ surface: Surface, shown: Surface?, after output: [UInt8], _ capabilities: Capabilities
    ) -> [UInt8] {
        guard capabilities.colours == .full else { return [] }
        let shown = mayHaveScrolled(output) ? nil : shown
        // If ncurses printed no marker, no cell was overwritten.
        let mayHaveRewritten = !capabilities.unicode || output.firstIndex(of: Array(marker.text.utf8)) != nil
        var encoder = SGREncoder(capabilities)
        for row in 0..<surface.size.rows {
            let cells = surface.row(row)
            let before = shown?.row(row)
            if before == cells { continue }
            // If the row's previous contents are unknown, all its cells count as rewritten.
            let old = before ?? cells
            let rewritten =
                before == nil
                ? 0..<surface.size.columns : mayHaveRewritten ? rangeOfChanges(from: old, to: cells) : 0..<0
            var isWriting = false
            for (column, (cell, old)) in zip(cells, old).enumerated() {
                guard cell.isTrueColour, rewritten.contains(column) || cell != old else {
                    isWriting = false
                    continue
                }
                if !isWriting {
                    encoder.reset()
                    encoder.write("\u{1B}[\(row + 1);\(column + 1)H")
                }
                isWriting = true
                encoder.write(cell)
            }
        }
        encoder.reset()
        guard !encoder.bytes.isEmpty else { return [] }
        // Save and restore the cursor (DECSC, DECRC), because ncurses assumes it unchanged.
        return Array("\u{1B}7".utf8) + encoder.bytes + Array("\u{1B}8".utf8)
    }

    /// Returns the range of columns that changed in the view of ncurses.
    private static func rangeOfChanges(from before: ArraySlice<Cell>, to after: ArraySlice<Cell>) -> Range<Int> {
        var range = 0..<0
        for (column, (old, new)) in zip(before, after).enumerated()
        where old != new && !(old.isTrueColour && new.isTrueColour) {
            range = (range.isEmpty ? column : range.lowerBound)..<column + 1
        }
        return range
    }

    /// Returns whether the output of ncurses scrolls the terminal. Scrolling needs a line feed, an index or reverse
    /// index, or `ESC [ … S`, `T`, `L` or `M`.
    private static func mayHaveScrolled(_ output: [UInt8]) -> Bool {
        var index = 0
        while index < output.count {
            if output[index] == 0x0A { return true }
            guard output[index] == 0x1B, index + 1 < output.count else {
                index += 1
                continue
            }
            var final = index + 1
            if output[final] == UInt8(ascii: "[") {
                repeat { final += 1 } while final < output.count && !(0x40...0x7E).contains(output[final])
                if final < output.count, "STLM".utf8.contains(output[final]) { return true }
            } else if "MDE".utf8.contains(output[final]) {
                return true
            }
            index = final + 1
        }
        return false
    }
}
