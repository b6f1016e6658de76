import Cache
import Cells
import Commands
import Model

/// Performs the commands about marks on the photos screen. A folder's row stands for all photos in the folder and in
/// folders below.
@MainActor
final class PhotoMarking: Responder {
    private let marks = Marks()
    private let lists: PhotoLists
    private let context: ScreenContext

    init(_ lists: PhotoLists, _ context: ScreenContext) {
        (self.lists, self.context) = (lists, context)
        super.init()
        marks.onChange = { [weak self] in self?.send(.needsDisplay) }
    }

    /// The marked photos.
    var keys: KeySet { marks.keys }

    /// Calls an action as soon as all earlier changes of marks have taken effect.
    func whenSettled(_ action: @escaping @MainActor () -> Void) { marks.whenSettled(action) }

    /// Removes the marks of photos that have left the gallery.
    func dropGone() { marks.keepOnly(lists.all) }

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
            markRows(min(start, index)..<max(start, index) + 1, of: entries, last: selected)
        case .markAll, .invertMarks:
            guard results.isComplete else {
                send(.notice("The list is still loading."))
                break
            }
            let isMarking = command == .markAll
            if isMarking { marks.mark(0..<results.count, of: results, last: nil) } else { marks.invert(results) }
            for folder in entries.folders {
                let photos = photos(below: folder.path)
                if isMarking { marks.mark(photos) } else { marks.invert(photos) }
            }
        case .unmark: marks.clear()
        default: return false
        }
        return true
    }

    /// Marks the rows in a range. Unless `last` is nil, the next range of marks begins at `last`.
    private func markRows(_ rows: Range<Int>, of entries: PhotoEntries, last: PhotoEntries.Entry?) {
        let photoRows = entries.photoIndex(rows.lowerBound)..<entries.photoIndex(rows.upperBound)
        marks.mark(photoRows, of: entries.photos, last: last)
        for folder in entries.folders[rows.clamped(to: entries.folders.indices)] {
            marks.mark(photos(below: folder.path))
        }
    }

    /// Marks a row, or removes its mark.
    func toggle(_ entry: PhotoEntries.Entry) {
        switch entry {
        case .photo(let key): marks.toggle(key)
        case .folder(let path): marks.toggle(photos(below: path), of: path)
        }
    }

    /// Returns the photos for the next action: the marked photos in list order, or else a row's photos.
    func targets(_ entry: PhotoEntries.Entry?) -> [PhotoKey] {
        if !marks.keys.isEmpty { return lists.all.ordered(marks.keys) }
        switch entry {
        case .photo(let key): return [key]
        case .folder(let path): return lists.all.ordered(photos(below: path))
        case nil: return []
        }
    }

    private func photos(below path: FolderPath) -> KeySet { (try? lists.reader.keys(below: path)) ?? KeySet() }
}
