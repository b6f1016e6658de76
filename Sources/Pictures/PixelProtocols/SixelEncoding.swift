import Cells
import Pixels

/// DEC's: the colours of a palette, and then six rows of pixels at a time, colour by colour.
///
/// "Each Sixel is a column of six pixels", a character from `?` on; `!12~` is twelve of the same, `#3` takes up another colour, `$`
/// goes back to the left edge and `-` to the next six rows (VT330/VT340 Programmer Reference Manual, chapter 14).
enum SixelEncoding: PixelEncoding {
    static func payload(_ picture: PixelBuffer, _ capabilities: PixelCapabilities) -> [UInt8] {
        let indexed = IndexedPicture(picture, colours: capabilities.paletteSize, shown: shown)
        var text = SixelText()
        // How wide a pixel is and how high, and how many there are.
        text.write("\"1;1;\(picture.width);\(picture.height)")
        for (index, colour) in indexed.colours.enumerated() {
            text.write("#\(index);2;\(percent(colour.red));\(percent(colour.green));\(percent(colour.blue))")
        }
        var band = SixelBand(width: picture.width, colours: indexed.colours.count)
        indexed.indices.withUnsafeBufferPointer { indices in
            for top in stride(from: 0, to: picture.height, by: 6) {
                if top > 0 { text.endBand() }
                band.gather(indices, top: top, rows: min(6, picture.height - top))
                band.write(to: &text)
            }
        }
        return text.bytes
    }

    /// What a colour is on the screen: sixels count in percent.
    private static func shown(_ colour: PartColour) -> PartColour {
        func channel(_ value: Int32) -> Int32 { (percent(value) * 255 + 50) / 100 }
        return PartColour(red: channel(colour.red), green: channel(colour.green), blue: channel(colour.blue))
    }

    private static func percent(_ value: Int32) -> Int32 { (value * 100 + 127) / 255 }
}
