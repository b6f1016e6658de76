import Glibc

/// Computes MD5 (RFC 1321) and SHA-256 (FIPS 180-4) digests of bytes and files.
///
///     ByteDigest.md5.digits(of: Array(uri.utf8))
///     try ByteDigest.sha256.digits(ofFile: descriptor, length: size)
///
/// The desktop's thumbnails and the entity tags of storage services use MD5. No security depends on MD5.
public enum ByteDigest: Sendable {
    case md5, sha256

    /// Returns the digest of bytes as lowercase hexadecimal digits.
    public func digits(of bytes: [UInt8]) -> String {
        var state = DigestState(self)
        bytes.withUnsafeBytes { state.add($0) }
        return state.finish()
    }

    /// Returns the digest of an open file's first bytes. Throws an error if the file is shorter than `length`.
    public func digits(ofFile descriptor: Int32, length: Int) throws(SystemError) -> String {
        var state = DigestState(self)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 16)
        defer { buffer.deallocate() }
        var offset = 0
        while offset < length {
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(length - offset))
            let count = try OpenFile.read(descriptor, at: Int64(offset), into: piece)
            guard count > 0 else { throw SystemError(ENODATA) }
            state.add(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += count
        }
        return state.finish()
    }

    private static let pieceSize = 1 << 16
}

/// The state of a digest between two pieces of its input. Both algorithms process blocks of 64 bytes, but in different
/// byte orders.
private struct DigestState {
    private let algorithm: ByteDigest
    private var state: [UInt32]
    private var words = [UInt32](repeating: 0, count: 64)
    /// The bytes of an incomplete block.
    private var rest: [UInt8] = []
    private var count: UInt64 = 0
    private let constants: [UInt32]

    private static let blockSize = 64
    private static let shifts: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]
    /// RFC 1321, section 3.4: "the integer part of 4294967296 times abs(sin(i))".
    private static let sines = (1...64).map { UInt32(abs(sin(Double($0))) * 0x1p32) }
    private static let primes = (2...311).filter { number in !(2..<number).contains { number % $0 == 0 } }
    /// FIPS 180-4, section 4.2.2: the fractional parts of the cube roots of the first 64 primes.
    private static let cubeRoots = primes.map { fraction(cbrt(Double($0))) }
    /// FIPS 180-4, section 5.3.3: the fractional parts of the square roots of the first eight primes.
    private static let squareRoots = primes.prefix(8).map { fraction(Double($0).squareRoot()) }

    private static func fraction(_ number: Double) -> UInt32 { UInt32((number - number.rounded(.down)) * 0x1p32) }

    init(_ algorithm: ByteDigest) {
        self.algorithm = algorithm
        switch algorithm {
        case .md5: (state, constants) = ([0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476], Self.sines)
        case .sha256: (state, constants) = (Self.squareRoots, Self.cubeRoots)
        }
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        count &+= UInt64(bytes.count)
        var bytes = bytes
        if !rest.isEmpty {
            let missing = bytes.prefix(Self.blockSize - rest.count)
            rest += missing
            bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(missing.count))
            guard rest.count == Self.blockSize else { return }
            let block = rest
            block.withUnsafeBytes { mix($0) }
            rest.removeAll(keepingCapacity: true)
        }
        let whole = bytes.count / Self.blockSize * Self.blockSize
        for start in stride(from: 0, to: whole, by: Self.blockSize) {
            mix(UnsafeRawBufferPointer(rebasing: bytes[start..<start + Self.blockSize]))
        }
        rest += bytes[whole...]
    }

    /// Pads the input, and returns the digits of the digest. The padding is a one bit, zeros, and the number of input
    /// bits.
    mutating func finish() -> String {
        let bits = count << 3
        let isLittle = algorithm == .md5
        let zeros = (119 - Int(count % 64)) % 64
        let length = (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * (isLittle ? $0 : 7 - $0))) }
        ([0x80] + [UInt8](repeating: 0, count: zeros) + length).withUnsafeBytes { add($0) }
        return state.map { word in
            let digits = String(isLittle ? word.byteSwapped : word, radix: 16)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }

    private mutating func mix(_ block: UnsafeRawBufferPointer) {
        for index in 0..<16 {
            let word = block.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self)
            words[index] = algorithm == .md5 ? UInt32(littleEndian: word) : UInt32(bigEndian: word)
        }
        switch algorithm {
        case .md5: mixMD5()
        case .sha256: mixSHA256()
        }
    }

    private mutating func mixMD5() {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        for step in 0..<64 {
            let (mix, word): (UInt32, Int) =
                switch step / 16 {
                case 0: (b & c | ~b & d, step)
                case 1: (d & b | ~d & c, (5 * step + 1) % 16)
                case 2: (b ^ c ^ d, (3 * step + 5) % 16)
                default: (c ^ (b | ~d), 7 * step % 16)
                }
            let sum = a &+ mix &+ constants[step] &+ words[word]
            let shift = Self.shifts[step / 16 * 4 + step % 4]
            (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
        }
        state[0] &+= a
        state[1] &+= b
        state[2] &+= c
        state[3] &+= d
    }

    private mutating func mixSHA256() {
        for index in 16..<64 {
            let (early, late) = (words[index - 15], words[index - 2])
            let first = Self.turn(early, 7) ^ Self.turn(early, 18) ^ early >> 3
            let second = Self.turn(late, 17) ^ Self.turn(late, 19) ^ late >> 10
            words[index] = words[index - 16] &+ first &+ words[index - 7] &+ second
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for step in 0..<64 {
            let turned = Self.turn(e, 6) ^ Self.turn(e, 11) ^ Self.turn(e, 25)
            let first = h &+ turned &+ (e & f ^ ~e & g) &+ constants[step] &+ words[step]
            let second = (Self.turn(a, 2) ^ Self.turn(a, 13) ^ Self.turn(a, 22)) &+ (a & b ^ a & c ^ b & c)
            (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
        }
        for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
    }

    private static func turn(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }
}
