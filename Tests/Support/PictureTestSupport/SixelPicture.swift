import Foundation
import Pixels

/// Decodes sixels strictly: raster attributes, then the palette, then bands. Each pixel must be painted once, and
/// none outside the picture.
public struct SixelPicture {
    /// The reason why a payload is invalid.
    public struct Fault: Error, CustomStringConvertible {
        /// A description.
        public let description: String
    }

    /// The decoded pixels.
    public let pixels: PixelBuffer
    /// The number of colours.
    public let colours: Int

    /// Decodes a payload, without introducer and terminator.
    public init(_ payload: [UInt8]) throws {
        var reader = Reader(rest: payload[...])
        try reader.expect("\"")
        let raster = try reader.numbers()
        guard raster.count == 4, raster[0] == 1, raster[1] == 1 else { throw Fault(description: "raster \(raster)") }
        let (width, height) = (raster[2], raster[3])
        guard width > 0, height > 0 else { throw Fault(description: "no pixels") }
        var palette: [Int: [UInt8]] = [:]
        var bytes = [UInt8](repeating: 0, count: width * height * 3)
        var isPainted = [Bool](repeating: false, count: width * height)
        var (x, top, colour) = (0, 0, -1)
        while let byte = reader.next() {
            switch byte {
            case UInt8(ascii: "#"):
                let numbers = try reader.numbers()
                guard (0...255).contains(numbers[0]) else { throw Fault(description: "colour \(numbers[0])") }
                if numbers.count == 1 {
                    guard palette[numbers[0]] != nil else { throw Fault(description: "no colour \(numbers[0])") }
                    colour = numbers[0]
                } else {
                    guard numbers.count == 5, numbers[1] == 2, numbers[2...].allSatisfy({ (0...100).contains($0) }),
                        palette.updateValue(numbers[2...].map { UInt8(($0 * 255 + 50) / 100) }, forKey: numbers[0])
                            == nil
                    else { throw Fault(description: "definition \(numbers)") }
                }
            case UInt8(ascii: "$"): x = 0
            case UInt8(ascii: "-"): (x, top) = (0, top + 6)
            case UInt8(ascii: "!"), 0x3F...0x7E:
                var (times, column) = (1, byte)
                if byte == UInt8(ascii: "!") {
                    let numbers = try reader.numbers()
                    guard numbers.count == 1, numbers[0] > 0, let next = reader.next(), (0x3F...0x7E).contains(next)
                    else { throw Fault(description: "repetition") }
                    (times, column) = (numbers[0], next)
                }
                guard x + times <= width else { throw Fault(description: "beyond the right edge") }
                for row in 0..<6 where (column - 0x3F) >> UInt8(row) & 1 == 1 {
                    guard top + row < height else { throw Fault(description: "below the lower edge") }
                    guard let shown = palette[colour] else { throw Fault(description: "no colour") }
                    for index in (top + row) * width + x..<(top + row) * width + x + times {
                        guard !isPainted[index] else { throw Fault(description: "painted twice") }
                        isPainted[index] = true
                        for channel in 0..<3 { bytes[3 * index + channel] = shown[channel] }
                    }
                }
                x += times
            default: throw Fault(description: "byte \(byte)")
            }
        }
        guard isPainted.allSatisfy({ $0 }) else { throw Fault(description: "holes") }
        guard let pixels = PixelBuffer(size: PixelSize(width: width, height: height), bytes: bytes) else {
            throw Fault(description: "size")
        }
        self.pixels = pixels
        colours = palette.count
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func next() -> UInt8? { rest.popFirst() }

        mutating func expect(_ character: Character) throws {
            guard next() == character.asciiValue else { throw Fault(description: "no \(character)") }
        }

        /// Reads numbers separated by semicolons, without empty ones or leading zeros.
        mutating func numbers() throws -> [Int] {
            let digits = rest.prefix { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ";") }
            rest = rest.dropFirst(digits.count)
            return try digits.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map { part in
                let text = String(decoding: part, as: UTF8.self)
                guard let number = Int(text), String(number) == text else { throw Fault(description: "number \(text)") }
                return number
            }
        }
    }
}
