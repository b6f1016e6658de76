import Cells
import Text

/// The cells that ncurses cannot show, because their colours are not in any palette.
///
/// To ncurses such a cell holds ``marker``, so it neither clears it away with a line's end nor takes it for blank; what is
/// really there is written afterwards, in the same breath. When the cell becomes an ordinary one, ncurses sees its marker
/// replaced and writes what is new. So every cell is always owned by one of the two, and nothing is left behind.
///
/// ncurses may write a marker anew without need, and this has to know when: between two changes of a row it prefers
/// printing what is there to moving past it, and what it lets the terminal scroll takes other cells along. It also moves
/// by printing again what a cell holds, but only characters that are one byte, so the marker is not one.
enum TrueColourOverlay {
    /// Seen by nobody, unless the terminal is very slow.
    static let marker = Glyph("░")

    /// What has to be written after ncurses.
    ///
    /// - Parameters:
    ///   - shown: what was on the screen; nil for a screen that was cleared.
    ///   - output: what ncurses wrote.
    static func bytes(
        _ surface: Surface, shown: Surface?, after output: [UInt8], _ capabilities: Capabilities
    ) -> [UInt8] {
        guard capabilities.colours == .full else { return [] }
        let shown = mayHaveScrolled(output) ? nil : shown
        // Where it has moved past all of them, none has to be written for its sake.
        let mayHaveRewritten = !capabilities.unicode || output.contains(marker.text.utf8)
        var encoder = SGREncoder(capabilities)
        for row in 0..<surface.size.rows {
            let cells = surface.row(row)
            let before = shown?.row(row)
            if before == cells { continue }
            let rewritten =
                before.map { mayHaveRewritten ? rangeOfChanges(from: $0, to: cells) : 0..<0 }
                ?? 0..<surface.size.columns
            var isWriting = false
            for column in 0..<surface.size.columns {
                let cell = surface[column, row]
                guard cell.isTrueColour, rewritten.contains(column) || cell != shown?[column, row] else {
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
        // Save the cursor and put it back (DECSC, DECRC): ncurses believes it to be where it left it.
        return Array("\u{1B}7".utf8) + encoder.bytes + Array("\u{1B}8".utf8)
    }

    /// From the first to the last column that looks different to ncurses.
    private static func rangeOfChanges(from before: ArraySlice<Cell>, to after: ArraySlice<Cell>) -> Range<Int> {
        let changes = zip(before, after).enumerated().filter { _, pair in
            pair.0 != pair.1 && !(pair.0.isTrueColour && pair.1.isTrueColour)
        }.map(\.offset)
        guard let first = changes.first, let last = changes.last else { return 0..<0 }
        return first..<last + 1
    }

    /// Whether there is anything in ncurses' output by which a terminal scrolls: a line feed, which it uses for nothing
    /// else, an index or reverse index, or `ESC [ … S`, `T`, `L` or `M`.
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
