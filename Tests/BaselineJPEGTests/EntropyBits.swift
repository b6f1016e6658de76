/// Writes the entropy-coded bits of a scan (T.81, F.1.2).
struct EntropyBits {
    private(set) var bytes: [UInt8] = []
    private var pending: UInt32 = 0
    private var count = 0
    private var restarts: UInt8 = 0

    /// Adds a block, in zigzag order.
    mutating func add(
        _ coefficients: [Int], _ prediction: inout Int, _ first: StandardCode, _ other: StandardCode
    ) {
        let difference = coefficients[0] - prediction
        prediction = coefficients[0]
        add(first, run: 0, difference)
        var run = 0
        for coefficient in coefficients.dropFirst() {
            if coefficient == 0 {
                run += 1
                continue
            }
            while run > 15 {
                add(other, run: 15, 0)
                run -= 16
            }
            add(other, run: run, coefficient)
            run = 0
        }
        if run > 0 { add(other, run: 0, 0) }
    }

    /// Fills the last byte with ones.
    mutating func fill() {
        while count > 0 { add(1, length: 1) }
    }

    mutating func restart() {
        fill()
        bytes += [0xFF, 0xD0 + restarts]
        restarts = (restarts + 1) & 7
    }

    private mutating func add(_ code: StandardCode, run: Int, _ value: Int) {
        let size = Int.bitWidth - abs(value).leadingZeroBitCount
        guard let (bits, length) = code.codes[UInt8(run << 4 | size)] else { fatalError("a value too large") }
        add(bits, length: length)
        add(UInt32(truncatingIfNeeded: value < 0 ? value - 1 : value), length: size)
    }

    private mutating func add(_ bits: UInt32, length: Int) {
        for place in (0..<length).reversed() {
            pending = pending << 1 | bits >> UInt32(place) & 1
            count += 1
            guard count == 8 else { continue }
            bytes.append(UInt8(pending))
            if pending == 0xFF { bytes.append(0) }
            (pending, count) = (0, 0)
        }
    }
}
