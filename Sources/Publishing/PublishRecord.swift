import Glibc

/// What is remembered of a folder's files from one run to the next: `thumbnails/.vitrine-publish`.
///
/// It lies beside the thumbnails because it says of them that they are ours: both are there, or neither. The list itself could
/// hold some of it; but an interrupted run has thumbnails and not yet a list, what was no picture is not in the list, and the
/// list is for others to read.
///
/// Lines are only ever added while photos are looked at, so whatever ends a run, what it did is remembered; a later line
/// about the same file counts. At the end of a run it is written anew, if there are lines in it that no longer count. In
/// memory is where each line lies, and no more.
final class PublishRecord {
    static let name = ".vitrine-publish"

    private struct Place {
        let offset: Int64
        let length: Int32
    }

    private var folder: OpenFolder?
    /// By a digest of the reference. Two files that share one take each other's place, and are looked at each time.
    private var places: [UInt64: Place] = [:]
    private var seen: Set<UInt64> = []
    /// Lines that no longer count, but speak of thumbnails.
    private var superseded: [Place] = []
    /// Whether there are lines that no longer count.
    private var isUntidy = false
    private var size: Int64 = 0
    private var endsInLine = true
    private var reading: Int32 = -1
    private var writing: Int32 = -1

    /// Reads what there is.
    ///
    /// - Parameter folder: that of the thumbnails; nil if there is none, and so nothing to remember.
    init(in folder: OpenFolder?) {
        self.folder = folder
        guard let file = folder?.file(Self.name) else { return }
        reading = file
        load()
    }

    deinit {
        if reading >= 0 { close(reading) }
        if writing >= 0 { close(writing) }
    }

    /// What is remembered of a file, which is thereby known to be there.
    func line(of reference: String) -> RecordLine? {
        let key = Digest.of(reference.utf8)
        guard let place = places[key], let line = line(at: place), line.reference == reference else { return nil }
        seen.insert(key)
        return line
    }

    /// Adds a line.
    ///
    /// - Parameter folder: that of the thumbnails, which there is by now.
    func append(_ line: RecordLine, in folder: OpenFolder) throws(PublishingError) {
        self.folder = folder
        try openForWriting()
        let bytes = Array((endsInLine ? line.text : "\n" + line.text).utf8)
        guard bytes.withUnsafeBytes({ writing.writeAll($0) }) else { throw failure }
        let start = size + (endsInLine ? 0 : 1)
        size += Int64(bytes.count)
        endsInLine = true
        let key = Digest.of(line.reference.utf8)
        note(Place(offset: start, length: Int32(size - start - 1)), for: key)
        seen.insert(key)
    }

    /// What is remembered of files that have not been seen in this run.
    func forEachGone(_ body: (RecordLine) -> Void) {
        let gone = places.filter { !seen.contains($0.key) }.values
        for place in gone.sorted(by: { $0.offset < $1.offset }) { if let line = line(at: place) { body(line) } }
    }

    /// What was remembered of files that are others now, and have other thumbnails.
    func forEachSuperseded(_ body: (PublishedPhoto) -> Void) {
        for place in superseded {
            guard let line = line(at: place), let photo = line.photo,
                let current = places[Digest.of(line.reference.utf8)].flatMap({ self.line(at: $0) }),
                current.reference == line.reference, current.photo?.thumbnail != photo.thumbnail
            else { continue }
            body(photo)
        }
    }

    /// Leaves out the lines that no longer count, if there are any.
    func tidy() throws(PublishingError) {
        guard let folder, isUntidy || seen.count < places.count else { return }
        let new = try NewFile(in: folder, for: "record")
        for (key, place) in places.sorted(by: { $0.value.offset < $1.value.offset }) where seen.contains(key) {
            guard let line = line(at: place) else { continue }
            try new.write(line.text.utf8)
        }
        try new.take(Self.name, mode: 0o600, syncing: true)
    }

    // MARK: -

    private func load() {
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        var open: [UInt8] = []
        while true {
            let count = piece.withUnsafeMutableBytes { reading.readAll(at: size, into: $0) }
            guard count > 0 else { break }
            var rest = piece[..<count]
            // What is no line of ours is not gathered without end.
            if open.count > RecordLine.longest { open = Array(open.prefix(RecordLine.longest + 1)) }
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                open += rest[..<end]
                let start = size + Int64(end) - Int64(open.count)
                take(open, at: start)
                open.removeAll(keepingCapacity: true)
                rest = rest[(end + 1)...]
            }
            open += rest
            size += Int64(count)
        }
        endsInLine = open.isEmpty
        if !endsInLine { isUntidy = true }
    }

    private func take(_ bytes: [UInt8], at offset: Int64) {
        guard bytes.count <= RecordLine.longest, let line = RecordLine(bytes) else {
            isUntidy = true
            return
        }
        note(Place(offset: offset, length: Int32(bytes.count)), for: Digest.of(line.reference.utf8))
    }

    private func note(_ place: Place, for key: UInt64) {
        if let before = places.updateValue(place, forKey: key) {
            superseded.append(before)
            isUntidy = true
        }
    }

    private func line(at place: Place) -> RecordLine? {
        withUnsafeTemporaryAllocation(byteCount: Int(place.length), alignment: 1) { buffer in
            guard reading.readAll(at: place.offset, into: buffer) == buffer.count else { return nil }
            return RecordLine(buffer)
        }
    }

    private func openForWriting() throws(PublishingError) {
        guard writing < 0 else { return }
        guard let folder else { throw .file(path: Self.name, reason: "there is no folder for it") }
        writing = openat(
            folder.descriptor, Self.name, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard writing >= 0 else { throw failure }
        if reading < 0, let file = folder.file(Self.name) { reading = file }
        guard reading >= 0 else { throw failure }
    }

    private var failure: PublishingError { .failed((folder?.path ?? "") + "/" + Self.name) }
}
