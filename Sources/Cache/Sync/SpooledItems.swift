import Glibc

/// The contents of a ``SyncSpool``, to be read as often as one likes.
final class SpooledItems: Sendable {
    /// Read at places that are named, never at its current position.
    let descriptor: Int32

    static let pieceSize = 1 << 18

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Items that lie in memory together, and are valid until whoever was handed them returns.
    struct Piece {
        fileprivate var bytes: Slice<UnsafeRawBufferPointer>

        /// Takes the next one out; nil when there are no more in this piece.
        mutating func next() -> SyncItem? { SyncItem(from: &bytes) }
    }

    /// Hands out all items, piece by piece, in the order in which they came. Each piece is taken to its end.
    func forEachPiece(_ body: (inout Piece) throws -> Void) throws {
        var piece = [UInt8](repeating: 0, count: Self.pieceSize)
        // Bytes at the beginning of the piece that are left of the one before, and where in the file it ends.
        var (left, place) = (0, 0)
        while true {
            let count = piece.withUnsafeMutableBytes { piece in
                pread(descriptor, piece.baseAddress.map { $0 + left }, piece.count - left, off_t(place))
            }
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw CacheError.file("the changes of an update")
            }
            guard count > 0 else {
                // Half of the changes must not pass for all of them.
                guard left == 0 else {
                    throw CacheError.file(path: "the changes of an update", reason: "it ends too soon")
                }
                return
            }
            place += count
            let filled = left + count
            let rest = try piece.withUnsafeBytes { piece in
                var rest = Piece(bytes: piece.prefix(filled))
                try body(&rest)
                return rest.bytes.startIndex..<rest.bytes.endIndex
            }
            left = rest.count
            piece.replaceSubrange(0..<left, with: piece[rest])
            // One that is longer than a piece: make room for it.
            if left == piece.count { piece += [UInt8](repeating: 0, count: piece.count) }
        }
    }
}
