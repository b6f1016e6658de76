import Numbers

/// Decides which pieces to request next, and which received pieces to write.
///
/// Pieces arrive in any order and are written in order. So the file always holds a beginning of the whole, which can be
/// shown and resumed.
struct PiecePlan {
    /// A received piece.
    struct Arrival {
        var bytes: [UInt8]
        /// The edition that its answer stated.
        var edition: Edition
    }

    /// The validator and length that identify an edition of the whole.
    struct Edition: Equatable {
        var validator: String?
        var length: ByteCount?
    }

    var pieces: HTTPRequest.Pieces
    /// The length of the whole; the limit until it is known.
    private(set) var end: ByteCount
    /// The end of the last requested piece.
    private(set) var asked: ByteCount
    /// The end of the kept part, plus all bytes received.
    private(set) var received: ByteCount
    /// The end of the written part.
    private(set) var written: ByteCount
    /// The offset where the transfer starts.
    private(set) var begin: ByteCount
    /// Received pieces that wait for earlier ones, by offset.
    private var arrivals: [ByteCount: Arrival] = [:]

    /// Limits the pieces in memory, as a multiple of those under way.
    private static let patience = 3

    init(_ pieces: HTTPRequest.Pieces, from begin: ByteCount, limit: ByteCount) {
        self.pieces = pieces
        self.begin = begin
        (asked, received, written, end) = (begin, begin, begin, limit)
    }

    var isComplete: Bool { written >= end }

    /// The first piece, which is always requested.
    mutating func first() -> Range<ByteCount> { advance() }

    /// The next piece; nil if none may be requested now.
    mutating func next(underWay: Int) -> Range<ByteCount>? {
        guard !isAllAsked, hasSpace, asked - written < pieces.size * pieces.most * Self.patience,
            underWay < pieces.most
        else {
            return nil
        }
        return advance()
    }

    /// Whether everything was requested.
    var isAllAsked: Bool { asked >= end }
    /// Whether the window allows another request.
    var hasSpace: Bool { asked - received < pieces.window }

    private mutating func advance() -> Range<ByteCount> {
        let piece = asked..<min(asked + max(pieces.size, 1), end)
        asked = piece.upperBound
        return piece
    }

    /// Sets the length of the whole.
    mutating func set(length: ByteCount) {
        end = length
        asked = min(asked, end)
    }

    /// Sets another start: what was there is not used.
    mutating func set(begin: ByteCount) {
        set(written: begin)
        self.begin = begin
    }

    /// Bytes received.
    var come: ByteCount { received - begin }
    /// Bytes requested.
    var wanted: ByteCount { asked - begin }

    /// Adds received bytes, in place of those of a duplicate.
    mutating func add(received count: ByteCount, replacing counted: ByteCount = 0) {
        received = received + count - counted
    }

    mutating func set(written offset: ByteCount) {
        // In this order, since the new offset may be smaller.
        received = received - written + offset
        written = offset
    }

    mutating func add(_ arrival: Arrival, at offset: ByteCount) { arrivals[offset] = arrival }

    /// Removes and returns the next piece for the file; nil if it has not come.
    mutating func takeNext() -> Arrival? {
        written < end ? arrivals.removeValue(forKey: written) : nil
    }

    /// Marks a piece as written.
    mutating func markWritten(_ arrival: Arrival) {
        written += ByteCount(arrival.bytes.count)
    }
}
