import Files
import Glibc
import Model

/// A temporary file with the changes of a list that is still arriving. The changes may be larger than the memory.
///
/// The file has no name, so it disappears when its last user closes it, even after a crash. A draft writes the file and
/// passes it to the writer with ``finish()``.
final class SyncSpool {
    private let items: SpooledItems
    private var buffer: [UInt8] = []
    private var key = NaturalKey()
    /// The number of bytes appended so far.
    private(set) var bytes: Int64 = 0

    /// Creates the temporary file in a folder.
    init(folder: String) throws(CacheError) {
        let path = folder + "/" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .file(path) }
        unlink(path)
        items = SpooledItems(descriptor)
    }

    /// Appends the change that an entry makes.
    func append(_ change: SyncItem.Change, _ entry: EntryBytes) throws(CacheError) {
        // Make the sort key here, so that the transaction does not have to.
        if case .stamp = change {} else { key.make(of: entry[.name]) }
        let before = buffer.count
        SyncItem.append(change, entry, key: key.bytes, to: &buffer)
        bytes += Int64(buffer.count - before)
        if buffer.count >= SpooledItems.pieceSize { try flush() }
    }

    /// Returns the appended items. The caller must not append anything afterwards.
    func finish() throws(CacheError) -> SpooledItems {
        try flush()
        return items
    }

    private func flush() throws(CacheError) {
        var rest = buffer[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(items.descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                throw .file("with the changes of the update")
            }
        }
        buffer.removeAll(keepingCapacity: true)
    }
}

/// The contents of a ``SyncSpool``. A caller can read the contents several times.
final class SpooledItems: Sendable {
    /// The file's descriptor. ``SyncSpool`` writes to the file, and reads use explicit offsets.
    let descriptor: Int32

    static let pieceSize = 1 << 18

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Several items in one buffer, valid only during the callback.
    struct Piece {
        fileprivate var bytes: Slice<UnsafeRawBufferPointer>

        /// Returns the next item. Returns nil at the end of the piece.
        mutating func next() -> SyncItem? { SyncItem(from: &bytes) }
    }

    /// Calls `body` for all items in order, piece by piece. The body must read each piece to its end.
    func forEachPiece(_ body: (inout Piece) throws -> Void) throws {
        var piece = [UInt8](repeating: 0, count: Self.pieceSize)
        // The number of bytes left over from the previous piece, and the offset of the next piece in the file.
        var (left, offset) = (0, 0)
        while true {
            let count = piece.withUnsafeMutableBytes { piece in
                pread(descriptor, piece.baseAddress.map { $0 + left }, piece.count - left, off_t(offset))
            }
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw CacheError.file("with the changes of the update")
            }
            guard count > 0 else {
                // A partial list of changes must not be applied.
                guard left == 0 else {
                    throw CacheError.file("with the changes of the update", code: EIO)
                }
                return
            }
            offset += count
            let filled = left + count
            let rest = try piece.withUnsafeBytes { piece in
                var rest = Piece(bytes: piece.prefix(filled))
                try body(&rest)
                return rest.bytes.startIndex..<rest.bytes.endIndex
            }
            left = rest.count
            piece.replaceSubrange(0..<left, with: piece[rest])
            // An item may be larger than the buffer.
            if left == piece.count { piece += [UInt8](repeating: 0, count: piece.count) }
        }
    }
}

/// One change of a photo's row, in the binary form of a ``SyncSpool``.
///
/// The texts point into the bytes from which the item was read, and are valid as long as those bytes.
struct SyncItem {
    /// The kind of change.
    enum Change: Equatable {
        /// Adds a new photo.
        case add
        /// Replaces a row's values. Vitrine must fetch the affected renditions again.
        case alter(Int64, affects: Set<Rendition>)
        /// Replaces the stored digest of an otherwise unchanged entry.
        case stamp(Int64)
    }

    let change: Change
    let date: Timestamp
    let dateOrigin: DateOrigin
    /// The length of the video in milliseconds; nil for a photo.
    let videoMilliseconds: Int64?
    let digest: Int64?
    let id: UnsafeRawBufferPointer
    let name: UnsafeRawBufferPointer
    /// The name's sort key, a ``NaturalKey``.
    let nameKey: UnsafeRawBufferPointer
    let photo: UnsafeRawBufferPointer
    let thumbnail: UnsafeRawBufferPointer?
    let revision: UnsafeRawBufferPointer?
    let libraryPart: UnsafeRawBufferPointer?
    let thumbhash: UnsafeRawBufferPointer?
    let annotations: UnsafeRawBufferPointer?

    // MARK: - Binary form

    private enum Flag {
        static let photo: UInt8 = 1
        static let thumbnail: UInt8 = 2
        static let alter: UInt8 = 4
        static let stamp: UInt8 = 8
        static let digest: UInt8 = 16
        /// The shift of the date's origin, which takes two bits.
        static let origin: UInt8 = 5
    }

    /// The number of texts of an entry, including the name's sort key.
    private static let texts = EntryBytes.Part.allCases.count + 1
    /// The number of bytes before an item's texts. These bytes contain the row, date, digest, length of the video,
    /// flags and lengths of the texts.
    private static let headSize = flagsOffset + 1 + texts * 4
    private static let flagsOffset = 4 * 8
    /// The number that a photo has instead of a video's length.
    private static let noVideo: Int64 = -1

    /// Appends the change that an entry makes to a buffer.
    ///
    /// - Parameter key: the ``NaturalKey`` of the entry's name.
    static func append(_ change: Change, _ entry: EntryBytes, key: [UInt8], to bytes: inout [UInt8]) {
        func append(_ number: some FixedWidthInteger) {
            withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
        }
        var flags: UInt8 = entry.digest == nil ? 0 : Flag.digest
        flags |= UInt8(clamping: entry.dateOrigin.rawValue) << Flag.origin
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
        append(entry.videoMilliseconds.map { Int64($0) } ?? noVideo)
        append(flags)
        let isWhole = flags & Flag.stamp == 0
        for part in EntryBytes.Part.allCases { append(UInt32(isWhole ? entry.range(of: part).count : 0)) }
        append(UInt32(isWhole ? key.count : 0))
        guard isWhole else { return }
        bytes += entry.bytes
        bytes += key
    }

    /// Reads an item from the beginning of a buffer. Returns nil if the item is incomplete.
    init?(from bytes: inout Slice<UnsafeRawBufferPointer>) {
        guard bytes.count >= Self.headSize else { return nil }
        let all = UnsafeRawBufferPointer(rebasing: bytes)
        func size(_ index: Int) -> Int {
            Int(all.loadUnaligned(fromByteOffset: Self.flagsOffset + 1 + index * 4, as: UInt32.self))
        }
        var offset = Self.headSize
        guard all.count >= offset + (0..<Self.texts).reduce(0, { $0 + size($1) }) else { return nil }
        func text(_ index: Int) -> UnsafeRawBufferPointer {
            defer { offset += size(index) }
            return UnsafeRawBufferPointer(rebasing: all[offset..<offset + size(index)])
        }
        let row = all.loadUnaligned(as: Int64.self)
        date = Timestamp(milliseconds: all.loadUnaligned(fromByteOffset: 8, as: Int64.self))
        let length = all.loadUnaligned(fromByteOffset: 24, as: Int64.self)
        videoMilliseconds = length == Self.noVideo ? nil : length
        let flags = all[Self.flagsOffset]
        dateOrigin = DateOrigin(rawValue: Int64(flags >> Flag.origin)) ?? .stated
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
        func optionalText(_ index: Int) -> UnsafeRawBufferPointer? {
            let text = text(index)
            return text.isEmpty ? nil : text
        }
        thumbnail = optionalText(3)
        revision = optionalText(4)
        libraryPart = optionalText(5)
        thumbhash = optionalText(6)
        annotations = optionalText(7)
        nameKey = text(8)
        bytes = bytes.dropFirst(offset)
    }
}
