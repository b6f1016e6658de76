import Cache
import Concurrency
import Files
import Glibc
import Model
import Session
import Text

/// Copies photos from a gallery's cache into a folder.
///
///     let export = try PhotoExport(
///         keys, of: cache, to: "/home/me/lake", mask: mask, wishes: wishes, retries: retries)
///     let report = try await export.run { event in print(event.result) }
///
/// The export has no network access. For each missing photo it registers a wish, as the screens do. The network
/// controller then fetches the photo into the cache. At any time there are wishes for only a few photos, in the order
/// of the keys. A cancelled export stops after the current photo and reports the result. So does an export to a disk
/// that is full or gone. Another export to the same folder continues, and does not copy photos that the folder already
/// has. It does not fetch them either, if the cache has dropped them since it made these copies.
public actor PhotoExport {
    /// The result for one photo.
    public struct Event: Sendable {
        /// The photo as read from the cache; nil if the gallery no longer has the photo.
        public let photo: Photo?
        /// The path of the exported file, or the error.
        public let result: Result<String, ExportError>
        /// The number of photos processed so far.
        public let number: Int

        /// Returns the failure to report: the one that stopped the export, or else the first one.
        ///
        /// - Parameter former: the failure to report before this event; nil if there was none.
        public func failure(after former: String?) -> String? {
            guard case .failure(let error) = result, former == nil || error.stopsExport else { return former }
            return photo.map { "“\($0.name.madeVisible)”: \(error)" } ?? "\(error)"
        }
    }

    /// The totals of an export.
    public struct Report: Equatable, Sendable {
        /// The number of photos now in the folder, including photos of earlier exports.
        public fileprivate(set) var exported = 0
        /// The number of photos that Vitrine could not fetch or write.
        public fileprivate(set) var failed = 0
        /// The number of photos that the export has not saved because it stopped.
        public fileprivate(set) var left = 0

        /// Returns the result in one or two sentences for the user.
        ///
        /// - Parameters:
        ///   - name: the name of a single photo.
        ///   - count: the number of photos to export.
        ///   - failure: the failure to report; nil if no photo failed.
        public func sentence(_ name: String, of count: Int, to folder: String, failure: String?) -> String {
            let folder = folder.madeVisible
            guard failed > 0 || left > 0 else {
                return "Saved \(count == 1 ? name : CountText.text(count, "photo")) to \(folder)."
            }
            if count == 1, let failure { return failure }
            if count == 1 { return "\(name): not saved yet; save again to continue." }
            var sentences = ["Saved \(exported) of \(CountText.text(count, "photo")) to \(folder)."]
            if let failure { sentences.append((failed > 1 ? "\(failed) failed. " : "") + failure) }
            if left > 0 { sentences.append("\(left) not saved yet; save again to continue.") }
            return sentences.joined(separator: " ")
        }
    }

    private let cache: GalleryCache
    private let folder: ExportFolder
    private let wishes: Wishes
    private let mayFetch: @Sendable (PhotoKey) -> Bool
    /// The retries of requests; nil if the program fetches no photos.
    private let retries: RetryWatch?
    private let mayTryAgain: @Sendable () async -> Bool
    private let keys: [PhotoKey]
    private var pending: ArraySlice<PhotoKey>
    /// The photos that the export has started to fetch or copy, in order.
    private var awaited: [Awaited] = []
    /// The number of processed photos with each title.
    private var titles: [String: Int] = [:]
    /// The file names that this export has used.
    private var names: Set<String> = []
    /// The numbered files of earlier exports.
    private var numbered: NumberedFiles
    /// Whether the folder's file system, such as that of a USB stick, has refused a name.
    private var needsPortableNames = false
    private var report = Report()
    /// The copies whose description the cache does not have yet.
    private var copies: [PhotoKey: ExportedCopy] = [:]
    /// Whether the folder accepts no more photos.
    private var isRefused = false
    private let executor = QueueExecutor(label: "vitrine.export")

    private struct Awaited {
        let key: PhotoKey
        /// The number of times that the export has requested this photo.
        var attempts = 0
        /// Whether the export can copy the photo, or report its failure, without another request.
        var isReady = false
        /// The name of the photo's copy from an earlier export, if the cache has no current file; nil for none.
        var copy: String?
        /// The failure of an earlier request for the photo; nil for none.
        var formerFailure: FailureReport?
    }

    /// The maximum number of photos in progress at a time. The number suffices to keep any network connection busy.
    private static let width = 16

    /// The actor's own queue, because reading and writing files blocks a thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Prepares to copy photos.
    ///
    /// - Parameters:
    ///   - folder: the destination; created if missing.
    ///   - mask: the permissions of new files, and of the folder if it is new.
    ///   - mayFetch: returns whether the program may fetch a photo. If not, a missing photo fails.
    ///   - retries: the retries of requests; nil if the program fetches no photos. Missing photos then fail.
    ///   - mayTryAgain: called after a failed fetch. Returns true if a retry may succeed, such as after a password was
    ///     found.
    public init(
        _ keys: [PhotoKey], of cache: GalleryCache, to folder: String, mask: CreationMask, wishes: Wishes,
        mayFetch: @escaping @Sendable (PhotoKey) -> Bool = { _ in true }, retries: RetryWatch?,
        mayTryAgain: @escaping @Sendable () async -> Bool = { false }
    ) throws(ExportError) {
        (self.cache, self.wishes, self.retries, pending) = (cache, wishes, retries, keys[...])
        (self.keys, self.mayFetch) = (keys, mayFetch)
        self.mayTryAgain = mayTryAgain
        let folder = try ExportFolder(folder, mask)
        (self.folder, numbered) = (folder, NumberedFiles(folder))
    }

    /// Copies the photos and reports each result.
    public func run(_ onEvent: @Sendable (Event) -> Void = { _ in }) async throws -> Report {
        defer {
            for photo in awaited {
                wishes.stop(subject(photo.key))
                wishes.release(subject(photo.key))
            }
        }
        // A wish disappears when it is fulfilled or has failed for good. A wish that waits for a retry has a failure.
        let (snapshots, turns) = (wishes.snapshots(), CoalescingStream<Signal>())
        let listening = Task { for await _ in snapshots { turns.send(Signal()) } }
        let relay = retries?.relay { turns.send(Signal()) }
        defer {
            listening.cancel()
            withExtendedLifetime(relay) {}
        }
        try await advance(onEvent)
        while !awaited.isEmpty, !isRefused, await turns.next() != nil { try await advance(onEvent) }
        report.left = awaited.count + pending.count
        return report
    }

    /// Returns the arguments of `vitrine export` that continue the export. Returns nil if no photo is left.
    ///
    /// Call this method after ``run(_:)``, and only for arguments that you use. It may read the ids of all photos.
    public func rest() throws -> ExportRest? {
        var left = KeySet()
        for photo in awaited { left.insert(photo.key) }
        for key in pending { left.insert(key) }
        return left.isEmpty ? nil : try ExportRest(keys, left: left, of: cache, folder: folder.path)
    }

    /// Copies all photos that are ready, and requests the next photos. Copies follow the order of the keys, so that
    /// photos with the same title get the numbers in their names in this order.
    private func advance(_ onEvent: (Event) -> Void) async throws {
        repeat {
            try wishForAwaited()
            while !isStopped, let first = awaited.first, first.isReady || isFirstHopeless {
                let photo = try cache.read { try $0.photo(first.key) }
                if first.copy == nil, photo?.original.trouble != nil, await mayTryAgain() {
                    awaited = awaited.map { $0.copy == nil ? Awaited(key: $0.key) : $0 }
                    try wishForAwaited()
                } else {
                    awaited.removeFirst()
                    if !first.isReady { wishes.stop(subject(first.key)) }
                    try await settle(photo, first, onEvent)
                }
            }
            await storeCopies()
        } while takeUp()
    }

    /// Describes the new copies in the cache. Copies for another program need no description.
    private func storeCopies() async {
        guard !copies.isEmpty, retries != nil, cache.trouble == nil else { return }
        let new = copies
        copies = [:]
        // If this call fails, the next export fetches photos that have left the cache.
        try? await cache.writer.store(new)
    }

    private var isStopped: Bool { Task.isCancelled || isRefused }

    /// Moves pending photos to the awaited photos, up to the limit. Returns whether it moved a photo.
    private func takeUp() -> Bool {
        let more = isStopped ? [] : pending.prefix(Self.width - awaited.count)
        pending = pending.dropFirst(more.count)
        awaited += more.map { Awaited(key: $0) }
        // A fetched photo may wait for earlier photos to be copied, and must not leave the cache meanwhile.
        for key in more { wishes.hold(subject(key)) }
        return !more.isEmpty
    }

    private func wishForAwaited() throws {
        for index in awaited.indices where !awaited[index].isReady { try wish(for: &awaited[index]) }
    }

    /// Requests a photo unless it is already cached or cannot be fetched. If the user has skipped the requested photo,
    /// the export continues without it.
    private func wish(for awaited: inout Awaited) throws {
        guard awaited.attempts == 0 || !wishes.isStanding(subject(awaited.key)) else { return }
        let photo = try cache.read { try $0.photo(awaited.key) }
        if awaited.attempts == 0, let photo, !photo.original.isCurrent {
            awaited.copy = try knownCopy(of: photo)
            awaited.isReady = awaited.copy != nil
            if awaited.isReady { return }
        }
        guard let retries, let photo, photo.original.isWanting, awaited.attempts < Self.attempts(photo),
            mayFetch(photo.key), awaited.attempts == 0 || !wishes.isDeclined(subject(photo.key))
        else {
            awaited.isReady = true
            return
        }
        awaited.attempts += 1
        awaited.formerFailure = retries.failure(of: subject(awaited.key))
        wishes.ask(for: subject(awaited.key), importance: .near)
    }

    /// Whether the first photo keeps failing while no other photo arrives.
    ///
    /// A request of the browser may wait hours for its next attempt. Photos that are ready, cached ones included, do
    /// not wait that long. If none is ready, the server may be down. Then the export waits until the server answers.
    private var isFirstHopeless: Bool {
        guard let retries else { return false }
        let areSettled = awaited.allSatisfy {
            $0.isReady || retries.isFarAway(subject($0.key), after: $0.formerFailure)
        }
        return areSettled && (awaited.contains(where: \.isReady) || pending.isEmpty && report.exported > 0)
    }

    private func settle(_ photo: Photo?, _ awaited: Awaited, _ onEvent: (Event) -> Void) async throws {
        let key = awaited.key
        if let photo { titles[photo.name.lowercased(), default: 0] += 1 }
        let result: Result<String, ExportError> = try {
            defer { wishes.release(subject(key)) }
            if photo != nil, let copy = awaited.copy { return .success(folder.path + "/" + copy) }
            return try export(photo, key)
        }()
        switch result {
        case .success:
            report.exported += 1
            if retries != nil, photo?.isRemoteVideo == true, mayFetch(key) { await removeLarge(key) }
        case .failure(let error) where error.stopsExport:
            // Requests for further photos would be in vain. The photo is not saved yet, like the photos after it.
            isRefused = true
            pending.insert(key, at: pending.startIndex)
        case .failure: report.failed += 1
        }
        onEvent(Event(photo: photo, result: result, number: report.exported + report.failed))
    }

    /// Removes a large exported video from the cache. A video that another wish needs stays.
    private func removeLarge(_ key: PhotoKey) async {
        guard !wishes.isWanted(subject(key)) else { return }
        // The exported copy is complete. If this call fails, cleaning removes the video from the cache later.
        _ = try? await cache.writer.dropLargePhoto(key)
    }

    private func subject(_ key: PhotoKey) -> Wish.Subject { .picture(cache.id, key, .original) }

    /// Returns the maximum number of requests for a photo. Further requests help only if the gallery announces a newer
    /// edition of the photo during a fetch.
    private static func attempts(_ photo: Photo) -> Int { photo.original.trouble == nil ? 3 : 1 }

    private func export(_ photo: Photo?, _ key: PhotoKey) throws -> Result<String, ExportError> {
        guard let photo else { return .failure(.gone) }
        let opened: (file: Int32, stored: StoredPhoto)?
        do { opened = try openFile(of: key) } catch let error as ExportError { return .failure(error) }
        // If the newer edition cannot be fetched, export the older one.
        guard let (file, stored) = opened else { return .failure(.unavailable(reason(photo))) }
        defer { close(file) }
        do throws(ExportError) {
            let head = try Self.beginning(of: file, at: cache.files.path(stored))
            let name = ExportName(photo, PictureSignature(head), VideoSignature(head))
            let path = try put(file, as: name, of: photo)
            if stored.original == nil { copies[key] = ExportedCopy(of: stored, ending: name.kind) }
            return .success(path)
        } catch {
            return .failure(error)
        }
    }

    /// Copies a photo's file into the folder. Returns the path of the copy.
    private func put(_ file: Int32, as name: ExportName, of photo: Photo) throws(ExportError) -> String {
        let chosen = needsPortableNames ? name.portable : name
        do throws(ExportError) {
            if let former = formerCopy(of: file, as: chosen, photo) { return folder.path + "/" + former }
            return try folder.path + "/" + copy(file, as: chosen, photo)
        } catch {
            guard case .name = error, !needsPortableNames, name.portable != name else { throw error }
        }
        needsPortableNames = true
        return try put(file, as: name, of: photo)
    }

    /// Returns the name of a copy that the folder has. Returns nil if it has none.
    ///
    /// The photo may have had another number in an earlier export: the dates may have changed since then, or photos with
    /// the same title may have come or gone.
    private func formerCopy(of file: Int32, as name: ExportName, _ photo: Photo) -> String? {
        guard let size = OriginalFile(file)?.size else { return nil }
        return formerCopy(as: [name.numbered(number(of: photo)), name], size: size) { other in
            (try? ExportFolder.areEqual(file, other)) == true
        }
    }

    /// Returns the name of an uncached photo's copy. Returns nil if the folder does not have the current edition.
    private func knownCopy(of photo: Photo) throws -> String? {
        guard let known = try cache.read({ try $0.exportedCopy(of: photo.key) }),
            known.edition == photo.original.edition, let name = ExportName(photo, ending: known.ending)
        else { return nil }
        for name in [name, name.portable] {
            if let former = formerCopy(as: [name], size: known.size, isSought: known.isSame) { return former }
        }
        return nil
    }

    /// Returns the name of the first unused file that passes a test. Returns nil if the folder has none.
    ///
    /// - Parameter likely: the names to try first. The numbered files with the last of these names follow.
    private func formerCopy(as likely: [ExportName], size: Int64, isSought: (Int32) -> Bool) -> String? {
        func isFound(_ name: String) -> Bool {
            !names.contains(name.lowercased()) && folder.has(name, where: isSought)
        }
        let found =
            likely.lazy.map(\.text).first { isFound($0) }
            ?? likely.last.flatMap { numbered.names($0, size: size, in: folder).first { isFound($0) } }
        if let found { names.insert(found.lowercased()) }
        return found
    }

    /// Copies a photo's file to a name that the export has not used. Photos with the same title get the next numbers.
    private func copy(_ file: Int32, as name: ExportName, _ photo: Photo) throws(ExportError) -> String {
        var number = number(of: photo)
        while true {
            let candidate = name.numbered(number)
            if names.insert(candidate.folded).inserted {
                do throws(ExportError) {
                    _ = try folder.put(file, as: candidate.text, date: photo.date)
                    return candidate.text
                } catch {
                    guard case .exists = error, number > 1 || isNameShared(photo) else { throw error }
                }
            }
            number += 1
        }
    }

    /// Returns the number of a photo among the photos with the same title that the export has processed.
    private func number(of photo: Photo) -> Int { titles[photo.name.lowercased()] ?? 1 }

    /// Whether the file with the photo's name may be another photo of the gallery.
    private func isNameShared(_ photo: Photo) -> Bool {
        (try? cache.read { try $0.isNameShared(photo.key) }) == true
    }

    /// Opens a photo's file. Tries again if a newer edition of the photo has just replaced the file.
    private func openFile(of key: PhotoKey) throws -> (file: Int32, stored: StoredPhoto)? {
        for _ in 0..<3 {
            guard let stored = try cache.read({ try $0.photoFile(of: key) }) else { return nil }
            do throws(SystemError) {
                return (try cache.files.open(stored), stored)
            } catch {
                guard error.code == ENOENT else {
                    throw ExportError.file(path: cache.files.path(stored), reason: "\(error)")
                }
            }
        }
        return nil
    }

    private static func beginning(of file: Int32, at path: String) throws(ExportError) -> [UInt8] {
        do throws(SystemError) {
            return try OpenFile.beginning(of: file, count: PictureSignature.length)
        } catch {
            throw .file(path: path, reason: "\(error)")
        }
    }

    private func reason(_ photo: Photo) -> String {
        if wishes.isDeclined(subject(photo.key)) { return "you skipped it" }
        // The cache may not have recorded the latest failure yet.
        let failure = photo.original.trouble?.failure ?? retries?.failure(of: subject(photo.key))?.failure
        return failure?.reason ?? "Vitrine has not fetched the photo"
    }
}

/// The arguments of `vitrine export` that continue a stopped export.
///
/// The continued export gives files the same names as the stopped export would have given them.
public struct ExportRest: Equatable, Sendable {
    /// The address of the gallery that has the photos.
    public let gallery: Address
    /// The destination folder.
    public let folder: String
    /// The ids of the photos to export; empty for all photos of the gallery.
    public let ids: [String]

    /// A photo of the export.
    private struct Entry {
        let key: PhotoKey
        let id: String
        /// The photo's file name without the ending, which depends on the file's format. Photos with equal titles may
        /// get colliding file names.
        let title: String

        init(key: PhotoKey, id: String, name: String) {
            (self.key, self.id) = (key, id)
            // Portable names collide more often than others. It suffices that this type notices all collisions.
            let name = ExportName(named: name, id: id, nil).portable.folded
            guard let dot = name.lastIndex(of: "."), dot > name.startIndex else {
                title = name
                return
            }
            title = String(name[..<dot])
        }
    }

    /// Determines the arguments. Returns nil if the gallery has none of the unprocessed photos.
    ///
    /// - Parameters:
    ///   - keys: all photos of the export, in order.
    ///   - left: the photos that the export did not process.
    init?(_ keys: [PhotoKey], left: KeySet, of cache: GalleryCache, folder: String) throws {
        guard let ids = try cache.read({ try Self.ids(keys, left, $0) }) else { return nil }
        (gallery, self.folder, self.ids) = (cache.address, folder, ids)
    }

    private static func ids(_ keys: [PhotoKey], _ left: KeySet, _ reader: CacheReader) throws -> [String]? {
        // The export of a part of the gallery has fewer photos. Photos may also have left the gallery meanwhile.
        let all = try reader.gallery().photoCount <= keys.count ? reader.allKeys() : nil
        if keys == all { return left.isEmpty ? nil : [] }
        var photos: [Entry] = []
        try reader.forEachName(of: keys) { photos.append(Entry(key: $0, id: $1, name: $2)) }
        let rest = photos.filter { left.contains($0.key) }
        guard !rest.isEmpty else { return nil }
        if let all, isWholeGallery(photos, all) { return [] }
        // Photos with the same title are numbered in the order of the command. If one is exported and another is left,
        // pass all photos; exported ones are not copied again.
        let there = Set(photos.lazy.filter { !left.contains($0.key) }.map(\.title))
        return (rest.contains { there.contains($0.title) } ? photos : rest).map(\.id)
    }

    /// Returns whether the command without ids would export the same photos under the same names.
    ///
    /// - Parameter all: all photos of the gallery, oldest first.
    private static func isWholeGallery(_ photos: [Entry], _ all: [PhotoKey]) -> Bool {
        guard photos.count == all.count else { return false }
        if photos.lazy.map(\.key).elementsEqual(all) { return true }
        var keys = KeySet()
        for photo in photos { keys.insert(photo.key) }
        return all.allSatisfy { keys.contains($0) } && Set(photos.lazy.map(\.title)).count == photos.count
    }
}

/// An error that prevents the export of a photo.
public enum ExportError: Error, Equatable, CustomStringConvertible {
    /// The system cannot read, create or write a file or folder.
    case file(path: String, reason: String)
    /// The folder accepts no more files, for example because the disk is full.
    case unusable(path: String, reason: String)
    /// The file system does not allow the file's name.
    case name(path: String)
    /// A different file with this name exists. The file belongs to the user and stays.
    case exists(path: String)
    /// The gallery no longer has the photo.
    case gone
    /// The photo is not in the cache, for this reason.
    case unavailable(String)

    /// Whether further photos would fail, too.
    var stopsExport: Bool { if case .unusable = self { true } else { false } }

    /// The error as a sentence for the user.
    public var description: String {
        switch self {
        case .file(let path, let reason), .unusable(let path, let reason): "\(path): \(reason)."
        case .name(let path): "\(path): the file system does not allow this name."
        case .exists(let path): "\(path) already exists with different content. Vitrine did not overwrite it."
        case .gone: "The photo is no longer in the gallery."
        case .unavailable(let reason): "The photo is not in the cache: \(reason)."
        }
    }
}
