/// Bits that stand for some text. Not a secret, and nothing that withstands somebody who looks for two texts with the same
/// ones: wherever it is used, two that agree cost some work and no more.
enum Digest {
    /// Both halves of a product of 128 bits, over and over, so that each bit of what goes in reaches most of what comes out.
    /// The two numbers are the digits of π behind the point, the second one made odd.
    static func of(_ text: some Sequence<UInt8>, seed: UInt64 = 0) -> UInt64 {
        var state = mixed(seed, 0)
        var word: UInt64 = 0
        var count: UInt64 = 0
        for byte in text {
            word = word << 8 | UInt64(byte)
            count += 1
            if count % 8 == 0 {
                state = mixed(state, word)
                word = 0
            }
        }
        return mixed(mixed(state, word), count)
    }

    /// Sixteen digits.
    static func text(_ digest: UInt64) -> String {
        let digits = String(digest, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func mixed(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let product = (state ^ word ^ 0x243F_6A88_85A3_08D3).multipliedFullWidth(by: 0x1319_8A2E_0370_7345)
        return product.high ^ product.low ^ (state << 29 | state >> 35)
    }
}
