import Cache
import Cells
import Commands
import Model
import Session
import Text

/// What can be done with photos, in the list and on the screen of one alike: they are given to another program, copied,
/// saved, fetched anew, and taken out of the cache.
///
///     PhotoActions(context, cache: cache, from: self).obey(command, on: concerned)
@MainActor
struct PhotoActions {
    let context: ScreenContext
    let cache: GalleryCache
    /// Where notices and questions begin their way up. It may be gone by the time that something is done.
    weak var sender: Responder?

    /// So many windows are a mistake.
    private static let mostOpened = 20

    init(_ context: ScreenContext, cache: GalleryCache, from sender: Responder) {
        self.context = context
        self.cache = cache
        self.sender = sender
    }

    /// Those that are about photos.
    static let commands: Set<Command> = [.openExternally, .copy, .copyPath, .save, .delete, .renew]

    /// Obeys one of ``commands``.
    func perform(_ command: Command, on keys: [PhotoKey]) {
        guard !keys.isEmpty else { return }
        switch command {
        case .openExternally: open(keys)
        case .copy: copyAddresses(keys)
        case .copyPath: copyPaths(keys)
        case .save: save(keys)
        case .delete: delete(keys)
        case .renew: refetch(keys)
        default: break
        }
    }

    func tell(_ notice: String) {
        sender?.send(.notice(notice))
    }

    /// What photos are called: one by its name, more by their number.
    func name(of keys: [PhotoKey]) -> String {
        guard keys.count == 1, let key = keys.first else { return CountText.text(keys.count, "photo") }
        let photo = try? cache.read { try $0.photo(key) }
        return photo.map { "“\($0.name.madeVisible)”" } ?? "the photo"
    }

    private func open(_ keys: [PhotoKey]) {
        guard keys.count <= Self.mostOpened else {
            return tell("\(keys.count) photos are not opened at once: \(Self.mostOpened) at most.")
        }
        let name = name(of: keys)
        Task {
            let failure = await context.open(keys, cache)
            tell(failure ?? "Opened elsewhere: \(name).")
        }
    }

    private func copyAddresses(_ keys: [PhotoKey]) {
        copy(keys, "address", "addresses", missing: "The gallery does not have it any more.") { reader, key in
            try reader.source(of: key, .original)?.address?.text
        }
    }

    private func copyPaths(_ keys: [PhotoKey]) {
        copy(keys, "path", "paths", missing: "The photo is not here, so it has no path; its address can be copied.") {
            [files = cache.files] reader, key in
            // Of a gallery on the disk, the user's own file, which has a name.
            if let own = try reader.source(of: key, .original)?.address?.filePath { return own.madeVisible }
            return try reader.photoFile(of: key).map { files.path($0) }
        }
    }

    /// Puts a line for each photo on the clipboard.
    private func copy(
        _ keys: [PhotoKey], _ one: String, _ many: String, missing: String,
        _ line: (CacheReader, PhotoKey) throws -> String?
    ) {
        do {
            let lines = try cache.read { reader in try keys.compactMap { try line(reader, $0) } }
            guard !lines.isEmpty else { return tell(missing) }
            sender?.send(.copy(lines.joined(separator: "\n")))
            tell(
                lines.count == 1
                    ? "The \(one) was sent to the clipboard."
                    : "\(CountText.text(lines.count, one, many)) were sent to the clipboard.")
        } catch {
            tell("\(error)")
        }
    }
}

/// What is done to what the cache has of photos.
extension PhotoActions {
    /// Deletes their files. One is fetched again as soon as it is looked at; of several that takes a while, so it is asked.
    func delete(_ keys: [PhotoKey]) {
        guard keys.count > 1 else { return drop(keys) }
        sender?.send(.confirm("Delete \(name(of: keys)) from the cache?") { [self] in drop(keys) })
    }

    private func drop(_ keys: [PhotoKey]) {
        let name = name(of: keys)
        Task {
            do {
                let count = try await cache.writer.dropPhotos(keys)
                guard count > 0 else { return tell("\(name): not here, so there is nothing to delete.") }
                let deleted = keys.count == 1 ? name : CountText.text(count, "photo")
                tell("Deleted from the cache, not from the gallery: \(deleted).")
            } catch {
                tell("\(error)")
            }
        }
    }

    /// Fetches once more what is here of them, or was given up.
    func refetch(_ keys: [PhotoKey]) {
        guard !context.settings.offline else { return tell("Offline: nothing is fetched.") }
        let name = name(of: keys)
        Task {
            do {
                let subjects = try cache.read { reader in try keys.flatMap { try Self.subjects($0, cache.id, reader) } }
                try await context.retry(cache.id, subjects) { [writer = cache.writer] in
                    try await writer.refetch(keys)
                }
                tell("Fetching anew: \(name).")
            } catch {
                tell("\(error)")
            }
        }
    }

    /// Its thumbnail, and the photo if it was ever asked for.
    private static func subjects(
        _ key: PhotoKey, _ gallery: GalleryID, _ reader: CacheReader
    ) throws -> [Wish.Subject] {
        guard let photo = try reader.photo(key) else { return [] }
        let isPhotoMeant = photo.original.held != nil || photo.original.trouble != nil
        return ([.thumbnail] + (isPhotoMeant ? [.original] : [])).map { .picture(gallery, key, $0) }
    }
}

/// Saving photos to a folder of the user's.
extension PhotoActions {
    /// Asks for the folder, and begins.
    func save(_ keys: [PhotoKey]) {
        let (name, gallery) = (name(of: keys), context.title(of: cache.address))
        let exports = context.exports
        sender?.send(
            .type("Save \(name) to:", exports.folder) { [self] text in
                let path = TypedPath.absolute(text, home: context.home, currentFolder: context.currentFolder)
                guard let path else { return tell("That is no folder.") }
                exports.folder = path
                exports.begin(keys, of: cache, to: path, name: name, gallery: gallery)
            })
    }
}
