import Cells

/// Pictures as text, for kitty behind a tmux.
///
/// What tmux does not know it cannot move, cut at a pane's border, or remove. So a picture is sent with a placement that is seen
/// nowhere, and where it belongs stands text: "the Unicode character U+10EEEE … with diacritics" that say which row and column of
/// the picture a cell shows, in a colour that says which picture (kitty's graphics protocol). tmux carries it like any other.
enum KittyPlaceholders {
    /// Makes a picture ready to be shown over that many cells.
    ///
    /// - Parameter placement: the number of this showing; ``KittySequence/remove(id:placement:)`` ends it.
    static func begin(id: UInt32, placement: UInt32, size: Size) -> [UInt8] {
        Array("\u{1B}_Ga=p,U=1,i=\(id),p=\(placement),c=\(size.columns),r=\(size.rows),q=2\u{1B}\\".utf8)
    }

    /// The text that shows it: the highest byte of its number is a diacritic, the lowest a colour of the palette.
    static func cells(id: UInt32, _ rect: Rect) -> [UInt8] {
        var text = "\u{1B}[0;38;5;\(id & 0xFF)m"
        let number = diacritics[Int(id >> 24)]
        for row in 0..<min(rect.size.rows, diacritics.count) {
            text += "\u{1B}[\(rect.origin.row + row + 1);\(rect.origin.column + 1)H"
            for column in 0..<min(rect.size.columns, diacritics.count) {
                text.unicodeScalars.append(placeholder)
                text.unicodeScalars.append(diacritics[row])
                text.unicodeScalars.append(diacritics[column])
                text.unicodeScalars.append(number)
            }
        }
        return Array((text + "\u{1B}[0m").utf8)
    }

    private static let placeholder: Unicode.Scalar = "\u{10EEEE}"

    /// What stands for 0, 1, 2 and so on: marks above a letter that no normalisation changes, in their order.
    private static let diacritics: [Unicode.Scalar] = ranges.flatMap { $0 }.compactMap { Unicode.Scalar($0) }

    private static let ranges: [ClosedRange<UInt32>] = [
        0x305...0x305, 0x30D...0x30E, 0x310...0x310, 0x312...0x312, 0x33D...0x33F, 0x346...0x346, 0x34A...0x34C,
        0x350...0x352, 0x357...0x357, 0x35B...0x35B, 0x363...0x36F, 0x483...0x487, 0x592...0x595, 0x597...0x599,
        0x59C...0x5A1, 0x5A8...0x5A9, 0x5AB...0x5AC, 0x5AF...0x5AF, 0x5C4...0x5C4, 0x610...0x617, 0x657...0x65B,
        0x65D...0x65E, 0x6D6...0x6DC, 0x6DF...0x6E2, 0x6E4...0x6E4, 0x6E7...0x6E8, 0x6EB...0x6EC, 0x730...0x730,
        0x732...0x733, 0x735...0x736, 0x73A...0x73A, 0x73D...0x73D, 0x73F...0x741, 0x743...0x743, 0x745...0x745,
        0x747...0x747, 0x749...0x74A, 0x7EB...0x7F1, 0x7F3...0x7F3, 0x816...0x819, 0x81B...0x823, 0x825...0x827,
        0x829...0x82D, 0x951...0x951, 0x953...0x954, 0xF82...0xF83, 0xF86...0xF87, 0x135D...0x135F, 0x17DD...0x17DD,
        0x193A...0x193A, 0x1A17...0x1A17, 0x1A75...0x1A7C, 0x1B6B...0x1B6B, 0x1B6D...0x1B73, 0x1CD0...0x1CD2,
        0x1CDA...0x1CDB, 0x1CE0...0x1CE0, 0x1DC0...0x1DC1, 0x1DC3...0x1DC9, 0x1DCB...0x1DCC, 0x1DD1...0x1DE6,
        0x1DFE...0x1DFE, 0x20D0...0x20D1, 0x20D4...0x20D7, 0x20DB...0x20DC, 0x20E1...0x20E1, 0x20E7...0x20E7,
        0x20E9...0x20E9, 0x20F0...0x20F0, 0x2CEF...0x2CF1, 0x2DE0...0x2DFF, 0xA66F...0xA66F, 0xA67C...0xA67D,
        0xA6F0...0xA6F1, 0xA8E0...0xA8F1, 0xAAB0...0xAAB0, 0xAAB2...0xAAB3, 0xAAB7...0xAAB8, 0xAABE...0xAABF,
        0xAAC1...0xAAC1, 0xFE20...0xFE26, 0x10A0F...0x10A0F, 0x10A38...0x10A38, 0x1D185...0x1D189, 0x1D1AA...0x1D1AD,
        0x1D242...0x1D244,
    ]
}
