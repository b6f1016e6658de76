/// A growing sequence of bytes with a byte order.
struct ByteSink: Sendable {
    /// The byte order of numbers.
    enum Order: Sendable {
        case bigEndian
        case littleEndian
    }

    private(set) var bytes: [UInt8] = []
    private let order: Order

    init(_ order: Order) {
        self.order = order
    }

    mutating func append(_ more: [UInt8]) {
        bytes += more
    }

    mutating func append16(_ value: UInt16) {
        bytes += ordered([UInt8(value >> 8), UInt8(value & 0xFF)])
    }

    mutating func append32(_ value: UInt32) {
        bytes += ordered((0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) })
    }

    private func ordered(_ bigEndian: [UInt8]) -> [UInt8] {
        order == .bigEndian ? bigEndian : bigEndian.reversed()
    }
}
