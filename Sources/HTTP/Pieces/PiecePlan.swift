import Numbers

/// Decides which pieces to request next, and which received pieces to write.
///
/// Pieces arrive in any order, but are written in order. So the file on the disk is always the beginning of the whole
/// file, without gaps. Vitrine can show and resume this beginning.
struct PiecePlan {
    /// A piece that has arrived.
    struct Arrival {
        var bytes: [UInt8]
        /// The version of the whole file that the piece's answer stated.
        var edition: Edition
    }

    /// The validator and length that identify a version of the whole file.
    struct Edition: Equatable {
        var validator: String?
        var length: ByteCount?
    }

    var pieces: HTTPRequest.Pieces
    /// The length of the whole file. The value is the request's limit until the length is known.
    private(set) var end: ByteCount
    /// The offset at which the last requested piece ends.
    private(set) var asked: ByteCount
    /// The offset ``begin`` plus the number of bytes received since the start.
    private(set) var received: ByteCount
    /// The offset up to which the file is written.
    private(set) var written: ByteCount
    /// The offset where the transfer starts.
    private(set) var begin: ByteCount
    /// The received pieces that wait for earlier pieces, by offset.
    private var arrivals: [ByteCount: Arrival] = [:]

    /// Limits the requested but unwritten bytes. The limit is this number times the total size of the pieces that may
    /// be requested at a time.
    private static let patience = 3

    init(_ pieces: HTTPRequest.Pieces, from begin: ByteCount, limit: ByteCount) {
        self.pieces = pieces
        self.begin = begin
        (asked, received, written, end) = (begin, begin, begin, limit)
    }

    var isComplete: Bool { written >= end }

    /// Returns the first piece, which the transfer always requests.
    mutating func first() -> Range<ByteCount> { advance() }

    /// Returns the next piece to request. Returns nil if the transfer may request no piece now.
    mutating func next(underWay: Int) -> Range<ByteCount>? {
        guard !isAllAsked, hasSpace, asked - written < pieces.size * pieces.most * Self.patience,
            underWay < pieces.most
        else {
            return nil
        }
        return advance()
    }

    /// Whether the transfer has requested all pieces.
    var isAllAsked: Bool { asked >= end }
    /// Whether the window allows another request.
    var hasSpace: Bool { asked - received < pieces.window }

    private mutating func advance() -> Range<ByteCount> {
        let piece = asked..<min(asked + max(pieces.size, 1), end)
        asked = piece.upperBound
        return piece
    }

    /// Sets the length of the whole file.
    mutating func set(length: ByteCount) {
        end = length
        asked = min(asked, end)
    }

    /// Sets another start, because the bytes received earlier cannot be used.
    mutating func set(begin: ByteCount) {
        set(written: begin)
        self.begin = begin
    }

    /// The number of bytes received.
    var come: ByteCount { received - begin }
    /// The number of bytes requested.
    var wanted: ByteCount { asked - begin }

    /// Adds received bytes. Subtracts the bytes of the part that these bytes replace.
    mutating func add(received count: ByteCount, replacing counted: ByteCount = 0) {
        received = received + count - counted
    }

    mutating func set(written offset: ByteCount) {
        // The subtraction comes first, because `offset - written` may be negative, and a byte count cannot be negative.
        received = received - written + offset
        written = offset
    }

    mutating func add(_ arrival: Arrival, at offset: ByteCount) { arrivals[offset] = arrival }

    /// Removes and returns the next piece to write. Returns nil if that piece has not arrived.
    mutating func takeNext() -> Arrival? {
        written < end ? arrivals.removeValue(forKey: written) : nil
    }

    /// Records that a piece was written.
    mutating func markWritten(_ arrival: Arrival) {
        written += ByteCount(arrival.bytes.count)
    }
}
