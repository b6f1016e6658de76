import Concurrency
import Model
import Pictures

/// Turns a folder of photos into a gallery: `gallery.xml` and `thumbnails/`.
///
///     let publisher = try Publisher("/srv/www/lake", mask: mask, decoder: decoder, decoderEdition: "1", width: 4)
///     let report = try await publisher.run { event in print(event) }
///
/// A later run processes only changed files; without changes, the run decodes and writes nothing. A cancelled run ends
/// after the photos in progress. However a run ends, the old list and its thumbnails stay intact, and the next run
/// continues.
///
/// The order of writes ensures this. First come thumbnails under unused names, each followed by a line in the record.
/// The list follows when all thumbnails are on the disk. Then Vitrine removes unused thumbnails, and finally their
/// lines in the record.
public actor Publisher {
    private let folder: OpenFolder
    private let list: ListFile
    private let record: PublishRecord
    private let photoWork: PhotoWork
    private let work: OrderedWork<PhotoWork.Outcome>
    private let capacity: Int
    private var thumbnails: ThumbnailFolder?
    /// Whether this run may have written to the thumbnail folder.
    private var isWriting = false
    /// The number of files whose work has started.
    private var given = 0
    private var done = 0
    private var report = PublishReport()
    /// The published files, which the caller reads after a run. Nil if there is no gallery or the run did not end.
    public private(set) var gallery: PublishedGallery?
    private let executor = QueueExecutor(label: "vitrine.publishing")

    /// The maximum number of files in progress for each core. Many files in progress keep one large photo from delaying
    /// the others.
    private static let capacityPerCore = 16

    /// The actor's own queue, because the publisher reads and writes files and waits for decoders.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Opens a folder and reads the record of an earlier run. This call writes nothing.
    ///
    /// - Parameters:
    ///   - mask: the permissions of the gallery's files.
    ///   - decoderEdition: identifies the decoder's version. A new version retries files that failed.
    ///   - width: the number of pictures to decode at once; one per core.
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
        capacity = Self.capacityPerCore * max(1, width)
        work = OrderedWork(Workers(name: "publish", count: width), capacity: capacity)
    }

    /// Publishes the folder and returns the totals. Call this method once.
    ///
    /// - Parameters:
    ///   - countsFirst: whether to count the files first, for progress.
    ///   - collectsFiles: whether to set ``gallery`` at the end.
    public func run(
        countsFirst: Bool = false, collectsFiles: Bool = false, _ onEvent: @Sendable (PublishEvent) -> Void = { _ in }
    ) throws(PublishingError) -> PublishReport {
        defer { folder.unlock() }
        let total = countsFirst ? try FolderWalk.count(folder) : nil
        onEvent(.progress(0, of: total))
        var walk = try FolderWalk(folder)
        try list.write(ListText.beginning)
        while !Task.isCancelled, let item = walk.next() {
            try process(item)
            while work.isFull, let outcome = work.next() { try handle(outcome, total, onEvent) }
        }
        while let outcome = work.next() { try handle(outcome, total, onEvent) }
        report.isInterrupted = Task.isCancelled
        if !report.isInterrupted { try finish(collectsFiles: collectsFiles, onEvent) }
        return report
    }

    // MARK: - Photos

    /// Starts work for a file, unless the record already has a valid result.
    private func process(_ item: FolderWalk.Item) throws(PublishingError) {
        switch item {
        case .other: work.add(done: .other)
        case .unreadable(let path, let reason): work.add(done: .failed(path, reason: "\(reason)."))
        case .file(let path, let stamp):
            let known = path.canBePublished ? record.line(of: path.reference) : nil
            if let known, known.stamp == stamp, isStillValid(known) { return work.add(done: .unchanged(known)) }
            try startWork(path, stamp, known)
        }
    }

    private func startWork(_ path: PhotoPath, _ stamp: FileStamp, _ known: RecordLine?) throws(PublishingError) {
        do throws(PublishingError) {
            guard try photoWork.mayBePicture(path) else {
                return work.add(done: photoWork.noPicture(path, stamp, known: known))
            }
        } catch {
            guard case .file(_, let reason) = error else { throw error }
            return work.add(done: .failed(path.text, reason: "\(reason)."))
        }
        guard path.canBePublished else {
            return work.add(done: .failed(path.text, reason: "The photo’s path is too long for a gallery."))
        }
        let thumbnails = try openThumbnails()
        let slot = given % capacity
        given += 1
        work.add { [photoWork] in photoWork.publish(path, stamp, known: known, in: thumbnails, slot: slot) }
    }

    /// Returns whether the recorded result of an unchanged file still holds. This is so if the thumbnail exists, or if
    /// the same decoder edition rejected the file.
    private func isStillValid(_ line: RecordLine) -> Bool {
        switch line.fate {
        case .photo(let photo): thumbnails?.holds(photo) ?? false
        case .other(_, let decoder, _), .failed(_, let decoder, _): decoder == photoWork.decoderEdition
        case .gone: false
        }
    }

    /// Opens the thumbnail folder for writing, and creates it if missing. The publisher calls this when a photo first
    /// needs the folder. So a folder that the user mistyped stays untouched, and the user learns of a read-only folder
    /// before the work begins.
    private func openThumbnails() throws(PublishingError) -> ThumbnailFolder {
        if isWriting, let thumbnails { return thumbnails }
        let opened = ThumbnailFolder(try folder.makeFolder(ListText.thumbnails))
        try opened.removeUnfinished()
        // Check that both folders are writable.
        for folder in [folder, opened.folder] { _ = try NewFile(in: folder, for: "trial") }
        (thumbnails, isWriting) = (opened, true)
        return opened
    }

    // MARK: - Outcomes

    private func handle(
        _ outcome: PhotoWork.Outcome, _ total: Int?, _ onEvent: (PublishEvent) -> Void
    ) throws(PublishingError) {
        switch outcome {
        case .unchanged(let line): try writeResult(line, onEvent)
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
            try writeResult(line, onEvent)
        case .other: report.others += 1
        case .failed(let path, let reason):
            record.leaveOut(PhotoPath(path).reference)
            report.failed += 1
            onEvent(.failed(path, reason: reason))
        case .halted(let error): throw error
        }
        done += 1
        onEvent(.progress(done, of: total))
    }

    private func writeResult(_ line: RecordLine, _ onEvent: (PublishEvent) -> Void) throws(PublishingError) {
        switch line.fate {
        case .photo(let photo):
            report.photos += 1
            try list.write(ListText.text(of: photo, at: line.reference))
            if photo.isCutShort { onEvent(.cutShort(Self.path(line))) }
        case .other(let format, _, _):
            if format.isEmpty { report.others += 1 } else { report.unread[format, default: 0] += 1 }
        case .failed(let reason, _, _):
            report.failed += 1
            onEvent(.failed(Self.path(line), reason: reason))
        // A file that is there has another line.
        case .gone: break
        }
    }

    private static func path(_ line: RecordLine) -> String { PercentEncoding.decode(line.reference) }

    // MARK: - Finishing

    private func finish(
        collectsFiles: Bool, _ onEvent: (PublishEvent) -> Void
    ) throws(PublishingError) {
        guard report.photos > 0 || list.isThere else {
            if report.failed == 0 { throw .noPhotos(path: folder.path) }
            return
        }
        try list.write(ListText.end)
        if isWriting { try folder.syncAll() }
        report.isListNew = try list.finish()
        if collectsFiles { gallery = try PublishedGallery(folder, thumbnails?.folder, record) }
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

/// An event while Vitrine publishes a folder.
public enum PublishEvent: Equatable, Sendable {
    /// The number of files processed, and the total if known.
    case progress(Int, of: Int?)
    /// A new photo, with its path in the folder.
    case added(String)
    /// A changed photo, with its path in the folder.
    case changed(String)
    /// A photo that left the gallery, with its path in the folder.
    case removed(String)
    /// A file that is not part of the gallery, and the reason.
    case failed(String, reason: String)
    /// A photo of the gallery whose file is truncated, with its path.
    case cutShort(String)
}

/// The totals of a run.
public struct PublishReport: Equatable, Sendable {
    /// The number of photos in the gallery.
    public fileprivate(set) var photos = 0
    /// The number of new photos.
    public fileprivate(set) var added = 0
    /// The number of photos that have changed or whose thumbnails were missing.
    public fileprivate(set) var changed = 0
    /// The number of photos that left the gallery.
    public fileprivate(set) var removed = 0
    /// The number of files that could not be read, and pictures that could not be decoded.
    public fileprivate(set) var failed = 0
    /// The number of files that are not pictures.
    public fileprivate(set) var others = 0
    /// The number of pictures in unsupported formats, by the name of the format.
    public fileprivate(set) var unread: [String: Int] = [:]
    /// Whether the run changed the list.
    public fileprivate(set) var isListNew = false
    /// Whether the run was interrupted. An interrupted run leaves the gallery unchanged.
    public fileprivate(set) var isInterrupted = false
}

/// An error that prevents publishing a folder.
public enum PublishingError: Error, Equatable, CustomStringConvertible {
    /// The system cannot read or write the folder or a file in it, for this reason.
    case file(path: String, reason: String)
    /// The folder has a list that another program made. The list belongs to the user and stays.
    case notOurs(path: String)
    /// Another program is publishing the folder.
    case locked(path: String)
    /// The decoder does not work, for this reason.
    case decoder(reason: String)
    /// The folder has no pictures and never had any.
    case noPhotos(path: String)
    /// The file has changed since it was published.
    case changed(path: String)

    /// The error as a sentence for the user.
    public var description: String {
        switch self {
        case .file(let path, let reason): "\(path): \(reason)."
        case .notOurs(let path):
            "\(path) exists, but “vitrine publish” did not make the file and does not change it. "
                + "Move the file away and publish again."
        case .locked(let path): "Another Vitrine process is publishing \(path)."
        case .decoder(let reason): reason
        case .noPhotos(let path): "\(path) contains no photos, so Vitrine made no gallery."
        case .changed: "The file changed while Vitrine published it. Publish again."
        }
    }
}
