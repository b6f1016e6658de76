import Glibc
import Model

/// The record of a folder's files between runs, in the file `thumbnails/.vitrine-publish`.
///
/// The record is beside the thumbnails, because it states which thumbnails Vitrine made. So both exist, or neither
/// does. The list could not serve as the record. An interrupted run leaves thumbnails but no list. The list omits files
/// that are not pictures, and is meant for viewers.
///
/// During a run, the publisher only appends lines, so the record is correct however the run ends. For each file, the
/// last line counts. At the end of a run, the publisher rewrites the record without outdated lines. Memory holds only
/// the position of each line.
final class PublishRecord {
    static let name = ".vitrine-publish"

    private struct Position {
        let offset: Int64
        let length: Int32
    }

    private var folder: OpenFolder?
    /// The positions of lines, by the digest of their file's reference. Files with equal digests replace each other,
    /// and every run processes them again.
    private var positions: [UInt64: Position] = [:]
    private var seen: Set<UInt64> = []
    /// The files and folders whose lines stay for a later run, although this run's list lacks their photos.
    private var leftOut: Set<UInt64> = []
    /// The positions of outdated lines that still name thumbnails.
    private var superseded: [Position] = []
    /// Whether the record has outdated or damaged lines.
    private var isUntidy = false
    private var size: Int64 = 0
    private var endsInLine = true
    private var reading: Int32 = -1
    private var writing: Int32 = -1

    /// Reads the existing record.
    ///
    /// - Parameter folder: the thumbnail folder; nil if there is none.
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

    /// Returns the line of a file, and marks the file as seen in this run.
    func line(of reference: String) -> RecordLine? {
        let key = Digest.of(reference.utf8)
        guard let position = positions[key], let line = line(at: position), line.reference == reference else {
            return nil
        }
        seen.insert(key)
        return line
    }

    /// Appends a line to the record.
    ///
    /// - Parameter folder: the thumbnail folder, which may have been created meanwhile.
    func append(_ line: RecordLine, in folder: OpenFolder) throws(PublishingError) {
        self.folder = folder
        try openForWriting()
        let bytes = Array((endsInLine ? line.text : "\n" + line.text).utf8)
        guard bytes.withUnsafeBytes({ writing.writeAll($0) }) else { throw failure }
        let start = size + (endsInLine ? 0 : 1)
        size += Int64(bytes.count)
        endsInLine = true
        let key = Digest.of(line.reference.utf8)
        setPosition(Position(offset: start, length: Int32(size - start - 1)), for: key)
        seen.insert(key)
    }

    /// Marks a file or folder that this run could not process, so that the list lacks its photos.
    func leaveOut(_ reference: String) { leftOut.insert(Digest.of(reference.utf8)) }

    /// Calls the body with the line of each file that this run processed. The lines come in the order of the record.
    func forEachProcessed(_ body: (RecordLine) -> Void) {
        let present = positions.filter { seen.contains($0.key) && !leftOut.contains($0.key) }.values
        for position in present.sorted(by: { $0.offset < $1.offset }) {
            if let line = line(at: position) { body(line) }
        }
    }

    /// Calls the body with the line of each file that has left the folder.
    func forEachGone(_ body: (RecordLine) -> Void) {
        for position in gone { if let line = line(at: position) { body(line) } }
    }

    /// Calls the body with each outdated photo whose thumbnail the current photo does not use.
    func forEachSuperseded(_ body: (PublishedPhoto) -> Void) {
        for position in superseded {
            guard let line = line(at: position), let photo = line.photo,
                let current = positions[Digest.of(line.reference.utf8)].flatMap({ self.line(at: $0) }),
                current.reference == line.reference, current.photo?.thumbnail != photo.thumbnail
            else { continue }
            body(photo)
        }
    }

    /// Rewrites the record without outdated and damaged lines, if there are any.
    ///
    /// The revisions of photos that left come first, oldest first.
    ///
    /// - Parameter limit: the maximum number of these revisions, so that the record does not grow for ever.
    func tidy(rememberingAtMost limit: Int = 10_000) throws(PublishingError) {
        let gone = self.gone
        let remembered = gone.filter { line(at: $0)?.afterwards != nil }.suffix(limit)
        let isCurrent = remembered.count == gone.count && remembered.allSatisfy { line(at: $0)?.photo == nil }
        guard let folder, isUntidy || !isCurrent else { return }
        let new = try NewFile(in: folder, for: "record")
        for position in remembered {
            guard let line = line(at: position)?.afterwards else { continue }
            try new.write(line.text.utf8)
        }
        for (key, position) in positions.sorted(by: { $0.value.offset < $1.value.offset }) {
            guard seen.contains(key) || isLeftOut(position), let line = line(at: position) else { continue }
            try new.write(line.text.utf8)
        }
        try new.take(Self.name, mode: 0o600, syncing: true)
    }

    // MARK: -

    /// The positions of the lines of files that have left the folder, in the order of the record.
    private var gone: [Position] {
        positions.filter { !seen.contains($0.key) && !isLeftOut($0.value) }.values.sorted { $0.offset < $1.offset }
    }

    /// Returns whether this run could not process a line's file or a folder above the file.
    private func isLeftOut(_ position: Position) -> Bool {
        guard !leftOut.isEmpty, let path = line(at: position)?.reference.utf8 else { return false }
        let ends = path.indices.filter { path[$0] == UInt8(ascii: "/") } + [path.endIndex]
        return ends.contains { leftOut.contains(Digest.of(path[..<$0])) }
    }

    private func load() {
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        var open: [UInt8] = []
        while true {
            let count = piece.withUnsafeMutableBytes { reading.readAll(at: size, into: $0) }
            guard count > 0 else { break }
            var rest = piece[..<count]
            // Bound the memory for text that is not a line.
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
        setPosition(Position(offset: offset, length: Int32(bytes.count)), for: Digest.of(line.reference.utf8))
    }

    private func setPosition(_ position: Position, for key: UInt64) {
        if let before = positions.updateValue(position, forKey: key) {
            superseded.append(before)
            isUntidy = true
        }
    }

    private func line(at position: Position) -> RecordLine? {
        withUnsafeTemporaryAllocation(byteCount: Int(position.length), alignment: 1) { buffer in
            guard reading.readAll(at: position.offset, into: buffer) == buffer.count else { return nil }
            return RecordLine(buffer)
        }
    }

    private func openForWriting() throws(PublishingError) {
        guard writing < 0 else { return }
        guard let folder else { throw .file(path: Self.name, reason: "the thumbnail folder is missing") }
        writing = openat(
            folder.descriptor, Self.name, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard writing >= 0 else { throw failure }
        if reading < 0, let file = folder.file(Self.name) { reading = file }
        guard reading >= 0 else { throw failure }
    }

    private var failure: PublishingError { .failed((folder?.path ?? "") + "/" + Self.name) }
}

/// One line of the record: the state of a file, and the result of its processing.
///
/// Each line has its own digest, so the publisher notices a torn or damaged line, and processes only that file again.
struct RecordLine: Hashable, Sendable {
    enum Fate: Hashable, Sendable {
        /// The file is a photo of the gallery.
        case photo(PublishedPhoto)
        /// The file is no picture or has an unsupported format, according to a decoder of this edition. The revision is
        /// that of the gallery's former photo, if any.
        case other(format: String, decoder: String, revision: Int? = nil)
        /// A decoder of this edition cannot decode the picture, for this reason. The revision is as above.
        case failed(reason: String, decoder: String, revision: Int? = nil)
        /// The photo, of this revision, has left the gallery with its file.
        case gone(revision: Int)
    }

    /// The file's relative address; see ``PhotoPath/reference``.
    let reference: String
    let stamp: FileStamp
    let fate: Fate

    /// The length of the longest line, in bytes.
    static let longest = 1 << 14

    /// The line's text, with a line break at the end.
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
        case .other(let format, let decoder, let revision):
            ["other", PhotoPath.escaped(decoder), PhotoPath.escaped(format)] + Self.fields(revision)
        case .failed(let reason, let decoder, let revision):
            ["failed", PhotoPath.escaped(decoder), PhotoPath.escaped(reason)] + Self.fields(revision)
        case .gone(let revision): ["gone"] + Self.fields(revision)
        }
    }

    /// Returns the field of the revision; none if the file was no photo, or in lines of earlier versions.
    private static func fields(_ revision: Int?) -> [String] { revision.map { ["\($0)"] } ?? [] }
}

extension RecordLine {
    /// Parses a line without its line break; returns nil if the line is damaged.
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
                let date = Int64(fields[2]), let revision = revision(fields[3])
            else { return nil }
            return .photo(
                PublishedPhoto(
                    name: PercentEncoding.decode(fields[5]), date: Timestamp(milliseconds: date), revision: revision,
                    isCutShort: fields[4] == "cut", thumbnail: thumbnail, thumbnailSize: size))
        case ("other", 2...3):
            return .other(
                format: PercentEncoding.decode(fields[1]), decoder: PercentEncoding.decode(fields[0]),
                revision: revision(fields.dropFirst(2).first))
        case ("failed", 2...3):
            return .failed(
                reason: PercentEncoding.decode(fields[1]), decoder: PercentEncoding.decode(fields[0]),
                revision: revision(fields.dropFirst(2).first))
        case ("gone", 1): return revision(fields[0]).map { Fate.gone(revision: $0) }
        default: return nil
        }
    }

    /// Reads a revision. Its range keeps the next revision from overflowing.
    private static func revision(_ field: String?) -> Int? { field.flatMap { UInt32($0) }.map { Int($0) } }

    /// The photo, if the line describes a photo.
    var photo: PublishedPhoto? {
        if case .photo(let photo) = fate { photo } else { nil }
    }

    /// The revision of the present or former photo; nil if there was none.
    var revision: Int? {
        switch fate {
        case .photo(let photo): photo.revision
        case .other(_, _, let revision), .failed(_, _, let revision): revision
        case .gone(let revision): revision
        }
    }

    /// Returns the revision of the photo that the file now is.
    ///
    /// Viewers fetch a photo again when its revision changes. They may still have the photo of the line, even if the
    /// file was missing, empty or damaged meanwhile.
    func nextRevision(_ stamp: FileStamp) -> Int {
        guard let revision else { return 0 }
        return switch fate {
        // The stamp is the photo's. A photo whose thumbnail was lost, or whose file was missing, keeps its revision.
        case .photo, .gone: revision + (self.stamp == stamp ? 0 : 1)
        case .other, .failed: revision + 1
        }
    }

    /// The line to keep after the file has left; nil for none.
    var afterwards: RecordLine? {
        guard let photo else { return revision == nil ? nil : self }
        return RecordLine(reference: reference, stamp: stamp, fate: .gone(revision: photo.revision))
    }
}

/// Identifies a version of a file by the file's size and modification time.
///
/// The stamp leaves out the inode number, so that a folder copied with its times counts as unchanged. It leaves out the
/// contents, because reading a thousand photos, about 4 GB, would take longer than making their thumbnails.
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

/// A 64-bit digest that is not cryptographic. A collision costs some extra work and nothing else.
enum Digest {
    /// Returns the digest of some bytes. Mixing both halves of 128-bit products lets each input bit affect most output
    /// bits. The two constants are the fractional digits of π, the second made odd.
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

    /// Returns the digest as sixteen hexadecimal digits.
    static func text(_ digest: UInt64) -> String {
        let digits = String(digest, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func mixed(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let product = (state ^ word ^ 0x243F_6A88_85A3_08D3).multipliedFullWidth(by: 0x1319_8A2E_0370_7345)
        return product.high ^ product.low ^ (state << 29 | state >> 35)
    }
}
