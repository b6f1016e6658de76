import Glibc

/// The first hundred bytes of a database, as far as they are the same in every cache.
///
/// SQLite sees by itself that most of them are wrong. These it believes: a file of a later format it opens for reading
/// alone, one of another text encoding it misreads.
enum DatabaseHeader {
    /// Whether an open file begins as a cache's database does. An empty one is about to.
    static func isBelievable(_ descriptor: Int32) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard count == bytes.count else { return count == 0 }
        let word = { (offset: Int) in bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }
        // "18: File format write version. 1 for legacy; 2 for WAL. 19: File format read version."
        let formats: ClosedRange<UInt8> = 1...2
        // "52: The page number of the largest root b-tree page when in auto-vacuum or incremental-vacuum modes, or zero
        // otherwise. 56: The database text encoding. A value of 1 means UTF-8. 64: True for incremental-vacuum mode."
        // In a file that was made and not yet written to, the encoding is still zero.
        return formats.contains(bytes[18]) && formats.contains(bytes[19])
            && word(52) == 0 && word(56) <= 1 && word(64) == 0
    }
}
