import Cache
import Formats
import HTTP
import Model
import Numbers

/// Reads a gallery's folders on a server, several at a time. Passes the photos to a comparer, which finds the changes.
///
/// Each folder is one request. A folder that has not changed, as far as the server can tell, keeps its photos. So does
/// a folder that cannot be read. If the server refuses requests because it is busy, the folders wait and fewer are read
/// at the same time.
struct ServerFolders {
    /// The parts of the gallery that were read whole.
    private(set) var parts: [FolderScope] = []
    /// The head of the answer for the outermost folder.
    private(set) var head: HTTPResponse?
    /// The feed that the outermost folder's web page names; nil if it names none.
    private(set) var feed: Address?
    /// The number of photos so far.
    private var photoCount = 0
    private let reader: ServerFolderReader
    private let comparer: ListComparer
    /// The folders of the last update, by their parent folder's path.
    private let children: [[UInt8]: [[UInt8]]]
    private let isFirst: Bool
    private var folders: [ListSource.Folder] = []
    /// The folders that have not been read, although they may contain photos.
    private var unread: Set<[UInt8]> = [[]]
    /// The folders to read. The last element is the next folder to read. Inner folders come first, because they contain
    /// the photos.
    private var stack: [ServerFolder] = []
    private var folderCount = 1
    /// The number of folders to read at the same time.
    private var width = 16
    private var patience = Patience()

    /// The deepest nesting of folders to read. Links on the server may form a loop.
    private static let maximumDepth = 32
    /// The maximum number of folders of a gallery.
    static let maximumFolders = 100_000
    /// Vitrine rejects a new web site without photos in this many folders.
    private static let maximumBarren = 200

    /// - Parameters:
    ///   - permit: the permit of the update, for the outermost folder.
    ///   - source: the folders and validators of the last update; nil to read all folders.
    ///   - clock: the clock for waits within a folder.
    init(
        _ place: ServerPlace, _ comparer: ListComparer, over client: HTTPClient, with permit: TransferPermit,
        after source: ListSource?, _ clock: any NetworkClock
    ) {
        let known = Dictionary((source?.folders ?? []).map { ($0.path, $0.validators) }) { first, _ in first }
        reader = ServerFolderReader(place, comparer, client, permit, known, clock)
        self.comparer = comparer
        children = Dictionary(grouping: known.keys.filter { !$0.isEmpty }, by: Self.parent)
        isFirst = source == nil
    }

    /// Returns the folders with their validators, to store them.
    ///
    /// A folder below which something was not read has no validator, so that the next update reads it again.
    var stored: [ListSource.Folder] {
        var stale = unread
        for path in unread {
            stale.insert([])
            for (index, byte) in path.enumerated() where byte == UInt8(ascii: "/") {
                stale.insert(Array(path[...index]))
            }
        }
        let read = folders.filter { !stale.contains($0.path) }
        let known = folders.map(\.path).filter(stale.contains)
        return read + unread.union(known).map { ListSource.Folder(path: $0, validators: Validators()) }
    }

    /// Reads all folders.
    ///
    /// - Parameters:
    ///   - first: the answer with the outermost folder's list, if it has arrived.
    ///   - onProgress: called after each folder, with the number of photos so far and the head of its answer.
    ///   - wait: waits for a busy server.
    mutating func read(
        startingWith first: sending Response? = nil, onProgress: (Int, HTTPResponse) async throws -> Void,
        wait: (Duration, RequestError) async throws -> Void
    ) async throws {
        // The other folders are unknown before the first is read.
        let root = ServerFolder()
        let outcome = if let first { await reader.read(first, of: root) } else { await reader.read(root) }
        try await handle(outcome, onProgress)
        try await withThrowingTaskGroup(of: ServerFolderReader.Outcome.self) { group in
            var running = 0
            var refusals: [(folder: ServerFolder, error: RequestError)] = []
            while true {
                while refusals.isEmpty, running < width, let folder = stack.popLast() {
                    running += 1
                    group.addTask { [reader] in await reader.read(folder) }
                }
                if let outcome = try await group.next() {
                    running -= 1
                    if case .refused(let folder, let error) = outcome {
                        refusals.append((folder, error))
                    } else {
                        patience.renew()
                        try await handle(outcome, onProgress)
                    }
                } else {
                    guard let error = refusals.last?.error else { return }
                    width = max(1, width / 2)
                    try await wait(try patience.delay(after: error), error)
                    stack += refusals.map(\.folder)
                    refusals = []
                }
            }
        }
    }

    private mutating func handle(
        _ outcome: ServerFolderReader.Outcome, _ onProgress: (Int, HTTPResponse) async throws -> Void
    ) async throws {
        switch outcome {
        case .read(let contents, let count):
            try await take(contents)
            unread.remove(contents.folder.path)
            photoCount = max(photoCount, count)
            guard photoCount > 0 || parts.count < Self.maximumBarren || !isFirst || reader.place.kind != .web else {
                throw BarrenSite(
                    description: "a web site without photos in its first \(Self.maximumBarren) folders", self)
            }
            try await onProgress(photoCount, contents.head)
        case .unchanged(let folder, let head):
            if folder.path.isEmpty { self.head = head }
            try await keep(folder)
            unread.remove(folder.path)
        case .missing(let folder): unread.remove(folder.path)
        case .unreadable(let folder, let failure): try await keepUnread(folder.path, because: failure)
        case .failed(let error), .refused(_, let error as any Error): throw error
        }
    }

    /// Queues the subfolders of a folder that was read.
    private mutating func take(_ contents: ServerFolderReader.Contents) async throws {
        let folder = contents.folder
        if folder.path.isEmpty { try takeRoot(contents) }
        parts.append(folder.scope)
        folders.append(ListSource.Folder(path: folder.path, validators: contents.validators))
        if contents.mayBeCut { try await keepRest(of: contents) }
        // A folder with the contents of an outer folder is a link to it. Without files, two folders could be equal by
        // chance.
        if contents.fileCount > 0, folder.ancestors.contains(contents.signature) { return }
        for subfolder in contents.subfolders.reversed() where ListedSubfolder.isWanted(subfolder.name) {
            let path = folder.path + subfolder.name + [UInt8(ascii: "/")]
            guard folder.ancestors.count < Self.maximumDepth, folderCount < Self.maximumFolders else {
                try await keepUnread(path, because: Failure("there are too many folders", remedy: .none))
                continue
            }
            if reader.place.hasClimbingValidators, let etag = subfolder.etag, reader.known[path]?.etag == etag {
                try await comparer.keep(FolderScope(folder: PathText.text(path), isDeep: true))
                takeKnown(below: path)
            } else {
                push(
                    ServerFolder(
                        path: path, etag: subfolder.etag, ancestors: folder.ancestors + [contents.signature],
                        isListed: true))
            }
        }
    }

    /// Throws if the outermost folder contains no photo and no known folder. A disk of the server
    /// may be missing, or the page may show an error or a sign-in form.
    ///
    /// Throws ``PublishedBucket`` if a known bucket contains a published gallery's list.
    private mutating func takeRoot(_ contents: ServerFolderReader.Contents) throws {
        (head, feed) = (contents.head, contents.feed)
        // The first update has already requested the file.
        if contents.hasGalleryFile, !isFirst { throw PublishedBucket() }
        guard contents.fileCount == 0 else { return }
        let known = Set(children[[]] ?? [])
        if isFirst {
            guard contents.subfolders.isEmpty else { return }
            if reader.place.kind == .web { throw BarrenSite(description: "a web page without photos", self) }
            throw RequestError.wrongType("an empty folder")
        }
        guard contents.subfolders.contains(where: { known.contains($0.name + [UInt8(ascii: "/")]) }) else {
            throw RequestError.wrongType(
                "an empty folder, or another page; if that is intended, clear this gallery’s cache")
        }
    }

    /// Keeps the photos in a folder, and queues its subfolders.
    private mutating func keep(_ folder: ServerFolder) async throws {
        try await comparer.keep(folder.scope)
        parts.append(folder.scope)
        folders.append(
            ListSource.Folder(path: folder.path, validators: reader.known[folder.path] ?? Validators()))
        for path in children[folder.path] ?? [] {
            push(ServerFolder(path: path, ancestors: folder.ancestors))
        }
    }

    /// Keeps the photos that the list of a folder may have left out, and queues the known subfolders that it lacks.
    private mutating func keepRest(of contents: ServerFolderReader.Contents) async throws {
        let folder = contents.folder
        try await comparer.keep(
            folder.scope, because: Failure("the server lists only some of its entries", remedy: .none))
        let listed = Set(contents.subfolders.map { folder.path + $0.name + [UInt8(ascii: "/")] })
        for path in children[folder.path] ?? [] where !listed.contains(path) {
            push(ServerFolder(path: path, ancestors: folder.ancestors + [contents.signature]))
        }
    }

    private mutating func push(_ folder: ServerFolder) {
        folderCount += 1
        stack.append(folder)
        unread.insert(folder.path)
    }

    /// Keeps everything in a folder that was not read.
    private mutating func keepUnread(_ path: [UInt8], because failure: Failure) async throws {
        try await comparer.keep(FolderScope(folder: PathText.text(path), isDeep: true), because: failure)
        unread.insert(path)
        takeKnown(below: path)
    }

    private mutating func takeKnown(below path: [UInt8]) {
        var rest = [path]
        while let path = rest.popLast() {
            folders.append(ListSource.Folder(path: path, validators: reader.known[path] ?? Validators()))
            rest += children[path] ?? []
        }
    }

    private static func parent(_ path: [UInt8]) -> [UInt8] {
        Array(path.dropLast().reversed().drop { $0 != UInt8(ascii: "/") }.reversed())
    }
}

/// A known bucket contains a published gallery's list by now.
struct PublishedBucket: Error {}

/// A web site that lists no photos. Another gallery may be behind it.
struct BarrenSite: Error {
    /// The site in a few words.
    let description: String
    /// The feed that the site's first page names; nil if it names none.
    let feed: Address?

    init(description: String, _ folders: ServerFolders? = nil) {
        self.description = description
        feed = folders?.feed
    }
}

/// Decides how long to wait for a server that is too busy.
struct Patience {
    /// The number of waits since the server last answered.
    private var waits = 0

    /// The maximum number of waits in succession.
    private static let maximumWaits = 4
    /// The longest wait in seconds that a server may request. For longer waits, the update ends and is tried again
    /// later.
    private static let longestWait = 60
    /// The number of seconds that the update has waited so far.
    private var total = 0
    /// The maximum number of seconds that an update waits. Then the photos so far are stored.
    private static let longestTotal = 900

    /// Records that the server answers.
    mutating func renew() { waits = 0 }

    /// Returns the wait after a refusal. It is 1, 2, 4 and 8 seconds, or longer if the server says so. Throws the
    /// refusal if waiting is pointless.
    mutating func delay(after refusal: RequestError) throws -> Duration {
        let requested = refusal.retryAfter ?? 0
        guard waits < Self.maximumWaits, requested <= Self.longestWait else { throw refusal }
        let seconds = max(requested, 1 << waits)
        // The server states at most a minute, so the sum is small.
        guard total + seconds <= Self.longestTotal else { throw refusal }
        (waits, total) = (waits + 1, total + seconds)
        return .seconds(seconds)
    }
}

/// A folder on a server that is to be read.
struct ServerFolder: Sendable {
    /// The decoded path below the root; empty for the root. The path ends with a slash.
    var path: [UInt8] = []
    /// The validator that the list of the outer folder stated.
    var etag: String?
    /// The signatures of the outer folders, outermost first. They reveal loops of links.
    var ancestors: [Int] = []
    /// Whether a list of this update names the folder. Then the folder must be there.
    var isListed = false

    /// The folder as a part of the gallery.
    var scope: FolderScope { FolderScope(folder: PathText.text(path), isDeep: false) }
}
