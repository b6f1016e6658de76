/// Reads the items of a JSON answer from its events.
protocol ItemReader: JSONConsumer {
    /// The type of the items, such as photos.
    associatedtype Item

    /// The items since the last call of `takeItems()`.
    var items: [Item] { get set }

    /// Throws if the whole document, which has just ended, is not the expected answer.
    func check() throws
}

extension ItemReader {
    /// By default, `take` has checked all of the answer.
    func check() throws {}

    /// Returns the items since the last call.
    mutating func takeItems() -> [Item] {
        defer { items = [] }
        return items
    }
}

/// Parses a JSON answer with a list of items, piece by piece.
struct JSONAnswer<Reader: ItemReader> {
    private var stream = JSONPushStream()
    private(set) var reader: Reader

    init(_ reader: Reader) {
        self.reader = reader
    }

    /// Parses the next bytes. Returns the items that are complete.
    mutating func parse(_ bytes: [UInt8]) throws -> [Reader.Item] {
        try stream.push(bytes, to: &reader)
        return reader.takeItems()
    }

    /// Parses the end of the document. Throws if the answer is incomplete, or not the expected one.
    mutating func finish() throws -> [Reader.Item] {
        try stream.finish(to: &reader)
        try reader.check()
        return reader.takeItems()
    }
}
