import Glibc

/// A short digest of a file, to tell whether it is still the one that was stored.
///
/// It guards against disks and half-written files, not against people: whoever can write here can write the row too.
struct FileDigest: Equatable {
    let size: Int64
    let digest: Int64

    /// Reads the whole file from its beginning; nil if that fails.
    static func ofFile(_ descriptor: Int32) -> FileDigest? {
        var hash: UInt64 = 0x9E37_79B9_7F4A_7C15
        var offset: off_t = 0
        var buffer = [UInt64](repeating: 0, count: 16_384)
        while true {
            let count = buffer.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, offset) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            guard count > 0 else { break }
            buffer.withUnsafeMutableBytes { bytes in
                // A rest that fills no word is filled up with zeros; the length is part of the digest.
                for index in count..<min(bytes.count, (count + 7) / 8 * 8) { bytes[index] = 0 }
            }
            for word in buffer.prefix((count + 7) / 8) {
                hash = (hash ^ word) &* 0xFF51_AFD7_ED55_8CCD
                hash ^= hash >> 32
            }
            offset += off_t(count)
        }
        return FileDigest(size: Int64(offset), digest: Int64(bitPattern: hash ^ UInt64(offset)))
    }
}
