import Cache
import Concurrency
import Glibc
import Model
import Session

/// Copies photos out of a gallery's cache into a folder, and wishes for those that are not there.
///
///     let export = try PhotoExport(keys, of: cache, to: "/home/me/lake", mask: mask, wishes: wishes)
///     let report = try await export.run { event in print(event.result) }
///
/// It has no network and knows of none: it asks for what is missing as screens do, and looks into the cache. A few photos
/// are wished for at a time, in the order in which they were named. Cancelled, it stops after the photo at hand, and reports.
/// Done once more it goes on: what is there already is not copied again.
public actor PhotoExport {
    /// What became of one photo.
    public struct Event: Sendable {
        /// The photo, as the cache knew it; nil if it does not any more.
        public let photo: Photo?
        /// Where it is now, or why it is not.
        public let result: Result<String, ExportError>
        /// How many it has come to by now.
        public let number: Int
    }

    /// How it went.
    public struct Report: Equatable, Sendable {
        /// Photos that are in the folder now, those included that had been there before.
        public fileprivate(set) var exported = 0
        /// Photos that could not be had, or not be written.
        public fileprivate(set) var failed = 0
        /// Photos that it has not come to.
        public fileprivate(set) var left = 0
        /// How to go on with those; nil if there are none.
        public fileprivate(set) var rest: ExportRest?
    }

    private let cache: GalleryCache
    private let folder: ExportFolder
    private let wishes: Wishes
    private let mayFetch: Bool
    private let mayTryAgain: @Sendable () async -> Bool
    private let keys: [PhotoKey]
    private var pending: ArraySlice<PhotoKey>
    /// What is wished for, in order.
    private var awaited: [Awaited] = []
    /// How many photos of each title it has come to.
    private var titles: [String: Int] = [:]
    /// Names that photos of this export have.
    private var names: Set<String> = []
    private var report = Report()
    private let executor = QueueExecutor(label: "vitrine.export")

    private struct Awaited {
        let key: PhotoKey
        /// How often it was wished for.
        var attempts = 0
        /// Whether nothing more can be done for it, but to copy it, or to say why not.
        var isReady = false
    }

    /// So many are wished for at a time: enough to keep any link busy.
    private static let width = 16

    /// A queue of its own: it reads and writes files.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Prepares to copy photos.
    ///
    /// - Parameters:
    ///   - folder: is made if it is not there.
    ///   - mask: what permissions the files get, and the folder if it is made.
    ///   - mayFetch: whether somebody fulfils wishes. If not, what is not here has failed.
    ///   - mayTryAgain: asked when a photo could not be had, whether that is different now: a password has been found.
    public init(
        _ keys: [PhotoKey], of cache: GalleryCache, to folder: String, mask: CreationMask, wishes: Wishes,
        mayFetch: Bool = true,
        mayTryAgain: @escaping @Sendable () async -> Bool = { false }
    ) throws(ExportError) {
        (self.cache, self.wishes, self.mayFetch, pending) = (cache, wishes, mayFetch, keys[...])
        self.keys = keys
        self.mayTryAgain = mayTryAgain
        self.folder = try ExportFolder(folder, mask)
    }

    /// Copies them, and says what became of each.
    public func run(_ onEvent: @Sendable (Event) -> Void = { _ in }) async throws -> Report {
        defer { for photo in awaited { wishes.stop(subject(photo.key)) } }
        // What has come, and what will not, is wished for no more: that is all there is to listen to.
        let snapshots = wishes.snapshots()
        try await advance(onEvent)
        while !awaited.isEmpty, await snapshots.next() != nil { try await advance(onEvent) }
        report.left = awaited.count + pending.count
        if report.left > 0 {
            report.rest = try ExportRest(
                keys, left: Set(awaited.map(\.key) + pending), of: cache, folder: folder.path)
        }
        return report
    }

    /// Goes on as far as it can without waiting for anything. They are fetched side by side, and copied one after the other in
    /// the order in which they were named: so of two with one title the same one has the name each time.
    private func advance(_ onEvent: (Event) -> Void) async throws {
        repeat {
            try wishForAwaited()
            while !Task.isCancelled, let first = awaited.first, first.isReady {
                let photo = try cache.read { try $0.photo(first.key) }
                if photo?.original.trouble != nil, await mayTryAgain() {
                    awaited = awaited.map { Awaited(key: $0.key) }
                    try wishForAwaited()
                } else {
                    awaited.removeFirst()
                    try settle(photo, first.key, onEvent)
                }
            }
        } while takeUp()
    }

    /// Takes up more, if there is room. Returns whether there is anything new.
    private func takeUp() -> Bool {
        let more = Task.isCancelled ? [] : pending.prefix(Self.width - awaited.count)
        pending = pending.dropFirst(more.count)
        awaited += more.map { Awaited(key: $0) }
        return !more.isEmpty
    }

    private func wishForAwaited() throws {
        for place in awaited.indices where !awaited[place].isReady { try wish(for: &awaited[place]) }
    }

    /// Wishes for a photo, if that helps.
    private func wish(for awaited: inout Awaited) throws {
        guard awaited.attempts == 0 || !wishes.isStanding(subject(awaited.key)) else { return }
        let photo = try cache.read { try $0.photo(awaited.key) }
        guard mayFetch, let photo, photo.original.isWanting, awaited.attempts < Self.attempts(photo) else {
            awaited.isReady = true
            return
        }
        awaited.attempts += 1
        wishes.ask(for: subject(awaited.key), importance: .visible)
    }

    private func settle(_ photo: Photo?, _ key: PhotoKey, _ onEvent: (Event) -> Void) throws {
        if let photo { titles[photo.name.lowercased(), default: 0] += 1 }
        let result = try export(photo, key)
        switch result {
        case .success: report.exported += 1
        case .failure: report.failed += 1
        }
        onEvent(Event(photo: photo, result: result, number: report.exported + report.failed))
    }

    private func subject(_ key: PhotoKey) -> Wish.Subject { .picture(cache.id, key, .original) }

    /// Whoever fetches tries again by himself. But while one edition comes the gallery may begin to speak of the next.
    private static func attempts(_ photo: Photo) -> Int { photo.original.trouble == nil ? 3 : 1 }

    private func export(_ photo: Photo?, _ key: PhotoKey) throws -> Result<String, ExportError> {
        guard let photo else { return .failure(.gone) }
        let opened: Int32?
        do { opened = try openFile(of: key) } catch let error as ExportError { return .failure(error) }
        // An older edition is better than none, where the newer one cannot be had.
        guard let file = opened else { return .failure(.unavailable(Self.reason(photo))) }
        defer { close(file) }
        do throws(ExportError) {
            let name = unusedName(for: photo, Self.format(of: file)).text
            _ = try folder.put(file, as: name, date: photo.date)
            return .success(folder.path + "/" + name)
        } catch {
            return .failure(error)
        }
    }

    /// A file may be replaced by a newer edition between two looks: then the row names the other one.
    private func openFile(of key: PhotoKey) throws -> Int32? {
        for _ in 0..<3 {
            guard let stored = try cache.read({ try $0.photoFile(of: key) }) else { return nil }
            let file = open(cache.files.path(stored), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
            if file >= 0 { return file }
            guard errno == ENOENT else {
                throw ExportError.file(path: cache.files.path(stored), reason: String(cString: strerror(errno)))
            }
        }
        return nil
    }

    /// Those of one title are numbered, whether they could all be had or not.
    private func unusedName(for photo: Photo, _ format: PictureSignature?) -> ExportName {
        let name = ExportName(photo, format)
        var number = titles[photo.name.lowercased()] ?? 1
        var candidate = number > 1 ? name.numbered(number) : name
        while !names.insert(candidate.folded).inserted {
            number += 1
            candidate = name.numbered(number)
        }
        return candidate
    }

    private static func format(of file: Int32) -> PictureSignature? {
        var head = [UInt8](repeating: 0, count: PictureSignature.length)
        let count = pread(file, &head, head.count, 0)
        return count > 0 ? PictureSignature(head.prefix(count)) : nil
    }

    private static func reason(_ photo: Photo) -> String {
        switch photo.original.trouble {
        case .bad(let failure), .putOff(let failure): failure.reason
        case nil: "it has not been fetched"
        }
    }
}

/// The photos that a stopped export has not reached, as arguments of `vitrine export`.
///
/// The command with these ids goes on where the export stopped, and calls files as it would have.
public struct ExportRest: Equatable, Sendable {
    /// The gallery that the photos are of.
    public let gallery: Address
    /// The folder that they go to.
    public let folder: String
    /// The photos' ids in the gallery; empty for all photos.
    public let ids: [String]

    /// Works it out, or returns nil if the gallery has none of the photos any more.
    ///
    /// - Parameters:
    ///   - keys: all photos of the export, in its order.
    ///   - left: those that it has not come to.
    init?(_ keys: [PhotoKey], left: Set<PhotoKey>, of cache: GalleryCache, folder: String) throws {
        let (photos, isWhole) = try cache.read { reader in
            let photos = try keys.compactMap { try reader.photo($0) }
            return (photos, try Self.isWholeGallery(photos, reader))
        }
        guard photos.contains(where: { left.contains($0.key) }) else { return nil }
        (gallery, self.folder) = (cache.address, folder)
        if isWhole {
            ids = []
        } else {
            // Photos of one title are numbered in the order of the command. So where one of them is there and another is left,
            // all are named; what is there is not copied again.
            let rest = photos.filter { left.contains($0.key) }
            let there = Set(photos.lazy.filter { !left.contains($0.key) }.map(Self.title))
            ids = (rest.contains { there.contains(Self.title($0)) } ? photos : rest).map(\.galleryID)
        }
    }

    /// Whether the command without ids means these photos, and calls their files the same.
    private static func isWholeGallery(_ photos: [Photo], _ reader: CacheReader) throws -> Bool {
        guard try reader.gallery().photoCount == photos.count else { return false }
        var order: [PhotoKey] = []
        try reader.forEachPhoto { order.append($0.key) }
        let keys = photos.map(\.key)
        return keys == order || Set(keys) == Set(order) && Set(photos.map(title)).count == photos.count
    }

    /// The names of files that may collide, without an ending, which depends on the file.
    private static func title(_ photo: Photo) -> String {
        let name = ExportName(photo, nil).folded
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return name }
        return String(name[..<dot])
    }
}

/// Why a photo could not be written where the user wants it.
public enum ExportError: Error, Equatable, CustomStringConvertible {
    /// The folder, or a file in it, cannot be made or written; the system's reason.
    case file(path: String, reason: String)
    /// There is another file of that name already. It is the user's, and is left as it is.
    case exists(path: String)
    /// The gallery does not have the photo any more.
    case gone
    /// The photo cannot be had; why.
    case unavailable(String)

    /// A sentence for the user.
    public var description: String {
        switch self {
        case .file(let path, let reason): "\(path): \(reason)."
        case .exists(let path): "\(path) is there already, and is another file; it is left as it is."
        case .gone: "The gallery does not have it any more."
        case .unavailable(let reason): "It is not here: \(reason)."
        }
    }
}
