import Model

/// One change to a photo's row, as it lies in a ``SyncSpool``: its texts are pieces of the bytes that it was read from, and
/// valid as long as those.
struct SyncItem {
    /// What it does.
    enum Change: Equatable {
        /// Adds a photo.
        case add
        /// Makes a photo's row say what the entry says; what has to be fetched anew for it.
        case alter(Int64, affects: Set<Rendition>)
        /// Notes another digest of an entry that means what it meant.
        case stamp(Int64)
    }

    let change: Change
    let date: Timestamp
    let digest: Int64?
    let id: UnsafeRawBufferPointer
    let name: UnsafeRawBufferPointer
    /// Where the name stands among others; see ``NaturalKey``.
    let nameKey: UnsafeRawBufferPointer
    let photo: UnsafeRawBufferPointer
    let thumbnail: UnsafeRawBufferPointer?

    // MARK: - As bytes

    private enum Flag {
        static let photo: UInt8 = 1
        static let thumbnail: UInt8 = 2
        static let alter: UInt8 = 4
        static let stamp: UInt8 = 8
        static let digest: UInt8 = 16
    }

    /// Row, date and digest, the flags, and the lengths of five texts.
    private static let headSize = 3 * 8 + 1 + 5 * 4

    /// Writes an entry and what it changes behind what is there.
    ///
    /// - Parameter key: the natural key of its name.
    static func append(_ change: Change, _ entry: EntryBytes, key: [UInt8], to bytes: inout [UInt8]) {
        func append(_ number: some FixedWidthInteger) {
            withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
        }
        var flags: UInt8 = entry.digest == nil ? 0 : Flag.digest
        var row: Int64 = 0
        switch change {
        case .add: break
        case .alter(let key, let affects):
            row = key
            flags |= Flag.alter
            if affects.contains(.original) { flags |= Flag.photo }
            if affects.contains(.thumbnail) { flags |= Flag.thumbnail }
        case .stamp(let key):
            row = key
            flags |= Flag.stamp
        }
        append(row)
        append(entry.date.milliseconds)
        append(entry.digest ?? 0)
        append(flags)
        let isWhole = flags & Flag.stamp == 0
        for part in EntryBytes.Part.allCases { append(UInt32(isWhole ? entry.range(of: part).count : 0)) }
        append(UInt32(isWhole ? key.count : 0))
        guard isWhole else { return }
        bytes += entry.bytes
        bytes += key
    }

    /// Takes one from the beginning of some bytes; nil if it is not all there.
    init?(from bytes: inout Slice<UnsafeRawBufferPointer>) {
        guard bytes.count >= Self.headSize else { return nil }
        let all = UnsafeRawBufferPointer(rebasing: bytes)
        func length(_ index: Int) -> Int { Int(all.loadUnaligned(fromByteOffset: 25 + index * 4, as: UInt32.self)) }
        var place = Self.headSize
        guard all.count >= place + (0..<5).reduce(0, { $0 + length($1) }) else { return nil }
        func text(_ index: Int) -> UnsafeRawBufferPointer {
            defer { place += length(index) }
            return UnsafeRawBufferPointer(rebasing: all[place..<place + length(index)])
        }
        let row = all.loadUnaligned(as: Int64.self)
        date = Timestamp(milliseconds: all.loadUnaligned(fromByteOffset: 8, as: Int64.self))
        let flags = all[24]
        digest = flags & Flag.digest == 0 ? nil : all.loadUnaligned(fromByteOffset: 16, as: Int64.self)
        if flags & Flag.stamp != 0 {
            change = .stamp(row)
        } else if flags & Flag.alter != 0 {
            let affects: [Rendition] =
                (flags & Flag.photo != 0 ? [.original] : []) + (flags & Flag.thumbnail != 0 ? [.thumbnail] : [])
            change = .alter(row, affects: Set(affects))
        } else {
            change = .add
        }
        id = text(0)
        name = text(1)
        photo = text(2)
        let thumbnail = text(3)
        self.thumbnail = thumbnail.isEmpty ? nil : thumbnail
        nameKey = text(4)
        bytes = bytes.dropFirst(place)
    }
}
