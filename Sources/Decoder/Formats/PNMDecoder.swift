import Pixels

/// Decodes the portable formats of Netpbm: PBM, PGM, PPM and PAM. Supports text and bytes, with 1 to 16 bits per value.
///
/// This decoder uses no library, and checks every access to the file.
enum PNMDecoder: PictureDecoder {
    static func recognises(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let file = FileBytes(bytes)
        guard file[0] == UInt8(ascii: "P"), let kind = file[1], let space = file[2] else { return false }
        return switch kind {
        case UInt8(ascii: "1")...UInt8(ascii: "6"): PNMHeader.isSpace(space)
        case UInt8(ascii: "7"): space == 0x0A
        default: false
        }
    }

    static func decode(
        _ bytes: UnsafeRawBufferPointer, _ request: DecodeRequest
    ) throws(DecodeFailure) -> DecodeReply {
        let header = try PNMHeader(bytes)
        try PictureBounds.check(header.size, isHeldWhole: false)
        let plan = DecodePlan(stored: header.size, orientation: .upright, request: request)
        let facts = PictureFacts(format: header.name)
        guard request.wantsPixels else { return plan.reply(facts) }

        var output = OutputRows(
            plan, source: header.size, region: plan.region, channels: header.hasAlpha ? .rgba : .rgb, conversion: nil)
        var reader = PNMRows(bytes, header)
        if !header.isText { reader.skip(rows: output.sourceRows.lowerBound) }
        for index in (header.isText ? 0 : output.sourceRows.lowerBound)..<output.sourceRows.upperBound {
            guard let row = reader.next() else { return try output.reply(facts, isComplete: false) }
            if index >= output.sourceRows.lowerBound { row.withUnsafeBufferPointer { output.add($0) } }
        }
        return try output.reply(facts, isComplete: true)
    }
}

/// The header of a portable picture.
struct PNMHeader {
    /// The format's name: PBM, PGM, PPM or PAM.
    let name: String
    /// The picture's size.
    private(set) var size = PixelSize(width: 0, height: 0)
    /// Whether the pixels' values are decimal text.
    let isText: Bool
    /// Whether each pixel is one bit; 1 means black.
    let isBits: Bool
    /// The number of values per pixel.
    private(set) var channels: Int
    /// The largest value that a pixel may have, at most 65,535.
    private(set) var most = 1
    /// The offset of the pixels in the file.
    private(set) var start: Int

    /// Whether the last value of a pixel is its opacity.
    var hasAlpha: Bool { channels == 2 || channels == 4 }
    /// The number of bytes of a row that is not text.
    var rowLength: Int { isBits ? (size.width + 7) / 8 : size.width * channels * (most > 255 ? 2 : 1) }

    /// The longest header with its comments, in bytes.
    private static let longest = 64 << 10
    private static let incomplete = DecodeFailure.damaged("its header is incomplete")

    init(_ bytes: UnsafeRawBufferPointer) throws(DecodeFailure) {
        let kind = bytes.count > 1 ? Int(bytes[1]) - 48 : 0
        name = ["", "PBM", "PGM", "PPM", "PBM", "PGM", "PPM", "PAM"][max(0, min(kind, 7))]
        isText = kind <= 3
        isBits = kind == 1 || kind == 4
        channels = kind == 3 || kind == 6 ? 3 : 1
        start = 2
        let file = FileBytes(bytes)
        if kind == 7 {
            try readNames(file)
        } else {
            size.width = try number(file)
            size.height = try number(file)
            if !isBits { most = try number(file) }
        }
        guard 1...65_535 ~= most else { throw .damaged("its largest value is \(most), and the format allows 65,535") }
        guard 1...4 ~= channels else { throw .damaged("its pixels have \(channels) values, and the format allows 4") }
        // One character separates the header from the pixels.
        start += 1
    }

    /// Whether a byte is white space.
    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0D ~= byte }

    /// Reads the next word. Comments reach from "#" to the end of the line.
    private mutating func word(_ file: FileBytes) throws(DecodeFailure) -> String {
        var word: [UInt8] = []
        var isComment = false
        while let byte = file[start], start < Self.longest {
            if isComment {
                isComment = byte != 0x0A && byte != 0x0D
            } else if Self.isSpace(byte) {
                if !word.isEmpty { return String(decoding: word, as: UTF8.self) }
            } else if byte == UInt8(ascii: "#") {
                isComment = true
            } else {
                word.append(byte)
            }
            start += 1
        }
        throw Self.incomplete
    }

    private mutating func number(_ file: FileBytes) throws(DecodeFailure) -> Int {
        // Numbers of more than nine digits exceed all limits.
        let word = try word(file)
        guard word.utf8.count <= 9, word.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = Int(word) else {
            throw .damaged("its header lacks a number")
        }
        return number
    }

    /// Reads a PAM's header: a name and a value in each line.
    private mutating func readNames(_ file: FileBytes) throws(DecodeFailure) {
        channels = 0
        while true {
            switch try word(file) {
            case "WIDTH": size.width = try number(file)
            case "HEIGHT": size.height = try number(file)
            case "DEPTH": channels = try number(file)
            case "MAXVAL": most = try number(file)
            case "TUPLTYPE": _ = try word(file)
            case "ENDHDR": return
            default: throw .damaged("its header has an unknown line")
            }
        }
    }
}

/// The rows of a portable picture, in RGB or RGBA.
struct PNMRows {
    private let file: FileBytes
    private let header: PNMHeader
    private var place: Int
    /// A row as stored.
    private var stored: [UInt8]
    /// A row's values.
    private var values: [Int]
    /// A row's pixels.
    private var row: [UInt8]
    /// The eight-bit value for each value from 0 to the largest.
    private let eightBits: [UInt8]

    init(_ bytes: UnsafeRawBufferPointer, _ header: PNMHeader) {
        file = FileBytes(bytes)
        self.header = header
        place = header.start
        stored = Array(repeating: 0, count: header.isText ? 0 : header.rowLength)
        values = Array(repeating: 0, count: header.size.width * header.channels)
        row = Array(repeating: 0, count: header.size.width * (header.hasAlpha ? 4 : 3))
        let most = header.most
        eightBits = (0...most).map { UInt8(($0 * 255 + most / 2) / most) }
    }

    /// Whether stored rows are already RGB or RGBA of eight bits.
    private var isReady: Bool { !header.isText && header.most == 255 && header.channels >= 3 }

    /// Skips rows of a file whose numbers are not text.
    mutating func skip(rows: Int) {
        place += rows * header.rowLength
    }

    /// Returns the next row; nil if the file ends before the row's end.
    mutating func next() -> [UInt8]? {
        if isReady { return readStored() ? stored : nil }
        guard header.isText ? readText() : readBytes() else { return nil }
        let (channels, most) = (header.channels, header.most)
        let isGrey = channels < 3
        let step = header.hasAlpha ? 4 : 3
        for pixel in 0..<header.size.width {
            for channel in 0..<step {
                let isOpacity = channel == 3
                let source = isOpacity ? channels - 1 : isGrey ? 0 : channel
                row[step * pixel + channel] = eightBits[min(values[channels * pixel + source], most)]
            }
        }
        return row
    }

    private mutating func readStored() -> Bool {
        guard let part = file.part(at: place, count: header.rowLength) else { return false }
        place += header.rowLength
        stored.withUnsafeMutableBytes { $0.copyBytes(from: part) }
        return true
    }

    private mutating func readBytes() -> Bool {
        guard readStored() else { return false }
        for index in values.indices {
            if header.isBits {
                values[index] = stored[index / 8] >> UInt8(7 - index % 8) & 1 == 0 ? 1 : 0
            } else if header.most > 255 {
                values[index] = Int(stored[2 * index]) << 8 | Int(stored[2 * index + 1])
            } else {
                values[index] = Int(stored[index])
            }
        }
        return true
    }

    private mutating func readText() -> Bool {
        for index in values.indices {
            guard let number = header.isBits ? bit() : number() else { return false }
            values[index] = number
        }
        return true
    }

    /// Reads a digit. White space between digits is optional.
    private mutating func bit() -> Int? {
        guard let digit = nextVisible(), 0x30...0x31 ~= digit else { return nil }
        return digit == 0x30 ? 1 : 0
    }

    private mutating func number() -> Int? {
        guard let first = nextVisible(), 0x30...0x39 ~= first else { return nil }
        var number = Int(first) - 48
        while let digit = file[place], 0x30...0x39 ~= digit, number < 100_000 {
            number = 10 * number + Int(digit) - 48
            place += 1
        }
        return number
    }

    private mutating func nextVisible() -> UInt8? {
        while let byte = file[place] {
            place += 1
            if byte == UInt8(ascii: "#") {
                while let byte = file[place], byte != 0x0A { place += 1 }
            } else if !PNMHeader.isSpace(byte) {
                return byte
            }
        }
        return nil
    }
}
