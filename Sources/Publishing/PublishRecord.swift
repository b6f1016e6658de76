import Glibc
import Model

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

/// What is remembered of one file: what it was when it was looked at, and what came of it. One line of the record.
///
/// A line stands for itself and carries a digest of its own, so that one that was torn or damaged is told from a good one and
/// costs no more than looking at that file again.
struct RecordLine: Hashable, Sendable {
    enum Fate: Hashable, Sendable {
        /// It is in the gallery.
        case photo(PublishedPhoto)
        /// It is a picture of a format that is not read, or after all none; by that edition of the decoder.
        case other(format: String, decoder: String)
        /// It is a picture that cannot be decoded; why, by that edition of the decoder.
        case failed(reason: String, decoder: String)
    }

    /// The file's place: see ``PhotoPath/reference``.
    let reference: String
    let stamp: FileStamp
    let fate: Fate

    /// As much as a line may have.
    static let longest = 1 << 14

    /// The line, its end included.
    var text: String {
        let beginning = [reference, "\(stamp.size)", "\(stamp.seconds)", "\(stamp.nanoseconds)"]
        let fields = (beginning + fateFields).joined(separator: "\t")
        return Digest.text(Digest.of(fields.utf8)) + "\t" + fields + "\n"
    }

    private var fateFields: [String] {
        switch fate {
        case .photo(let photo):
            [
                "photo", photo.thumbnail.text, "\(photo.thumbnailSize)", "\(photo.date.milliseconds)",
                "\(photo.revision)", photo.isCutShort ? "cut" : "whole", PhotoPath.escaped(photo.name),
            ]
        case .other(let format, let decoder): ["other", PhotoPath.escaped(decoder), PhotoPath.escaped(format)]
        case .failed(let reason, let decoder): ["failed", PhotoPath.escaped(decoder), PhotoPath.escaped(reason)]
        }
    }
}

extension RecordLine {
    /// Reads a line without its end; nil if it is none.
    init?(_ bytes: some Collection<UInt8>) {
        let text = String(decoding: bytes, as: UTF8.self)
        let fields = text.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        guard fields.count > 6, fields[0] == Digest.text(Digest.of(bytes.dropFirst(17))),
            let size = Int64(fields[2]), let seconds = Int64(fields[3]), let nanoseconds = Int64(fields[4]),
            let fate = Self.fate(fields[5], Array(fields[6...]))
        else { return nil }
        self.init(
            reference: fields[1], stamp: FileStamp(size: size, seconds: seconds, nanoseconds: nanoseconds), fate: fate)
    }

    private static func fate(_ kind: String, _ fields: [String]) -> Fate? {
        switch (kind, fields.count) {
        case ("photo", 6):
            guard let thumbnail = ThumbnailName(written: fields[0]), let size = Int64(fields[1]),
                let date = Int64(fields[2]), let revision = Int(fields[3]), revision >= 0
            else { return nil }
            return .photo(
                PublishedPhoto(
                    name: PercentEncoding.decode(fields[5]), date: Timestamp(milliseconds: date), revision: revision,
                    isCutShort: fields[4] == "cut", thumbnail: thumbnail, thumbnailSize: size))
        case ("other", 2):
            return .other(format: PercentEncoding.decode(fields[1]), decoder: PercentEncoding.decode(fields[0]))
        case ("failed", 2):
            return .failed(reason: PercentEncoding.decode(fields[1]), decoder: PercentEncoding.decode(fields[0]))
        default: return nil
        }
    }

    /// The photo, if it is one.
    var photo: PublishedPhoto? {
        if case .photo(let photo) = fate { photo } else { nil }
    }
}

/// By what a file is known to be the one it was: its size, and when it was modified.
///
/// Its number is not part of it: a folder that was copied with its times, to another disk or back from one, is the same
/// folder. Nor is what it holds: a thousand photos are four gigabytes, and reading them takes longer than making thumbnails
/// of them.
struct FileStamp: Hashable, Sendable {
    let size: Int64
    let seconds: Int64
    let nanoseconds: Int64

    init(size: Int64, seconds: Int64, nanoseconds: Int64) {
        (self.size, self.seconds, self.nanoseconds) = (size, seconds, nanoseconds)
    }

    init(_ status: stat) {
        self.init(
            size: Int64(status.st_size), seconds: Int64(status.st_mtim.tv_sec),
            nanoseconds: Int64(status.st_mtim.tv_nsec))
    }
}

/// Bits that stand for some text. Not a secret, and nothing that withstands somebody who looks for two texts with the same
/// ones: wherever it is used, two that agree cost some work and no more.
enum Digest {
    /// Both halves of a product of 128 bits, over and over, so that each bit of what goes in reaches most of what comes out.
    /// The two numbers are the digits of π behind the point, the second one made odd.
    static func of(_ text: some Sequence<UInt8>, seed: UInt64 = 0) -> UInt64 {
        var state = mixed(seed, 0)
        var word: UInt64 = 0
        var count: UInt64 = 0
        for byte in text {
            word = word << 8 | UInt64(byte)
            count += 1
            if count % 8 == 0 {
                state = mixed(state, word)
                word = 0
            }
        }
        return mixed(mixed(state, word), count)
    }

    /// Sixteen digits.
    static func text(_ digest: UInt64) -> String {
        let digits = String(digest, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func mixed(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let product = (state ^ word ^ 0x243F_6A88_85A3_08D3).multipliedFullWidth(by: 0x1319_8A2E_0370_7345)
        return product.high ^ product.low ^ (state << 29 | state >> 35)
    }
}
