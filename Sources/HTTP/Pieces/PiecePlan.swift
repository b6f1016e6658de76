import Numbers

/// Which pieces of a whole are to be asked for next, and which of those that came are to be written.
///
/// They come in whatever order, and are written in the order of the whole: the file is at any time a beginning of it, which
/// can be looked at, and gone on from.
struct PiecePlan {
    /// A piece that is here.
    struct Arrival {
        var bytes: [UInt8]
        /// What the answer said of the whole that it is from: its validator, and its length.
        var edition: Edition
    }

    /// Which whole an answer is a part of.
    struct Edition: Equatable {
        var validator: String?
        var length: ByteCount?
    }

    var pieces: HTTPRequest.Pieces
    /// How long the whole is; the most that it may have, until that is known.
    private(set) var end: ByteCount
    /// Up to where pieces were asked for.
    private(set) var asked: ByteCount
    /// How much there is of what was asked for, be it written or not, with what was there before.
    private(set) var received: ByteCount
    /// Up to where the file is filled.
    private(set) var written: ByteCount
    /// Where what comes begins: before it lies what was there.
    private(set) var begin: ByteCount
    /// What came before what is to be written next, by where it begins.
    private var arrivals: [ByteCount: Arrival] = [:]

    /// What waits for an earlier piece is in memory: no more is asked for when that is so many times what may be under way.
    private static let patience = 3

    init(_ pieces: HTTPRequest.Pieces, from begin: ByteCount, limit: ByteCount) {
        self.pieces = pieces
        self.begin = begin
        (asked, received, written, end) = (begin, begin, begin, limit)
    }

    var isComplete: Bool { written >= end }

    /// The first piece, which is asked for in any case.
    mutating func first() -> Range<ByteCount> { advance() }

    /// The next piece, if it is time to ask for one.
    mutating func next(underWay: Int) -> Range<ByteCount>? {
        guard !isAllAsked, hasRoom, asked - written < pieces.size * pieces.most * Self.patience,
            underWay < pieces.most
        else {
            return nil
        }
        return advance()
    }

    /// Whether there is nothing left to ask for.
    var isAllAsked: Bool { asked >= end }
    /// Whether less is under way than there may be.
    var hasRoom: Bool { asked - received < pieces.window }

    private mutating func advance() -> Range<ByteCount> {
        let piece = asked..<min(asked + max(pieces.size, 1), end)
        asked = piece.upperBound
        return piece
    }

    /// The whole is so long.
    mutating func note(length: ByteCount) {
        end = length
        asked = min(asked, end)
    }

    /// What comes begins elsewhere: what was there is of no use.
    mutating func note(begin: ByteCount) {
        note(written: begin)
        self.begin = begin
    }

    /// Bytes that have come.
    var come: ByteCount { received - begin }
    /// Bytes that were asked for.
    var wanted: ByteCount { asked - begin }

    /// So much has come; in place of what was counted before.
    mutating func note(received count: ByteCount, inPlaceOf counted: ByteCount = 0) {
        received = received + count - counted
    }

    mutating func note(written place: ByteCount) {
        // In this order, for the place may lie before what is written.
        received = received - written + place
        written = place
    }

    mutating func note(_ arrival: Arrival, at place: ByteCount) { arrivals[place] = arrival }

    /// The piece that comes next in the file, if it is here.
    mutating func takeNext() -> Arrival? {
        written < end ? arrivals.removeValue(forKey: written) : nil
    }

    /// It has been written.
    mutating func noteWritten(_ arrival: Arrival) {
        written += ByteCount(arrival.bytes.count)
    }
}
