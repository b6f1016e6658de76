/// Buffers a document's bytes until libxml2 should read them.
///
/// libxml2 rescans an unfinished tag from its start with each piece, and each call costs time. So the buffer holds back
/// incomplete tags, and after the first bytes it joins small pieces.
struct PieceBuffer {
    /// The most bytes of complete tags to buffer, so that small pieces are joined.
    private static let smallPiece = 4_096

    /// The buffered bytes.
    private(set) var bytes: [UInt8] = []
    /// The number of bytes up to the end of the last complete tag.
    private var complete = 0
    private var handed = 0

    /// Appends bytes.
    mutating func append(_ more: some Sequence<UInt8>) {
        bytes += more
    }

    /// Records that the last complete tag ends before this many bytes at the end of the buffer.
    mutating func markComplete(beforeLast count: Int) {
        complete = max(0, bytes.count - count)
    }

    /// Returns the bytes to parse now, and removes them from the buffer. The bytes end with a tag unless the buffer is
    /// full.
    ///
    /// - Parameter pieceSize: the number of bytes that fill the buffer; nil if it may hold any incomplete tag.
    mutating func next(pieceSize: Int?) -> [UInt8] {
        let count: Int
        if let pieceSize, bytes.count >= pieceSize {
            count = bytes.count
        } else if complete > 0, complete >= min(handed / 8, Self.smallPiece) {
            count = complete
        } else {
            return []
        }
        let piece = Array(bytes[..<count])
        bytes.removeFirst(count)
        complete = 0
        handed += count
        return piece
    }

    /// Returns all bytes, and empties the buffer.
    mutating func takeAll() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }
}
