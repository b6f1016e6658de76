/// Collects bits, highest first, and inserts a zero byte after each byte of all ones as JPEG requires.
struct JPEGBits: Sendable {
    private var bytes: [UInt8] = []
    private var pending: UInt64 = 0
    private var pendingCount = 0

    /// Appends the `count` lowest bits of a value.
    mutating func append(_ value: UInt32, count: Int) {
        pending = pending << UInt64(count) | UInt64(value)
        pendingCount += count
        while pendingCount >= 8 {
            pendingCount -= 8
            let byte = UInt8(truncatingIfNeeded: pending >> UInt64(pendingCount))
            bytes.append(byte)
            if byte == 0xFF { bytes.append(0) }
        }
    }

    /// Returns all bytes, the last one filled with ones.
    consuming func finished() -> [UInt8] {
        if pendingCount > 0 {
            let fill = 8 - pendingCount
            append((1 << UInt32(fill)) - 1, count: fill)
        }
        return bytes
    }
}
