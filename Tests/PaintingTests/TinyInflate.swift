/// Unpacks the output of `Deflater`: a zlib stream with one deflate block in the fixed Huffman code.
struct TinyInflate {
    private let bytes: [UInt8]
    private var bit = 16

    /// Returns the unpacked bytes; nil if the stream is invalid.
    static func zlib(_ stream: [UInt8]) -> [UInt8]? {
        guard stream.count > 6, (Int(stream[0]) << 8 | Int(stream[1])).isMultiple(of: 31) else { return nil }
        var inflate = TinyInflate(bytes: stream)
        return inflate.block()
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private mutating func block() -> [UInt8]? {
        guard take(3) == 0b011 else { return nil }
        var output: [UInt8] = []
        while let symbol = symbol() {
            if symbol == 256 { return output }
            if symbol < 256 {
                output.append(UInt8(symbol))
                continue
            }
            guard let length = length(symbol), let distance = distance(), distance <= output.count else {
                return nil
            }
            for _ in 0..<length { output.append(output[output.count - distance]) }
        }
        return nil
    }

    private mutating func symbol() -> Int? {
        guard bit + 9 <= bytes.count * 8 else { return nil }
        var code = takeCode(7)
        if code < 0b0011000 { return 256 + code }
        code = code << 1 | take(1)
        if code < 0b1100_0000 { return code - 0x30 }
        if code < 0b1100_1000 { return 280 + code - 0xC0 }
        return (code << 1 | take(1)) - 0x190 + 144
    }

    private mutating func length(_ symbol: Int) -> Int? {
        if symbol == 285 { return 258 }
        if symbol < 265 { return symbol - 254 }
        guard symbol < 285 else { return nil }
        let extra = (symbol - 261) / 4
        return 3 + (4 + (symbol - 265) % 4) << extra + take(extra)
    }

    private mutating func distance() -> Int? {
        let code = takeCode(5)
        if code < 4 { return code + 1 }
        guard code < 30 else { return nil }
        let extra = code / 2 - 1
        return 1 + (2 + code % 2) << extra + take(extra)
    }

    /// Reads a plain number, lowest bit first.
    private mutating func take(_ count: Int) -> Int {
        var value = 0
        for index in 0..<count where bit + index < bytes.count * 8 {
            let place = bit + index
            value |= Int(bytes[place / 8] >> UInt8(place % 8) & 1) << index
        }
        bit += count
        return value
    }

    /// Reads a code, highest bit first.
    private mutating func takeCode(_ count: Int) -> Int {
        (0..<count).reduce(0) { code, _ in code << 1 | take(1) }
    }
}
