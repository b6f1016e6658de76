import Cache
import Cells
import Commands
import Model
import Session
import Text

/// Actions on photos of a list or of the photo screen: open, copy, save, rate, compare, reload, delete.
///
///     PhotoActions(context, results: results, from: self).perform(command, on: keys)
@MainActor
struct PhotoActions {
    private let context: ScreenContext
    private let results: FetchedResults
    /// The responder that sends notices and questions. The responder may be released before an action ends.
    private weak var sender: Responder?

    /// The maximum number of photos to open at once. Opening more is probably a mistake.
    private static let mostOpened = 20
    /// The maximum number of photos to request at once.
    ///
    /// Each fulfilled request costs a pass over all other requests, and all of them go to the fetcher in one message.
    private static let mostRequested = 2_048
    /// The number of photos whose lines are read together. The main actor reads no more lines than these.
    private nonisolated static let window = 512

    /// - Parameter results: the list with the photos. A comparison takes further photos from this list.
    init(_ context: ScreenContext, results: FetchedResults, from sender: Responder) {
        self.context = context
        self.results = results
        self.sender = sender
    }

    private var cache: GalleryCache { results.cache }

    /// The commands that ``perform(_:on:)`` accepts.
    static let commands: Set<Command> = PhotoRating.commands.union([
        .openExternally, .copy, .copyPath, .save, .delete, .renew, .compare, .writeRatings,
    ])

    /// The commands that ask the user a question or open a screen.
    static let questions: Set<Command> = [.rate, .save, .delete, .compare, .writeRatings]

    /// Performs a command from ``commands`` on these photos.
    func perform(_ command: Command, on keys: [PhotoKey]) {
        guard !keys.isEmpty else { return }
        switch command {
        case .openExternally: open(keys)
        case .copy: copyAddresses(keys)
        case .copyPath: copyPaths(keys)
        case .save: save(keys)
        case .delete: delete(keys)
        case .renew: reload(keys)
        case .compare: compare(keys)
        case .writeRatings: writeRatings(keys)
        case _ where PhotoRating.commands.contains(command):
            PhotoRating(context, cache: cache, from: sender).perform(command, on: keys)
        default: break
        }
    }

    private func showNotice(_ notice: String) {
        sender?.send(.notice(notice))
    }

    /// Returns the name of a single photo, or the number of several photos.
    private func name(of keys: [PhotoKey]) -> String {
        guard keys.count == 1, let key = keys.first else { return CountText.text(keys.count, "photo") }
        let photo = try? cache.read { try $0.photo(key) }
        return photo.map { "“\($0.name.madeVisible)”" } ?? "the photo"
    }

    /// Compares several photos, or one photo with the photos beside it in the list.
    private func compare(_ keys: [PhotoKey]) {
        guard !context.settings.plain else { return showNotice("Plain mode has no pictures to compare.") }
        guard let screen = CompareScreen(context, results, keys) else {
            return showNotice("There is no other photo to compare.")
        }
        sender?.send(.push(screen))
    }

    /// Writes the ratings beside the files of a local folder. Asks first, because Vitrine otherwise writes nothing to
    /// such folders.
    private func writeRatings(_ keys: [PhotoKey]) {
        sender?.send(
            .confirm("Write the ratings of \(CountText.text(keys.count, "photo")) to XMP files beside them?") {
                [exports = context.exports, cache] in exports.writeRatings(of: keys, in: cache)
            })
    }

    // MARK: - Open and copy

    private func open(_ keys: [PhotoKey]) {
        guard keys.count <= Self.mostOpened else {
            return showNotice("Too many photos: \(keys.count). Open at most \(Self.mostOpened) at a time.")
        }
        let name = name(of: keys)
        Task {
            let failure = await context.open(keys, cache)
            showNotice(failure ?? "Opened in another program: \(name).")
        }
    }

    /// Returns the lines of those photos that have one. Runs off the main actor if the photos are many.
    private typealias ReadLines = @Sendable (CacheReader, ArraySlice<PhotoKey>) throws -> [PhotoKey: [UInt8]]

    private func copyAddresses(_ keys: [PhotoKey]) {
        copy(keys, "address", "addresses", missing: "The photo is no longer in the gallery.") { reader, keys in
            try keys.reduce(into: [:]) { lines, key in
                let address = try reader.videoPage(of: key) ?? reader.source(of: key, .original)?.address
                lines[key] = address.map { Array($0.text.utf8) }
            }
        }
    }

    private func copyPaths(_ keys: [PhotoKey]) {
        copy(keys, "path", "paths", missing: "The photo is not cached, so it has no path. Copy its address instead.") {
            [files = cache.files, isLocal = cache.address.isLocal] reader, keys in
            var paths = try reader.photoFiles(of: keys).mapValues { Array(files.path($0).utf8) }
            // The path of a photo in a local gallery is that of the user's own file.
            for key in keys where isLocal {
                if let own = try reader.source(of: key, .original)?.address?.filePathBytes { paths[key] = own }
            }
            return paths
        }
    }

    /// Returns bytes as a line that is safe to paste; nil if there is no such line.
    ///
    /// A terminal passes pasted control characters to the shell, which can run a command. Other characters stay
    /// unchanged, even invisible ones, because they belong to the name of the file.
    fileprivate nonisolated static func line(_ bytes: [UInt8]) -> String? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let isSafe = text.unicodeScalars.allSatisfy { scalar in
            ![.control, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
        }
        return isSafe ? text : nil
    }

    /// Sends one line of text for each photo to the clipboard. If not all lines fit, sends the first ones.
    private func copy(
        _ keys: [PhotoKey], _ one: String, _ many: String, missing: String, _ readLines: @escaping ReadLines
    ) {
        guard context.capabilities.clipboard else { return showNotice(ClipboardText.unavailable) }
        if keys.count <= Self.window {
            do { send(try Self.read(keys, cache, readLines), of: keys.count, one, many, missing: missing) } catch {
                showNotice("\(error)")
            }
        } else {
            context.backgroundCopy?.cancel()
            context.backgroundCopy = Task {
                do {
                    let found = try await Self.readInBackground(keys, cache, readLines)
                    // The clipboard keeps a newer text.
                    guard !Task.isCancelled else { return }
                    send(found, of: keys.count, one, many, missing: missing)
                } catch {
                    showNotice("\(error)")
                }
            }
        }
    }

    private func send(_ found: PhotoLines, of total: Int, _ one: String, _ many: String, missing: String) {
        let (lines, refused) = (found.text.lines, found.refused)
        let fault = "with control characters or bytes that are not UTF-8"
        guard !lines.isEmpty else {
            return showNotice(refused > 0 ? "Vitrine copies no \(one) \(fault)." : missing)
        }
        sender?.send(.copy(lines.joined(separator: "\n")))
        let sent =
            if found.count < total {
                "the \(many) of the first \(CountText.text(found.count, of: total)) photos"
            } else if lines.count == 1 {
                "the \(one)"
            } else {
                CountText.text(lines.count, one, many)
            }
        let leftOut = refused > 0 ? " Vitrine left out \(CountText.text(refused, one, many)) \(fault)." : ""
        showNotice("Sent \(sent) to the clipboard.\(leftOut)")
    }

    /// Reads lines until the text is full.
    private nonisolated static func read(
        _ keys: [PhotoKey], _ cache: GalleryCache, _ readLines: ReadLines
    ) throws -> PhotoLines {
        try cache.read { reader in
            var found = PhotoLines()
            var rest = keys[...]
            while !rest.isEmpty {
                let window = rest.prefix(Self.window)
                rest = rest.dropFirst(window.count)
                let lines = try readLines(reader, window)
                for key in window { guard found.add(lines[key]) else { return found } }
            }
            return found
        }
    }

    @concurrent private nonisolated static func readInBackground(
        _ keys: [PhotoKey], _ cache: GalleryCache, _ readLines: ReadLines
    ) async throws -> PhotoLines {
        try read(keys, cache, readLines)
    }

    // MARK: - Save

    /// Asks for a folder, and starts to save the photos there.
    private func save(_ keys: [PhotoKey]) {
        let (name, gallery) = (name(of: keys), context.title(of: cache.address))
        let exports = context.exports
        sender?.send(
            .type("Save \(name) to:", exports.folder) { [self] text in
                let path = TypedPath.absolute(text, home: context.home, currentFolder: context.currentFolder)
                guard let path else { return showNotice("That is not the path of a folder.") }
                exports.folder = path
                exports.begin(keys, of: cache, to: path, name: name, gallery: gallery)
            })
    }

    // MARK: - Delete and reload

    /// Deletes photos from the cache. Asks first about several photos, because fetching them again takes time.
    private func delete(_ keys: [PhotoKey]) {
        guard keys.count > 1 else { return drop(keys) }
        sender?.send(.confirm("Delete \(name(of: keys)) from the cache?") { [self] in drop(keys) })
    }

    private func drop(_ keys: [PhotoKey]) {
        let name = name(of: keys)
        // Vitrine would fetch the photos again for a request that still stands, such as one to reload a photo, and for
        // the photo that was still loading when the user left it.
        context.wishes.stop(Set(keys.map { .picture(cache.id, $0, .original) }))
        (sender as? PhotosScreen)?.forget(keys)
        Task {
            do {
                let count = try await cache.writer.dropPhotos(keys)
                guard count > 0 else {
                    return showNotice("Nothing to delete: \(name) \(keys.count == 1 ? "is" : "are") not cached.")
                }
                context.caches.space.requestCount()
                let deleted = keys.count == 1 ? name : CountText.text(count, "photo")
                showNotice("Deleted from the cache, not from the gallery: \(deleted).")
            } catch {
                showNotice("\(error)")
            }
        }
    }

    /// Fetches photos again if they are cached or have failed. Of very many photos, requests only the first ones: the
    /// other photos are outdated, too, so Vitrine fetches them when the user views them.
    private func reload(_ keys: [PhotoKey]) {
        guard !context.isOffline(cache.address) else {
            return showNotice("Offline: type “:set offline no” to fetch photos.")
        }
        let name = name(of: keys)
        let requested = keys.prefix(Self.mostRequested)
        let later = ": the first \(NumberFormat.current.text(requested.count)) now, the others when you view them"
        Task {
            do {
                let subjects = try await Self.subjects(requested, cache)
                try await context.retry(cache.id, subjects) { [writer = cache.writer] in
                    try await writer.refetch(keys)
                }
                showNotice("Reloading \(name)\(requested.count < keys.count ? later : "").")
            } catch {
                showNotice("\(error)")
            }
        }
    }

    /// Returns the pictures to reload: the photos' thumbnails, and each photo itself if Vitrine has fetched it or failed
    /// to fetch it. The method reads off the main actor.
    @concurrent private nonisolated static func subjects(
        _ keys: ArraySlice<PhotoKey>, _ cache: GalleryCache
    ) async throws -> [Wish.Subject] {
        let photos = try cache.read { try $0.photos(keys) }
        let originals = Dictionary(photos.map { ($0.key, $0.original) }) { first, _ in first }
        return keys.flatMap { key -> [Wish.Subject] in
            guard let original = originals[key] else { return [] }
            let includesPhoto = original.held != nil || original.trouble != nil
            return ([.thumbnail] + (includesPhoto ? [.original] : [])).map { .picture(cache.id, key, $0) }
        }
    }
}

/// Lines of text about photos, for the clipboard.
private struct PhotoLines: Sendable {
    /// The lines that fit.
    private(set) var text = ClipboardText()
    /// The number of lines that are not safe to paste.
    private(set) var refused = 0
    /// The number of photos before the first line that does not fit.
    private(set) var count = 0

    /// Adds the line of the next photo; nil if the photo has none. Returns whether the line fits.
    mutating func add(_ bytes: [UInt8]?) -> Bool {
        if let bytes {
            if let line = PhotoActions.line(bytes) {
                guard text.add(line) else { return false }
            } else {
                refused += 1
            }
        }
        count += 1
        return true
    }
}
