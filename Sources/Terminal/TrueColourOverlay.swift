import Cells

/// The cells that ncurses cannot show, because their colours are not in any palette.
///
/// To ncurses such a cell holds ``marker``, so it neither clears it away with a line's end nor takes it for blank; what is
/// really there is written afterwards, in the same breath. When the cell becomes an ordinary one, ncurses sees its marker
/// replaced and writes what is new. So every cell is always owned by one of the two, and nothing is left behind.
enum TrueColourOverlay {
    /// Seen by nobody, unless the terminal is very slow.
    static let marker = "."

    /// What has to be written after ncurses, given what is on the screen; nil for a screen that was cleared.
    static func bytes(_ surface: Surface, shown: Surface?, _ capabilities: Capabilities) -> [UInt8] {
        var encoder = SGREncoder(capabilities)
        for row in 0..<surface.size.rows {
            let cells = surface.row(row)
            if let shown, shown.row(row) == cells { continue }
            var column = 0
            while column < surface.size.columns {
                guard needsWriting(surface[column, row], shown?[column, row]) else {
                    column += 1
                    continue
                }
                encoder.reset()
                encoder.write("\u{1B}[\(row + 1);\(column + 1)H")
                while column < surface.size.columns, needsWriting(surface[column, row], shown?[column, row]) {
                    encoder.write(surface[column, row])
                    column += 1
                }
            }
        }
        encoder.reset()
        guard !encoder.bytes.isEmpty else { return [] }
        // Save the cursor and put it back (DECSC, DECRC): ncurses believes it to be where it left it.
        return Array("\u{1B}7".utf8) + encoder.bytes + Array("\u{1B}8".utf8)
    }

    private static func needsWriting(_ cell: Cell, _ shown: Cell?) -> Bool {
        cell.isTrueColour && cell != shown
    }
}
