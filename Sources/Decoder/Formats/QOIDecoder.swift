import Pixels

/// Decodes QOI, the "Quite OK Image Format".
///
/// This decoder uses no library, and checks every access to the file.
enum QOIDecoder: PictureDecoder {
    static let name = "QOI"

    static func recognises(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.starts(with: "qoif".utf8)
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(DecodeFailure) -> DecodeReply {
        let file = FileBytes(bytes)
        guard let width = file.number(at: 4, length: 4, isBigEndian: true),
            let height = file.number(at: 8, length: 4, isBigEndian: true), let channels = file[12], file.count >= 14
        else { throw .damaged("its header is incomplete") }
        let size = PixelSize(width: width, height: height)
        try PictureBounds.check(size, isHeldWhole: false)
        let plan = DecodePlan(stored: size, orientation: .upright, request: request)
        let facts = PictureFacts(format: name)
        guard request.wantsPixels else { return plan.reply(facts) }

        // "The channels and colorspace fields are purely informative" (QOI specification), so an opaque picture may
        // state four.
        var output = OutputRows(
            plan, source: size, region: plan.region, channels: channels == 3 ? .rgb : .rgba, conversion: nil)
        var reader = QOIRows(file, width: width, hasAlpha: channels != 3)
        for index in 0..<output.sourceRows.upperBound {
            guard let row = reader.next() else { return try output.reply(facts, isComplete: false) }
            if index >= output.sourceRows.lowerBound { row.withUnsafeBufferPointer { output.add($0) } }
        }
        return try output.reply(facts, isComplete: true)
    }
}

/// The rows of a QOI picture. The file stores most pixels by reference to earlier pixels.
private struct QOIRows {
    private struct Pixel {
        var (red, green, blue, opacity) = (UInt8(0), UInt8(0), UInt8(0), UInt8(255))

        /// The pixel's index among the 64 remembered pixels.
        var place: Int { (Int(red) * 3 + Int(green) * 5 + Int(blue) * 7 + Int(opacity) * 11) % 64 }

        /// Adds differences, modulo 256 as the format demands.
        mutating func add(_ red: Int, _ green: Int, _ blue: Int) {
            self.red = UInt8(truncatingIfNeeded: Int(self.red) + red)
            self.green = UInt8(truncatingIfNeeded: Int(self.green) + green)
            self.blue = UInt8(truncatingIfNeeded: Int(self.blue) + blue)
        }
    }

    private let file: FileBytes
    private let width: Int
    private let step: Int
    /// The offset of the next byte. The header has 14 bytes.
    private var place = 14
    private var row: [UInt8]
    private var pixel = Pixel()
    private var remembered: [Pixel]
    /// The remaining number of repetitions of the current pixel.
    private var run = 0

    init(_ file: FileBytes, width: Int, hasAlpha: Bool) {
        self.file = file
        self.width = width
        step = hasAlpha ? 4 : 3
        row = Array(repeating: 0, count: width * step)
        var nothing = Pixel()
        nothing.opacity = 0
        remembered = Array(repeating: nothing, count: 64)
    }

    /// Returns the next row; nil if the file ends before the row's end.
    mutating func next() -> [UInt8]? {
        for column in 0..<width {
            if run > 0 {
                run -= 1
            } else {
                guard readPixel() else { return nil }
                remembered[pixel.place] = pixel
            }
            row[step * column] = pixel.red
            row[step * column + 1] = pixel.green
            row[step * column + 2] = pixel.blue
            if step == 4 { row[step * column + 3] = pixel.opacity }
        }
        return row
    }

    private mutating func readPixel() -> Bool {
        guard let byte = byte() else { return false }
        let low = Int(byte & 63)
        switch byte {
        case 0xFE, 0xFF:
            guard let red = self.byte(), let green = self.byte(), let blue = self.byte() else { return false }
            (pixel.red, pixel.green, pixel.blue) = (red, green, blue)
            guard byte == 0xFF else { return true }
            guard let opacity = self.byte() else { return false }
            pixel.opacity = opacity
        case 0x00...0x3F: pixel = remembered[low]
        case 0x40...0x7F: pixel.add((low >> 4 & 3) - 2, (low >> 2 & 3) - 2, (low & 3) - 2)
        case 0x80...0xBF:
            guard let second = self.byte() else { return false }
            let green = low - 32
            pixel.add(green + Int(second >> 4) - 8, green, green + Int(second & 15) - 8)
        default: run = low
        }
        return true
    }

    private mutating func byte() -> UInt8? {
        let byte = file[place]
        if byte != nil { place += 1 }
        return byte
    }
}
