import Model

/// Sixty-four bits that stand for what a gallery wrote of a photo: two entries with the same ones mean the same.
///
/// Not a secret, and nothing that withstands somebody who looks for two entries with the same digest: all that a gallery
/// could bring about by it is that its own change is not noticed.
struct EntryDigest {
    /// Goes up when the same writing comes to mean something else, so that it is taken apart again: another rule for
    /// dates, another cut of names.
    private static let version: UInt64 = 1

    private let seed: UInt64

    /// - Parameter base: what references are relative to. The same entry means something else in another place.
    init(base: Address) {
        var text = base.text
        seed = text.withUTF8 { Self.digest(UnsafeRawBufferPointer($0), seed: Self.version) }
    }

    func digest(_ bytes: UnsafeRawBufferPointer) -> Int64 {
        Int64(bitPattern: Self.digest(bytes, seed: seed))
    }

    private static func digest(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        var state = mixed(seed, UInt64(bytes.count))
        var place = 0
        while place + 8 <= bytes.count {
            state = mixed(state, UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
            place += 8
        }
        var last: UInt64 = 0
        while place < bytes.count {
            last = last << 8 | UInt64(bytes[place])
            place += 1
        }
        return mixed(mixed(state, last), seed)
    }

    /// Both halves of a product of 128 bits: each bit of what goes in reaches most of what comes out. The two numbers are
    /// the digits of π behind the point, the second one made odd.
    private static func mixed(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let product = (state ^ word ^ 0x243F_6A88_85A3_08D3).multipliedFullWidth(by: 0x1319_8A2E_0370_7345)
        return product.high ^ product.low ^ state.rotatedLeft
    }
}

extension UInt64 {
    fileprivate var rotatedLeft: UInt64 { self << 29 | self >> 35 }
}
