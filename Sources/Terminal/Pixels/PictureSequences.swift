import Cells

/// Kitty's graphics protocol, which sends a picture once, and then shows or removes it by its id.
public enum KittySequence {
    /// Returns the sequences that send a picture without showing it. If the picture is for tmux, each sequence is
    /// already wrapped.
    public static func transmit(_ picture: PixelPicture, id: UInt32) -> [[UInt8]] {
        pieces(picture, "a=t,f=100,i=\(id),q=2")
    }

    /// Returns the sequences that send a picture and show it at the cursor. The cursor does not move.
    ///
    /// - Parameter id: the picture's id, if it will be placed again or removed; otherwise the terminal assigns one.
    public static func show(_ picture: PixelPicture, id: UInt32? = nil) -> [[UInt8]] {
        let number = id.map { ",i=\($0)" } ?? ""
        return pieces(
            picture,
            "a=T,f=100\(number),c=\(picture.size.columns),r=\(picture.size.rows)"
                + ",C=1,q=2")
    }

    /// Returns the sequence that shows a stored picture at the cursor. The cursor does not move.
    ///
    /// - Parameters:
    ///   - placement: the placement's id. Using an id again moves the picture.
    ///   - size: the number of cells that the picture covers.
    public static func place(id: UInt32, placement: UInt32, size: Size) -> [UInt8] {
        KittyChunks.sequence("a=p,i=\(id),p=\(placement),c=\(size.columns),r=\(size.rows),C=1,q=2")
    }

    /// Returns the sequence that removes a picture from the screen. The terminal keeps the picture.
    public static func remove(id: UInt32, placement: UInt32) -> [UInt8] {
        KittyChunks.sequence("a=d,d=i,i=\(id),p=\(placement),q=2")
    }

    /// Returns the sequence that deletes a stored picture and removes it from the screen.
    public static func delete(id: UInt32) -> [UInt8] {
        KittyChunks.sequence("a=d,d=I,i=\(id),q=2")
    }

    /// Returns the sequences that send a picture. Only the first sequence depends on the id, so the other sequences are
    /// made in advance.
    private static func pieces(_ picture: PixelPicture, _ control: String) -> [[UInt8]] {
        let first = KittyChunks.sequence("\(control),m=\(picture.following.isEmpty ? 0 : 1)", picture.payload)
        return [picture.isThroughTmux ? TmuxPassage.wrapped(first) : first] + picture.following
    }
}

/// Shows kitty pictures as text, so that tmux can handle them.
///
/// tmux cannot move, clip or remove pictures. So Vitrine sends a picture with an invisible placement, and shows the
/// picture as text. This text consists of "the Unicode character U+10EEEE … with diacritics" that encode row and column
/// (kitty's graphics protocol). The text's colour encodes the picture's id. tmux handles this text like any other.
enum KittyPlaceholders {
    /// Returns the sequence that prepares a picture for placeholder cells.
    ///
    /// - Parameter placement: the placement's id; ``KittySequence/remove(id:placement:)`` ends it.
    static func begin(id: UInt32, placement: UInt32, size: Size) -> [UInt8] {
        Array("\u{1B}_Ga=p,U=1,i=\(id),p=\(placement),c=\(size.columns),r=\(size.rows),q=2\u{1B}\\".utf8)
    }

    /// Returns the placeholder text for an area of the screen.
    static func cells(id: UInt32, _ rect: Rect) -> [UInt8] {
        var text = colour(of: id)
        for row in 0..<min(rect.size.rows, diacritics.count) {
            text += "\u{1B}[\(rect.origin.row + row + 1);\(rect.origin.column + 1)H"
            add(row, columns: rect.size.columns, of: id, to: &text)
        }
        return Array((text + "\u{1B}[0m").utf8)
    }

    /// Returns the placeholder text of a picture, with a line for each row.
    static func lines(id: UInt32, _ size: Size) -> [UInt8] {
        var text = ""
        for row in 0..<min(size.rows, diacritics.count) {
            text += colour(of: id)
            add(row, columns: size.columns, of: id, to: &text)
            text += "\u{1B}[0m\n"
        }
        return Array(text.utf8)
    }

    /// Returns the sequence for the palette colour that encodes the id's lowest byte.
    private static func colour(of id: UInt32) -> String { "\u{1B}[0;38;5;\(id & 0xFF)m" }

    /// Adds the placeholders of a row. In each, a diacritic encodes the id's highest byte.
    private static func add(_ row: Int, columns: Int, of id: UInt32, to text: inout String) {
        let number = diacritics[Int(id >> 24)]
        for column in 0..<min(columns, diacritics.count) {
            text.unicodeScalars.append(placeholder)
            text.unicodeScalars.append(diacritics[row])
            text.unicodeScalars.append(diacritics[column])
            text.unicodeScalars.append(number)
        }
    }

    private static let placeholder: Unicode.Scalar = "\u{10EEEE}"

    /// The diacritics that stand for 0, 1, 2 and so on: combining marks above the character that normalization does not
    /// change.
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

/// iTerm2's graphics protocol, which draws a picture file at the cursor over a given number of cells.
public enum ITermSequence {
    /// Returns the pieces of the sequence that shows a picture at the cursor. After the picture, the cursor's position
    /// differs between terminals.
    public static func show(_ picture: PixelPicture) -> [[UInt8]] {
        // Four base64 characters encode three bytes, less the padding.
        let padding = picture.payload.suffix(2).count { $0 == UInt8(ascii: "=") }
        let size = picture.payload.count / 4 * 3 - padding
        let control =
            "inline=1;size=\(size);width=\(picture.size.columns);height=\(picture.size.rows);preserveAspectRatio=0"
        return [Array("\u{1B}]1337;File=\(control):".utf8), picture.payload, [0x07]]
    }
}

/// Sixel graphics, which draw pixel by pixel at the cursor.
public enum SixelSequence {
    /// Returns the pieces of the sequences that show a picture, tile by tile. After each tile, the cursor's position
    /// differs between terminals.
    ///
    /// Pixels are square, undrawn pixels stay unchanged, and the grid size is ignored (`P1;P2;P3 q`).
    ///
    /// - Parameter move: returns the bytes that move the cursor to a tile's upper left cell.
    public static func show(_ picture: PixelPicture, moving move: (Point) -> [UInt8]) -> [[UInt8]] {
        picture.tiles.flatMap { tile in
            [move(tile.origin), Array("\u{1B}P0;1;0q".utf8), tile.payload, Array("\u{1B}\\".utf8)]
        }
    }
}

/// Draws pictures on standard output between lines of text.
public struct InlinePictures: Sendable {
    /// The number of different ids: a highest byte below those of ``KittyStore``, and a lowest byte.
    private static let idCount = 63 * 255

    /// The random number of the first id. Pictures of earlier runs may still be visible, and need other ids.
    private let first = Int.random(in: 0..<InlinePictures.idCount)

    /// Creates a sequence of pictures.
    public init() {}

    /// Returns the bytes that draw a picture at the cursor, which must be at the start of a line. Afterwards the cursor
    /// is at the start of the line below the picture.
    ///
    /// Terminals differ in the cursor's position after a picture, and scroll when a picture reaches the last line. So
    /// line feeds make space first, and the cursor moves back up. After the picture, the cursor returns to the saved
    /// position. tmux passes a sequence on without moving its terminal's cursor, so pictures in tmux are text.
    ///
    /// - Parameter index: the picture's index among all pictures of this object.
    public func bytes(_ picture: PixelPicture, at index: Int) -> [UInt8] {
        if picture.isThroughTmux { return text(picture, id: id(at: index)) }
        let pieces =
            switch picture.language {
            case .kitty: KittySequence.show(picture)
            case .iterm: ITermSequence.show(picture)
            case .sixel: SixelSequence.show(picture, moving: Self.move)
            }
        let rows = picture.size.rows
        var bytes = [UInt8](repeating: UInt8(ascii: "\n"), count: rows)
        bytes += "\u{1B}[\(rows)A\u{1B}7".utf8
        for piece in pieces { bytes += piece }
        bytes += "\u{1B}8\u{1B}[\(rows)B\r".utf8
        return bytes
    }

    /// Returns the bytes that move the cursor to a tile, from the saved position on.
    private static func move(to tile: Point) -> [UInt8] {
        guard tile.column > 0 || tile.row > 0 else { return [] }
        let down = tile.row > 0 ? "\u{1B}[\(tile.row)B" : ""
        let right = tile.column > 0 ? "\u{1B}[\(tile.column)C" : ""
        return Array("\u{1B}8\(down)\(right)".utf8)
    }

    /// Returns the bytes that send a picture through tmux, and its placeholder text.
    private func text(_ picture: PixelPicture, id: UInt32) -> [UInt8] {
        let placement = KittyPlaceholders.begin(id: id, placement: 1, size: picture.size)
        return KittySequence.transmit(picture, id: id).flatMap { $0 } + TmuxPassage.wrapped(placement)
            + KittyPlaceholders.lines(id: id, picture.size)
    }

    private func id(at index: Int) -> UInt32 {
        let number = UInt32((first + index) % InlinePictures.idCount)
        return (number / 255 + 1) << 24 | (number % 255 + 1)
    }
}
