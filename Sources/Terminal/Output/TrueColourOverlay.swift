import Cells
import Text

/// Draws cells with 24-bit colours, which ncurses cannot show.
///
/// ncurses sees ``marker`` in such a cell, so ncurses neither clears the cell at a line's end nor takes the cell for blank.
/// Vitrine writes the real contents afterwards, in the same update. When the cell becomes ordinary text, ncurses sees a change
/// from the marker and writes the text. So each cell always has one owner.
///
/// ncurses may rewrite a marker without need, which must be detected: between two changes in a row it may print cells instead
/// of moving past them, and scrolling moves other cells along. ncurses also moves the cursor by printing cells, but only
/// single-byte characters. Therefore the marker has several bytes.
enum TrueColourOverlay {
    /// The glyph that ncurses sees in place of such a cell. On very slow terminals, the user may see this glyph briefly.
    static let marker = Glyph("░")

    /// Returns the bytes to send after the bytes of ncurses.
    ///
    /// - Parameters:
    /// - shown: the previous surface; nil if the screen was cleared.
    /// - output: the bytes of ncurses.
    static func bytes(
        _ surface: Surface, shown: Surface?, after output: [UInt8], _ capabilities: Capabilities
    ) -> [UInt8] {
        guard capabilities.colours == .full else { return [] }
        let shown = mayHaveScrolled(output) ? nil : shown
        // If ncurses printed no marker, no cell was overwritten.
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
        // Save and restore the cursor (DECSC, DECRC), because ncurses assumes it unchanged.
        return Array("\u{1B}7".utf8) + encoder.bytes + Array("\u{1B}8".utf8)
    }

    /// Returns the range of columns that have changed from the view of ncurses.
    private static func rangeOfChanges(from before: ArraySlice<Cell>, to after: ArraySlice<Cell>) -> Range<Int> {
        let changes = zip(before, after).enumerated().filter { _, pair in
            pair.0 != pair.1 && !(pair.0.isTrueColour && pair.1.isTrueColour)
        }.map(\.offset)
        guard let first = changes.first, let last = changes.last else { return 0..<0 }
        return first..<last + 1
    }

    /// Returns whether the output of ncurses scrolls the terminal. Scrolling needs a line feed, an index or reverse index, or
    /// `ESC [ … S`, `T`, `L` or `M`.
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
