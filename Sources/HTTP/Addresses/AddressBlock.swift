/// All addresses that begin with the same bits.
struct AddressBlock: Equatable, Sendable {
    private let prefix: [UInt8]
    private let bits: Int

    /// - Parameter prefix: enough bytes for the bits.
    init(_ prefix: [UInt8], _ bits: Int) {
        self.prefix = prefix
        self.bits = bits
    }

    func contains(_ bytes: [UInt8]) -> Bool {
        guard bytes.count * 8 >= bits else { return false }
        let (whole, rest) = (bits / 8, bits % 8)
        guard bytes[..<whole] == prefix[..<whole] else { return false }
        return rest == 0 || (bytes[whole] ^ prefix[whole]) >> (8 - rest) == 0
    }
}
