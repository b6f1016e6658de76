import Cache
import Cells
import Commands
import Model

/// Performs the commands about marks on the photos screen. A folder's row stands for all photos in the folder and in
/// folders below.
@MainActor
final class PhotoMarking: Responder {
    private let marks = Marks()
    /// Whether all photos in a folder are marked, for folders that have been on the screen.
    private var markedFolders: [FolderPath: Bool] = [:]
    /// The folders that have been read, or are being read, since the last change of marks.
    private var readFolders: Set<FolderPath> = []
    /// The folders that are being read.
    private var reading: Set<FolderPath> = []
    private let lists: PhotoLists
    private let context: ScreenContext

    init(_ lists: PhotoLists, _ context: ScreenContext) {
        (self.lists, self.context) = (lists, context)
        super.init()
        marks.onChange = { [weak self] in self?.send(.needsDisplay) }
        marks.onKeys = { [weak self] in self?.readFolders = [] }
    }

    /// The marked photos.
    var keys: KeySet { marks.keys }

    /// Removes the marks of photos that have left the gallery.
    func dropGone() {
        (markedFolders, readFolders) = ([:], [])
        marks.keepOnly(lists.all)
    }

    /// Returns whether all photos in a folder and in folders below are marked, as far as is known.
    func isMarked(_ folder: Subfolder) -> Bool {
        guard keys.contains(folder.cover), keys.count >= folder.count else { return false }
        if !reading.contains(folder.path), readFolders.insert(folder.path).inserted { readMark(of: folder.path) }
        return markedFolders[folder.path] ?? false
    }

    /// Finds out whether a folder is marked. No change of marks waits for this, because only the screen needs it.
    private func readMark(of path: FolderPath) {
        reading.insert(path)
        Task { [weak self, all = lists.all] in
            let photos = try? await all.allKeys(below: [path])
            guard let self else { return }
            reading.remove(path)
            guard var unmarked = photos else { return }
            unmarked.subtract(keys)
            markedFolders[path] = unmarked.isEmpty
            // If the marks have changed meanwhile, the next frame reads the folder again.
            send(.needsDisplay)
        }
    }

    /// Performs a command about marks that does not move the selection. Returns false for other commands.
    func perform(
        _ command: Command, at index: Int, _ selected: PhotoEntries.Entry?, in scopes: [CommandTable.Scope]
    ) -> Bool {
        let (entries, results) = (lists.entries, lists.shown)
        switch command {
        case .markRange:
            guard let start = marks.last.flatMap({ entries.index(of: $0) }) else {
                send(.notice("Mark the start of the range first, with \(context.name(of: .mark, in: scopes))."))
                break
            }
            let rows = min(start, index)..<max(start, index) + 1
            if areLoaded(rows, of: entries) { markRows(rows, of: entries, last: selected) }
        case .markAll, .invertMarks:
            guard results.isComplete else {
                send(.notice(Self.loading))
                break
            }
            let photos = allPhotos(of: entries)
            if command == .markAll { marks.mark(photos) } else { marks.invert(photos) }
        case .unmark: marks.clear()
        default: return false
        }
        return true
    }

    /// Returns the photos of all rows. A folder's own photos and those in its subfolders are all photos below it.
    private func allPhotos(of entries: PhotoEntries) -> Marks.Photos {
        let photos = entries.photos
        guard !entries.folders.isEmpty, let folder = lists.folder else { return .rows(0..<photos.count, photos) }
        return .below([folder.path], count: photos.count + Self.count(entries.folders[...]), lists.all)
    }

    private static func count(_ folders: ArraySlice<Subfolder>) -> Int { folders.reduce(0) { $0 + $1.count } }

    /// Returns whether the rows in a range are loaded. If they are not, tells the user that the list is still loading.
    private func areLoaded(_ rows: Range<Int>, of entries: PhotoEntries) -> Bool {
        let areLoaded = entries.photos.isComplete || entries[rows.upperBound - 1] != nil
        if !areLoaded { send(.notice(Self.loading)) }
        return areLoaded
    }

    private static let loading = "The list is still loading."

    /// Divides a range of rows into folders and a range of the photos.
    private func parts(
        _ rows: Range<Int>, of entries: PhotoEntries
    ) -> (folders: ArraySlice<Subfolder>, photos: Range<Int>) {
        let photos = entries.photoIndex(rows.lowerBound)..<entries.photoIndex(rows.upperBound)
        return (entries.folders[rows.clamped(to: entries.folders.indices)], photos)
    }

    /// Marks the rows in a range. Unless `last` is nil, the next range of marks begins at `last`.
    private func markRows(_ rows: Range<Int>, of entries: PhotoEntries, last: PhotoEntries.Entry?) {
        let (folders, photos) = parts(rows, of: entries)
        marks.mark(.rows(photos, entries.photos), last: last)
        if !folders.isEmpty { marks.mark(.below(folders.map(\.path), count: Self.count(folders), lists.all)) }
    }

    /// Marks each of several rows, or removes its mark. The next range of marks begins at the last of them. Returns
    /// false and changes nothing if some of the rows are not loaded.
    func toggle(_ rows: Range<Int>) -> Bool {
        let entries = lists.entries
        guard areLoaded(rows, of: entries) else { return false }
        let (folders, photos) = parts(rows, of: entries)
        // Many small folders are read in the background, too.
        let count = Self.count(folders)
        for folder in folders { marks.toggle(.below([folder.path], count: count, lists.all), of: folder.path) }
        if !photos.isEmpty { marks.invert(.rows(photos, entries.photos), last: entries[rows.upperBound - 1]) }
        return true
    }

    /// Marks a row, or removes its mark. The list need not contain the row.
    func toggle(_ entry: PhotoEntries.Entry) {
        switch entry {
        case .photo(let key): marks.toggle(key)
        case .folder(let path): marks.toggle(photos(below: path), of: path)
        }
    }

    /// Calls an action with its photos as soon as all earlier changes of marks have taken effect.
    ///
    /// The photos are the marked photos, or else a row's photos.
    func withTargets(_ entry: PhotoEntries.Entry?, _ action: @escaping @MainActor (KeySet) -> Void) {
        marks.whenSettled { [weak self] in
            guard let self else { return }
            var photos = marks.keys
            guard photos.isEmpty else { return action(photos) }
            switch entry {
            case .photo(let key): photos.insert(key)
            case .folder(let path): return marks.find(self.photos(below: path), action)
            case nil: break
            }
            action(photos)
        }
    }

    /// Returns photos in the order of the list with all photos. If that list is still loading and lacks some of the
    /// photos, tells the user so, and returns nil.
    ///
    /// - Parameter entry: the selected row. A list that is still loading may lack its photo.
    func ordered(_ photos: KeySet, _ entry: PhotoEntries.Entry?) -> [PhotoKey]? {
        if photos.count == 1, let key = entry?.photo, photos.contains(key) { return [key] }
        let ordered = lists.all.ordered(photos)
        guard lists.all.isComplete || ordered.count == photos.count else {
            send(.notice(Self.loading))
            return nil
        }
        return ordered
    }

    private func photos(below path: FolderPath) -> Marks.Photos {
        // Without a row, the number of photos is unknown.
        let folder = lists.entries.folders.first { $0.path == path }
        return .below([path], count: folder?.count ?? .max, lists.all)
    }
}
