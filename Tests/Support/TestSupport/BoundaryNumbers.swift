/// Numbers around the bounds of integers: every power of two from 2^0 to 2^64, one or a few more or less.
public struct BoundaryNumbers: RandomNumberGenerator {
    private var numbers: SeededNumbers

    /// Starts with a seed.
    public init(seed: UInt64) { numbers = SeededNumbers(seed: seed) }

    /// Returns a random number of any size.
    public mutating func next() -> UInt64 { numbers.next() }

    /// Returns a number near a power of two, modulo 2^64.
    public mutating func number() -> UInt64 {
        let power = Int.random(in: 0...64, using: &numbers)
        return Self.number(near: power, Int.random(in: -3...3, using: &numbers))
    }

    private static func number(near power: Int, _ offset: Int) -> UInt64 {
        (power == 64 ? 0 : 1 << power) &+ UInt64(bitPattern: Int64(offset))
    }

    /// Returns such a number as text, which may be negative, have leading zeros, or exceed 64 bits.
    public mutating func text() -> String {
        let digits = "\(number())"
        switch Int.random(in: 0..<8, using: &numbers) {
        case 0: return "-" + digits
        case 1: return "+" + digits
        case 2: return String(repeating: "0", count: Int.random(in: 1...40, using: &numbers)) + digits
        case 3: return digits + String(repeating: "\(number() % 10)", count: Int.random(in: 1...40, using: &numbers))
        // The digits of a fixed-width field.
        case 4, 5: return String(("000" + digits).suffix(2))
        case 6: return String(("000" + digits).suffix(4))
        default: return digits
        }
    }

    /// Overwrites bytes with such a number, of a size usual in files and in either byte order.
    public mutating func overwrite(_ bytes: inout [UInt8], at place: Int) {
        let number = number()
        let length = [1, 2, 4, 4, 8].randomElement(using: &numbers) ?? 4
        Self.overwrite(&bytes, at: place, by: Self.bytes(of: number, length, isLittle: .random(using: &numbers)))
    }

    /// Overwrites bytes with others, as far as there are any.
    public static func overwrite(_ bytes: inout [UInt8], at place: Int, by others: [UInt8]) {
        for (offset, byte) in others.enumerated() where place + offset < bytes.count { bytes[place + offset] = byte }
    }

    /// Every such number in every size usual in files, and in both byte orders.
    public static let inFiles: Set<[UInt8]> = {
        var all: Set<[UInt8]> = []
        for power in 0...64 {
            for offset in -3...3 {
                let number = number(near: power, offset)
                for length in [1, 2, 4, 8] {
                    all.insert(bytes(of: number, length, isLittle: true))
                    all.insert(bytes(of: number, length, isLittle: false))
                }
            }
        }
        return all
    }()

    private static func bytes(of number: UInt64, _ length: Int, isLittle: Bool) -> [UInt8] {
        let little = (0..<length).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
        return isLittle ? little : little.reversed()
    }
}
