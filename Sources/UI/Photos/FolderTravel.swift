import Cache
import Commands
import Model
import Text

/// Moves through the folders of a gallery, and to the list of all photos.
@MainActor
final class FolderTravel: Responder {
    private let lists: PhotoLists
    private let context: ScreenContext
    /// Whether a requested folder has not been read yet.
    private var isArriving = false
    /// The row to select when the folder has been read; nil for the first row.
    private var target: PhotoEntries.Entry?
    /// The selected row of each folder at the time when the user left the folder.
    private var left: [FolderPath: PhotoEntries.Entry] = [:]

    init(_ lists: PhotoLists, _ context: ScreenContext) {
        (self.lists, self.context) = (lists, context)
        super.init()
    }

    /// Performs a command about folders. Returns false for other commands.
    func perform(_ command: Command, selected: PhotoEntries.Entry?) -> Bool {
        switch command {
        case .folders: lists.path == nil ? showFolders(selected) : showAll(selected)
        case .parentFolder: goUp(from: selected)
        case .openFolder: openGallery(selected)
        default: return false
        }
        return true
    }

    /// Opens a folder, and selects `entry`, or else the row that was selected there before.
    func enter(_ path: FolderPath, selecting entry: PhotoEntries.Entry? = nil, from selected: PhotoEntries.Entry? = nil)
    {
        if let current = lists.path { left[current] = selected }
        arrive(at: entry ?? left[path])
        lists.show(path)
    }

    /// Selects `entry`, or else the first row, when the requested folder has been read.
    func arrive(at entry: PhotoEntries.Entry?) { (isArriving, target) = (true, entry) }

    /// Returns the row to select after a folder was opened and read. Returns nil if the selection stays, and in later
    /// calls.
    func takeTarget(in entries: PhotoEntries) -> PhotoEntries.Entry? {
        guard isArriving, lists.folder?.path == lists.path else { return nil }
        isArriving = false
        // In a long list that is still loading, the index may be unknown.
        guard let target, entries.index(of: target) != nil || !entries.photos.isComplete else { return entries[0] }
        return target
    }

    private func showFolders(_ selected: PhotoEntries.Entry?) {
        guard (try? lists.reader.hasFolders()) == true else { return send(.notice("This gallery has no folders.")) }
        let photo = selected?.photo.flatMap { try? lists.reader.photo($0) }
        enter(photo?.folder ?? .top, selecting: selected)
    }

    private func showAll(_ selected: PhotoEntries.Entry?) {
        // In the list of all photos, a folder's newest photo stands for the folder.
        let cover = lists.entries.folders.first { selected == .folder($0.path) }?.cover
        arrive(at: cover.map { .photo($0) } ?? selected)
        lists.show(nil)
    }

    /// Goes to the parent folder. From a search, goes back to the searched folder, and from the top folder to the
    /// galleries.
    private func goUp(from selected: PhotoEntries.Entry?) {
        guard let path = lists.path else { return showFolders(selected) }
        guard lists.filter == .all, let parent = path.parent else { return send(.command(.back)) }
        enter(parent, selecting: .folder(path), from: selected)
    }

    /// Opens the selected folder, or else the folder of the selected photo, as a gallery of its own.
    private func openGallery(_ selected: PhotoEntries.Entry?) {
        let folder = lists.entries.folders.first { selected == .folder($0.path) }
        guard let photo = (folder?.cover ?? selected?.photo).flatMap({ try? lists.reader.photo($0) }),
            let path = folder?.path ?? photo.folder,
            let file = try? lists.reader.source(of: photo.key, .original)?.address, file.isLocal,
            lists.cache.address.isLocal
        else { return send(.notice("Only a local folder can be opened as a gallery.")) }
        // The photo's address is right even if the folder's path has bytes that are not text.
        let depth = max(0, FolderPath(photo.galleryID).names.count - path.names.count)
        let target = (0..<depth).reduce(file) { address, _ in address.folderAlone }
        // The fetcher reads untrusted bytes, so the cache may contain any address.
        guard lists.cache.files.isFolder(target) else {
            return send(.notice("The folder is outside this gallery."))
        }
        send(.openGallery(target))
    }

    // MARK: - Texts

    /// Returns the path of a folder for the top line, and shorter forms for narrow windows.
    func headings(_ path: FolderPath) -> [String] {
        let arrow = context.settings.plain ? " / " : context.capabilities.unicode ? " › " : " > "
        let names = [context.folderName(of: lists.cache.address)] + path.names
        let whole = names.joined(separator: arrow)
        return [whole] + names.indices.dropFirst().map { "…" + arrow + names[$0...].joined(separator: arrow) }
            + names.suffix(1)
    }
}

extension ScreenContext {
    /// Returns the user's title for a gallery, or else the last part of its name or location.
    func folderName(of gallery: Address) -> String {
        let title = title(of: gallery)
        guard galleries.list.title(of: gallery) == nil else { return title }
        return title.split(separator: "/").last.map(String.init) ?? title
    }
}
