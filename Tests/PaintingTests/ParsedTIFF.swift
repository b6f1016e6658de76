/// Reads TIFF directories of either byte order.
struct ParsedTIFF {
    /// A value as numbers, two for a fraction, and as text if it is text.
    struct Value {
        var numbers: [Int]
        var text: String?
    }

    /// The offset of the first directory.
    private(set) var first = 0
    private let bytes: [UInt8]
    private let isLittleEndian: Bool

    init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        isLittleEndian = bytes.starts(with: [0x49, 0x49])
        guard isLittleEndian || bytes.starts(with: [0x4D, 0x4D]) else { return nil }
        guard number(at: 2, size: 2) == 42 else { return nil }
        first = number(at: 4, size: 4)
    }

    /// Returns the values of a directory by tag.
    func directory(at start: Int) -> [Int: Value] {
        var values: [Int: Value] = [:]
        var lastTag = -1
        for index in 0..<number(at: start, size: 2) {
            let entry = start + 2 + index * 12
            let tag = number(at: entry, size: 2)
            // A directory with unsorted tags is invalid. Its empty result fails the test.
            guard tag > lastTag else { return [:] }
            lastTag = tag
            values[tag] = value(at: entry)
        }
        return values
    }

    private func value(at entry: Int) -> Value {
        let type = number(at: entry + 2, size: 2)
        let count = number(at: entry + 4, size: 4)
        let unit = [1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1][type] ?? 1
        let place = unit * count <= 4 ? entry + 8 : number(at: entry + 8, size: 4)
        if type == 2 {
            return Value(
                numbers: [], text: String(decoding: bytes[place..<(place + count - 1)], as: UTF8.self))
        }
        let step = min(unit, 4)
        let numbers = stride(from: place, to: place + unit * count, by: step).map {
            number(at: $0, size: step)
        }
        return Value(numbers: numbers, text: nil)
    }

    private func number(at place: Int, size: Int) -> Int {
        let part = bytes[place..<(place + size)]
        return (isLittleEndian ? part.reversed() : Array(part)).reduce(0) { $0 << 8 | Int($1) }
    }
}
