import Concurrency
import Model
import Pictures

/// Makes a folder of photos a gallery: a list, `gallery.xml`, and `thumbnails/` beside it.
///
///     let publisher = try Publisher("/srv/www/lake", mask: mask, decoder: decoder, decoderEdition: "1", width: 4)
///     let report = try await publisher.run { event in print(event) }
///
/// Done again it looks at what has changed since, and at nothing else; where nothing has, it decodes nothing and writes
/// nothing. Cancelled, it ends after the photos at hand. Whatever ends it, the list is the one that was there before, whole
/// with its thumbnails, and the next run goes on.
///
/// The order in which things are written is what that rests on: thumbnails under names that nobody has; behind each a line of
/// the record; the list, when the disk has all thumbnails; then thumbnails go that no list names any more; and at last the
/// record's lines about those.
public actor Publisher {
    private let folder: OpenFolder
    private let list: ListFile
    private let record: PublishRecord
    private let photoWork: PhotoWork
    private let work: OrderedWork<PhotoWork.Outcome>
    private let room: Int
    private var thumbnails: ThumbnailFolder?
    /// Whether something was written into that, or may have been.
    private var isWriting = false
    /// How many pieces of work were given out.
    private var given = 0
    private var done = 0
    private var report = PublishReport()
    private let executor = QueueExecutor(label: "vitrine.publishing")

    /// How many files may be under way for each core: so that one large photo does not hold up the others.
    private static let roomForEach = 16

    /// A queue of its own: it reads and writes files, and waits for decoders.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Opens a folder, and reads what an earlier run remembered of it. Nothing is written yet.
    ///
    /// - Parameters:
    ///   - mask: what permissions the gallery's files get.
    ///   - decoderEdition: tells the decoder from an older or newer one. What one could not read is tried with the next.
    ///   - width: how many pictures to decode at once; one a core.
    public init(
        _ path: String, mask: CreationMask, decoder: DecoderClient, decoderEdition: String, width: Int
    ) throws(PublishingError) {
        folder = try OpenFolder(path, mask)
        try folder.lock()
        list = try ListFile(in: folder)
        let thumbnails = try folder.folder(ListText.thumbnails)
        record = PublishRecord(in: thumbnails)
        self.thumbnails = thumbnails.map(ThumbnailFolder.init)
        photoWork = PhotoWork(folder: folder, decoder: decoder, decoderEdition: decoderEdition)
        room = Self.roomForEach * max(1, width)
        work = OrderedWork(Workers(name: "publish", count: width), room: room)
    }

    /// Does it, and says what it comes to. Called once.
    ///
    /// - Parameter countsFirst: whether to find out how many files there are before, for the progress.
    public func run(
        countsFirst: Bool = false, _ onEvent: @Sendable (PublishEvent) -> Void = { _ in }
    ) throws(PublishingError) -> PublishReport {
        defer { folder.unlock() }
        let total = countsFirst ? try FolderWalk.count(folder) : nil
        onEvent(.progress(0, of: total))
        var walk = try FolderWalk(folder)
        try list.write(ListText.beginning)
        while !Task.isCancelled, let item = walk.next() {
            try give(item)
            while work.isFull, let outcome = work.next() { try settle(outcome, total, onEvent) }
        }
        while let outcome = work.next() { try settle(outcome, total, onEvent) }
        report.isInterrupted = Task.isCancelled
        if !report.isInterrupted { try finish(onEvent) }
        return report
    }

    // MARK: - Photos

    /// Gives a file out to be looked at, if it has to be.
    private func give(_ item: FolderWalk.Item) throws(PublishingError) {
        switch item {
        case .other: work.add(done: .other)
        case .unreadable(let path, let reason): work.add(done: .failed(path, reason: "\(reason)."))
        case .file(let path, let stamp):
            let known = path.canBePublished ? record.line(of: path.reference) : nil
            if let known, known.stamp == stamp, isStillSo(known) { return work.add(done: .unchanged(known)) }
            try giveOut(path, stamp, known)
        }
    }

    private func giveOut(_ path: PhotoPath, _ stamp: FileStamp, _ known: RecordLine?) throws(PublishingError) {
        do throws(PublishingError) {
            guard try photoWork.mayBePicture(path) else { return work.add(done: .other) }
        } catch {
            guard case .file(_, let reason) = error else { throw error }
            return work.add(done: .failed(path.text, reason: "\(reason)."))
        }
        guard path.canBePublished else {
            return work.add(done: .failed(path.text, reason: "Its path is too long for a gallery."))
        }
        let thumbnails = try openThumbnails()
        let place = given % room
        given += 1
        work.add { [photoWork] in photoWork.publish(path, stamp, known: known, in: thumbnails, place: place) }
    }

    /// Whether what is remembered of an unchanged file is to be had yet, or would be found again.
    private func isStillSo(_ line: RecordLine) -> Bool {
        switch line.fate {
        case .photo(let photo): thumbnails?.holds(photo) ?? false
        case .other(_, let decoder), .failed(_, let decoder): decoder == photoWork.decoderEdition
        }
    }

    /// Made only now, where there is something to put into it: so that a mistyped folder is left as it is, and one that
    /// cannot be written to is said before the work, and not after.
    private func openThumbnails() throws(PublishingError) -> ThumbnailFolder {
        if isWriting, let thumbnails { return thumbnails }
        let opened = ThumbnailFolder(try folder.makeFolder(ListText.thumbnails))
        try opened.sweep()
        // Whether both may be written to.
        for folder in [folder, opened.folder] { _ = try NewFile(in: folder, for: "trial") }
        (thumbnails, isWriting) = (opened, true)
        return opened
    }

    // MARK: - Outcomes

    private func settle(
        _ outcome: PhotoWork.Outcome, _ total: Int?, _ onEvent: (PublishEvent) -> Void
    ) throws(PublishingError) {
        switch outcome {
        case .unchanged(let line): try note(line, onEvent)
        case .looked(let line, let before):
            if let thumbnails { try record.append(line, in: thumbnails.folder) }
            if line.photo != nil {
                if before == nil { report.added += 1 } else { report.changed += 1 }
                let path = Self.path(line)
                onEvent(before == nil ? .added(path) : .changed(path))
            } else if before != nil {
                report.removed += 1
                onEvent(.removed(Self.path(line)))
            }
            try note(line, onEvent)
        case .other: report.others += 1
        case .failed(let path, let reason):
            report.failed += 1
            onEvent(.failed(path, reason: reason))
        case .halted(let error): throw error
        }
        done += 1
        onEvent(.progress(done, of: total))
    }

    private func note(_ line: RecordLine, _ onEvent: (PublishEvent) -> Void) throws(PublishingError) {
        switch line.fate {
        case .photo(let photo):
            report.photos += 1
            try list.write(ListText.text(of: photo, at: line.reference))
            if photo.isCutShort { onEvent(.cutShort(Self.path(line))) }
        case .other(let format, _):
            if format.isEmpty { report.others += 1 } else { report.unread[format, default: 0] += 1 }
        case .failed(let reason, _):
            report.failed += 1
            onEvent(.failed(Self.path(line), reason: reason))
        }
    }

    private static func path(_ line: RecordLine) -> String { PercentEncoding.decode(line.reference) }

    // MARK: - The end

    private func finish(_ onEvent: (PublishEvent) -> Void) throws(PublishingError) {
        guard report.photos > 0 || list.isThere else {
            if report.failed == 0 { throw .noPhotos(path: folder.path) }
            return
        }
        try list.write(ListText.end)
        if isWriting { try folder.syncAll() }
        report.isListNew = try list.finish()
        guard let thumbnails else { return }
        record.forEachSuperseded { thumbnails.remove($0) }
        record.forEachGone { line in
            guard let photo = line.photo else { return }
            thumbnails.remove(photo)
            report.removed += 1
            onEvent(.removed(Self.path(line)))
        }
        try record.tidy()
    }
}

/// Something that publishing a folder came to.
public enum PublishEvent: Equatable, Sendable {
    /// So many files have been looked at, of so many.
    case progress(Int, of: Int?)
    /// The gallery has a photo that it did not have; its path in the folder.
    case added(String)
    /// A photo is another than it was.
    case changed(String)
    /// The gallery has a photo no longer.
    case removed(String)
    /// A file is no part of the gallery; why.
    case failed(String, reason: String)
    /// A photo is part of the gallery, but its file ends before it does.
    case cutShort(String)
}

/// How publishing a folder went.
public struct PublishReport: Equatable, Sendable {
    /// Photos that the gallery has.
    public fileprivate(set) var photos = 0
    /// Those of them that it did not have before.
    public fileprivate(set) var added = 0
    /// Those of them that were others before, or whose thumbnails were lost.
    public fileprivate(set) var changed = 0
    /// Photos that it had before.
    public fileprivate(set) var removed = 0
    /// Files that could not be looked at, or are pictures that cannot be decoded.
    public fileprivate(set) var failed = 0
    /// Files that are no pictures.
    public fileprivate(set) var others = 0
    /// Pictures of formats that are not read, by the format's name.
    public fileprivate(set) var unread: [String: Int] = [:]
    /// Whether the list is another than it was.
    public fileprivate(set) var isListNew = false
    /// Whether it was ended before it was done. The gallery is then as it was.
    public fileprivate(set) var isInterrupted = false
}

/// Why a folder could not be made a gallery.
public enum PublishingError: Error, Equatable, CustomStringConvertible {
    /// The folder, or a file in it, cannot be read or written; the system's reason.
    case file(path: String, reason: String)
    /// There is a list of another making. It is the user's, and is left as it is.
    case notOurs(path: String)
    /// Somebody else is at work on the folder.
    case locked(path: String)
    /// No picture can be decoded; why.
    case decoder(reason: String)
    /// There is no picture in the folder, and never was one.
    case noPhotos(path: String)

    /// A sentence for the user.
    public var description: String {
        switch self {
        case .file(let path, let reason): "\(path): \(reason)."
        case .notOurs(let path):
            "\(path) is there already and was not made by “vitrine publish”; it is left as it is. "
                + "Move it away, and publish again."
        case .locked(let path): "\(path) is just being published by another Vitrine."
        case .decoder(let reason): reason
        case .noPhotos(let path): "\(path) holds no photos; no gallery is made."
        }
    }
}
