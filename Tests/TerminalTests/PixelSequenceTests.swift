import Cells
import Foundation
import Testing
import Text

@testable import Terminal

/// The sequences that send pictures to a terminal.
@Suite struct PixelSequenceTests {
    private func picture(_ language: PixelProtocol, _ count: Int, isThroughTmux: Bool = false) -> PixelPicture {
        PixelPicture(
            language, size: Size(columns: 7, rows: 3), width: 63, height: 57, payload: payload(count),
            isThroughTmux: isThroughTmux)
    }

    private func payload(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(ascii: "A") + UInt8($0 % 26) } }

    /// Returns the control data and payload of a kitty sequence.
    private func parts(_ sequence: [UInt8]) throws -> (control: [String: String], payload: [UInt8]) {
        try #require(sequence.starts(with: [0x1B, 0x5F, 0x47]) && sequence.suffix(2) == [0x1B, 0x5C])
        let body = sequence.dropFirst(3).dropLast(2)
        try #require(!body.contains(0x1B))
        let control = body.prefix { $0 != UInt8(ascii: ";") }
        var keys: [String: String] = [:]
        for pair in String(decoding: control, as: UTF8.self).split(separator: ",") {
            let sides = pair.split(separator: "=").map(String.init)
            try #require(sides.count == 2 && keys.updateValue(sides[1], forKey: sides[0]) == nil)
        }
        return (keys, Array(body.dropFirst(control.count + 1)))
    }

    @Test("Kitty pictures are sent in chunks", arguments: [4, 4_096, 4_100, 8_192, 20_000]) func kittyChunks(count: Int)
        throws
    {
        let picture = picture(.kitty, count)
        let chunks = try KittySequence.show(picture, id: 77).map(parts)
        #expect(chunks.count == (count + 4_095) / 4_096)
        #expect(chunks.flatMap(\.payload) == payload(count))
        for (index, chunk) in chunks.enumerated() {
            let isLast = index == chunks.count - 1
            #expect(chunk.payload.count <= 4_096 && (isLast || chunk.payload.count.isMultiple(of: 4)))
            // No sequence requests an answer, which would be taken for keys.
            #expect(chunk.control["q"] == "2" && chunk.control["m"] == (isLast ? "0" : "1"))
            if index > 0 { #expect(Set(chunk.control.keys) == ["m", "q"]) }
        }
        #expect(
            chunks[0].control.filter { !["m", "q"].contains($0.key) } == [
                "a": "T", "f": "100", "i": "77", "c": "7", "r": "3", "C": "1",
            ])
        #expect(try parts(KittySequence.show(picture)[0]).control["i"] == nil)
    }

    @Test("Kitty pictures are placed and removed by id") func kittyIds() throws {
        let sent = try parts(KittySequence.transmit(picture(.kitty, 8), id: 5)[0]).control
        #expect(sent == ["a": "t", "f": "100", "i": "5", "q": "2", "m": "0"])
        let placed = try parts(KittySequence.place(id: 5, placement: 9, size: Size(columns: 7, rows: 3)))
        #expect(
            placed.control == ["a": "p", "i": "5", "p": "9", "c": "7", "r": "3", "C": "1", "q": "2"]
                && placed.payload.isEmpty)
        let removed = try parts(KittySequence.remove(id: 5, placement: 9)).control
        #expect(removed == ["a": "d", "d": "i", "i": "5", "p": "9", "q": "2"])
        #expect(try parts(KittySequence.delete(id: 5)).control == ["a": "d", "d": "I", "i": "5", "q": "2"])
    }

    @Test("iTerm2 gets the size of the file") func itermSize() {
        var picture = picture(.iterm, 6)
        picture = PixelPicture(.iterm, size: picture.size, width: 63, height: 57, payload: Array("QUJDRA==".utf8))
        #expect(
            String(decoding: ITermSequence.show(picture).joined(), as: UTF8.self)
                == "\u{1B}]1337;File=inline=1;size=4;width=7;height=3;preserveAspectRatio=0:QUJDRA==\u{7}")
    }

    @Test("Sixel pictures are a device control string") func sixel() {
        let picture = PixelPicture(
            .sixel, size: Size(columns: 1, rows: 1), width: 1, height: 1, payload: Array("\"1;1;1;1#0;2;0;0;0#0@".utf8))
        #expect(
            String(decoding: SixelSequence.show(picture) { _ in [] }.joined(), as: UTF8.self)
                == "\u{1B}P0;1;0q\"1;1;1;1#0;2;0;0;0#0@\u{1B}\\")
    }

    @Test("Every escape is doubled for tmux") func tmux() {
        let wrapped = TmuxPassage.wrapped(Array("\u{1B}_Gq=2;AA\u{1B}\\".utf8))
        #expect(
            String(decoding: wrapped, as: UTF8.self)
                == "\u{1B}Ptmux;\u{1B}\u{1B}_Gq=2;AA\u{1B}\u{1B}\\\u{1B}\\")
    }

    @Test("A picture between lines has lines of its own") func inlinePicture() {
        let text = String(decoding: InlinePictures().bytes(picture(.kitty, 5_000), at: 0), as: UTF8.self)
        #expect(text.hasPrefix("\n\n\n\u{1B}[3A\u{1B}7\u{1B}_Ga=T,"))
        #expect(text.hasSuffix("\u{1B}\\\u{1B}8\u{1B}[3B\r") && !text.contains("\u{1B}Ptmux;"))
    }

    @Test("The tiles of a sixel picture between lines are placed from its first cell") func inlineTiles() {
        let tiles = [(0, 0), (4, 0), (0, 2), (4, 2)].map { column, row in
            PixelPicture.Tile(Array("\"\(column);\(row)".utf8), at: Point(column: column, row: row))
        }
        let picture = PixelPicture(.sixel, size: Size(columns: 7, rows: 3), width: 63, height: 57, tiles: tiles)
        let text = String(decoding: InlinePictures().bytes(picture, at: 0), as: UTF8.self)
        func tile(_ name: String) -> String { "\u{1B}P0;1;0q\"\(name)\u{1B}\\" }
        let expected = [
            "\n\n\n\u{1B}[3A\u{1B}7", tile("0;0"), "\u{1B}8\u{1B}[4C", tile("4;0"), "\u{1B}8\u{1B}[2B", tile("0;2"),
            "\u{1B}8\u{1B}[2B\u{1B}[4C", tile("4;2"), "\u{1B}8\u{1B}[3B\r",
        ]
        #expect(text == expected.joined())
        #expect(picture.byteCount == 16 && picture != self.picture(.sixel, 4))
    }

    @Test("In tmux, a picture between lines is text") func inlinePictureInTmux() throws {
        let pictures = InlinePictures()
        let wrapped = picture(.kitty, 5_000, isThroughTmux: true)
        let first = pictures.bytes(wrapped, at: 0)
        let text = String(decoding: first, as: UTF8.self)
        // Two chunks and the placement, each wrapped for tmux. None shows the picture at the cursor.
        let parts = text.components(separatedBy: "\u{1B}Ptmux;")
        try #require(parts.count == 4 && parts[0].isEmpty)
        #expect(parts[1].hasPrefix("\u{1B}\u{1B}_Ga=t,f=100,i=") && !text.contains("a=T"))
        #expect(parts[3].hasPrefix("\u{1B}\u{1B}_Ga=p,U=1,i=") && parts[3].contains(",c=7,r=3,"))
        let lines = text.components(separatedBy: "\n")
        #expect(lines.count == 4 && lines[3].isEmpty)
        for line in lines.dropLast() {
            #expect(line.unicodeScalars.count { $0 == "\u{10EEEE}" } == 7 && line.hasSuffix("\u{1B}[0m"))
        }
        // Each picture has an id of its own.
        #expect(pictures.bytes(wrapped, at: 1) != first)
    }

    /// The larger ids belong to ``KittyStore``.
    @Test("In tmux, the ids of pictures between lines have a highest byte below 64") func inlineIds() throws {
        let (pictures, wrapped) = (InlinePictures(), picture(.kitty, 4, isThroughTmux: true))
        let highest = try stride(from: 0, to: 128 * 255, by: 255).map { index in
            let text = String(decoding: pictures.bytes(wrapped, at: index), as: UTF8.self)
            let id = try #require(text.components(separatedBy: ",i=").dropFirst().first).prefix { $0.isNumber }
            return try #require(Int(id)) >> 24
        }
        #expect(Set(highest) == Set(1..<64))
    }

    /// All sequences are prepared except the first, which contains the id.
    @Test("A picture is prepared for sending") func prepared() throws {
        let (direct, wrapped) = (picture(.kitty, 9_000), picture(.kitty, 9_000, isThroughTmux: true))
        #expect(direct.payload.count == 4_096 && direct.following.count == 2 && direct != wrapped)
        #expect(try direct.following.flatMap { try parts($0).payload } == Array(payload(9_000).dropFirst(4_096)))
        #expect(wrapped.following == direct.following.map { TmuxPassage.wrapped($0) })
        #expect(
            KittySequence.transmit(wrapped, id: 3) == KittySequence.transmit(direct, id: 3).map(TmuxPassage.wrapped))
        #expect(direct.byteCount > 9_000 && direct == picture(.kitty, 9_000) && direct != picture(.kitty, 9_004))
        #expect(picture(.sixel, 9_000).payload == payload(9_000) && picture(.sixel, 9_000).following.isEmpty)
    }

    @Test("Block characters have ASCII replacements") func asciiBlocks() {
        for character in "▘▝▖▗▚▞▙▟▛▜▀▄▌▐█" {
            #expect(ASCIIFallback.text(for: String(character)) != "?")
        }
        for value in 0x1FB00...0x1FB3B as ClosedRange<UInt32> {
            let text = ASCIIFallback.text(for: String(Character(Unicode.Scalar(value)!)))
            #expect(text != "?" && text.utf8.count == 1)
        }
        #expect(ASCIIFallback.text(for: "\u{1FB00}") == "'" && ASCIIFallback.text(for: "\u{1FB0F}") == ".")
        #expect(ASCIIFallback.text(for: "\u{1FB02}") == "\"" && ASCIIFallback.text(for: "\u{1FB2D}") == "_")
    }

    @Test("The encoder writes only changes of style") func minimalSequences() {
        var encoder = SGREncoder(Capabilities(colours: .full))
        let style = Style(foreground: .rgb(0, 10, 255), background: .palette(200), attributes: .bold)
        encoder.write(Cell(.space, style: style))
        encoder.write(Cell(.space, style: style))
        encoder.write(Cell(.space, style: Style(foreground: .palette(3), background: .palette(12))))
        encoder.reset()
        #expect(
            String(decoding: encoder.bytes, as: UTF8.self)
                == "\u{1B}[1;38;2;0;10;255;48;5;200m  \u{1B}[0;33;104m \u{1B}[0m")
    }
}
