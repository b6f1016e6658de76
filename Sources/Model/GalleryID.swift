/// What names a gallery inside Vitrine: a number that follows from its address alone.
///
/// Two runs, and two programs, find the same cache for the same address. The number is no proof of identity: the
/// cache that it leads to says which address it belongs to.
public struct GalleryID: Hashable, Sendable, CustomStringConvertible {
    /// The number itself.
    public let rawValue: UInt64

    /// The gallery at an address. Credentials play no part.
    public init(_ address: Address) {
        // FNV-1a: the hasher of the standard library is seeded anew in each process.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in address.text.utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        }
        rawValue = hash
    }

    /// Sixteen hexadecimal digits, fit for a folder's name.
    public var description: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
