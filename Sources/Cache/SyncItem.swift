import Model

/// One photo that a new list adds or alters, as it is written to a ``SyncSpool``.
struct SyncItem: Equatable {
    /// The row that is altered; nil for a photo that is new.
    var key: Int64?
    /// What has to be fetched anew.
    var affects: Set<Rendition> = []
    var id: String
    var name: String
    var date: Timestamp
    var photo: String
    var thumbnail: String?

    init(_ entry: GalleryEntry, key: Int64? = nil, affects: Set<Rendition> = []) {
        self.key = key
        self.affects = affects
        id = entry.id
        name = entry.name
        date = entry.date
        photo = entry.photo.text
        thumbnail = entry.thumbnail?.text
    }

    // MARK: - As bytes

    /// Where there is no text; no text is that long.
    private static let none = UInt32.max
    /// Two numbers, what is affected, and the lengths of four texts.
    private static let headSize = 8 + 8 + 1 + 4 * 4

    /// Writes it behind what is there.
    func write(to bytes: inout [UInt8]) {
        func append(_ number: some FixedWidthInteger) {
            withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
        }
        append(key ?? 0)
        append(date.milliseconds)
        append((affects.contains(.photo) ? 1 : 0) | (affects.contains(.thumbnail) ? 2 : 0) as UInt8)
        let texts = [id, name, photo, thumbnail]
        for text in texts { append(text.map { UInt32($0.utf8.count) } ?? Self.none) }
        for text in texts { bytes.append(contentsOf: (text ?? "").utf8) }
    }

    /// Takes one from the beginning of some bytes; nil if it is not all there.
    init?(from bytes: inout Slice<UnsafeRawBufferPointer>) {
        guard bytes.count >= Self.headSize else { return nil }
        let head = UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.headSize))
        let lengths = (0..<4).map { head.loadUnaligned(fromByteOffset: 17 + $0 * 4, as: UInt32.self) }
        let size = lengths.reduce(Self.headSize) { $0 + ($1 == Self.none ? 0 : Int($1)) }
        guard bytes.count >= size else { return nil }
        var rest = bytes.prefix(size).dropFirst(Self.headSize)
        func text(_ length: UInt32) -> String? {
            guard length != Self.none else { return nil }
            defer { rest = rest.dropFirst(Int(length)) }
            return String(decoding: rest.prefix(Int(length)), as: UTF8.self)
        }
        let number = head.loadUnaligned(as: Int64.self)
        key = number == 0 ? nil : number
        date = Timestamp(milliseconds: head.loadUnaligned(fromByteOffset: 8, as: Int64.self))
        let mask = head[16]
        affects = Set((mask & 1 != 0 ? [.photo] : []) + (mask & 2 != 0 ? [.thumbnail] : []))
        id = text(lengths[0]) ?? ""
        name = text(lengths[1]) ?? ""
        photo = text(lengths[2]) ?? ""
        thumbnail = text(lengths[3])
        bytes = bytes.dropFirst(size)
    }
}
