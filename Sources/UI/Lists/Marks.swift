import Cache
import Model

/// The photos that the user has marked.
///
/// A mark stays with its photo when the photo moves in the list, or when a filter hides it. Changes to many photos run
/// off the main actor. Later changes wait, so that all changes take effect in the order of the user's keys.
@MainActor
final class Marks {
    /// The photos of a change.
    @MainActor
    enum Photos {
        /// The photos in a range of a list.
        case rows(Range<Int>, FetchedResults)
        /// The photos in folders and in all folders below. The count decides whether to read them in the background.
        case below([FolderPath], count: Int, FetchedResults)

        fileprivate var count: Int {
            switch self {
            case .rows(let range, _): range.count
            case .below(_, let count, _): count
            }
        }

        /// Reads few photos on the main actor.
        fileprivate var keys: KeySet {
            switch self {
            case .rows(let range, let results): results.keys(in: range)
            case .below(let folders, _, let results): (try? results.keys(below: folders)) ?? KeySet()
            }
        }

        /// Reads any number of photos off the main actor.
        fileprivate func allKeys() async -> KeySet {
            switch self {
            case .rows(let range, let results): await results.allKeys(in: range)
            case .below(let folders, _, let results): (try? await results.allKeys(below: folders)) ?? KeySet()
            }
        }
    }

    /// Called when a change that ran in the background has taken effect.
    var onChange: () -> Void = {}
    /// Called when other photos are marked.
    var onKeys: () -> Void = {}
    /// The marked photos.
    private(set) var keys = KeySet() { didSet { onKeys() } }
    /// The row whose mark changed last. The next range of marks begins at this row.
    private(set) var last: PhotoEntries.Entry?
    /// The task of the last pending change.
    private var work: Task<Void, Never>?
    /// The number of the last change. A change with a number below ``valid`` is cancelled.
    private var number = 0
    private var valid = 0

    /// The maximum number of photos whose marks change at once, without a background task.
    private static let few = 1_024

    deinit {
        work?.cancel()
    }

    /// Calls an action as soon as all earlier changes of marks have taken effect.
    func whenSettled(_ action: @escaping @MainActor () -> Void) { perform { _ in action() } }

    /// Marks a photo, or removes the photo's mark.
    func toggle(_ key: PhotoKey) {
        last = .photo(key)
        perform { marks in
            if !marks.keys.remove(key) { marks.keys.insert(key) }
        }
    }

    /// Marks a folder's photos, or removes their marks if all of them are marked.
    func toggle(_ photos: Photos, of folder: FolderPath) {
        last = .folder(folder)
        combine(with: photos) { marks, photos in
            var unmarked = photos
            unmarked.subtract(marks.keys)
            if unmarked.isEmpty { marks.keys.subtract(photos) } else { marks.keys.formUnion(photos) }
        }
    }

    /// Marks photos, even if the list on the screen lacks them. Unless `last` is nil, the next range of marks begins at
    /// `last`.
    func mark(_ photos: Photos, last: PhotoEntries.Entry? = nil) {
        if let last { self.last = last }
        combine(with: photos) { $0.keys.formUnion($1) }
    }

    /// Marks the unmarked ones of these photos, and unmarks the marked ones. Unless `last` is nil, the next range of
    /// marks begins at `last`.
    func invert(_ photos: Photos, last: PhotoEntries.Entry? = nil) {
        if let last { self.last = last }
        combine(with: photos) { $0.keys.formSymmetricDifference($1) }
    }

    /// Calls an action with the keys of photos as soon as all earlier changes of marks have taken effect.
    ///
    /// Removing all marks does not cancel the action.
    func find(_ photos: Photos, _ action: @escaping @MainActor (KeySet) -> Void) {
        guard photos.count > Self.few else {
            let found = photos.keys
            return perform { _ in action(found) }
        }
        enqueue { [weak self] _ in
            let found = await photos.allKeys()
            if self != nil { action(found) }
        }
    }

    /// Removes all marks, and cancels pending changes.
    func clear() {
        valid = number + 1
        work = nil
        keys = KeySet()
        last = nil
    }

    /// Removes the marks of photos that have left the gallery.
    func keepOnly(_ all: FetchedResults) {
        guard !keys.isEmpty || work != nil, all.isComplete else { return }
        combine(with: .rows(0..<all.count, all)) { $0.keys.formIntersection($1) }
        if let photo = last?.photo, all.index(of: photo) == nil { last = nil }
    }

    private func combine(with photos: Photos, _ change: @escaping @MainActor (Marks, KeySet) -> Void) {
        guard photos.count > Self.few else {
            let found = photos.keys
            return perform { change($0, found) }
        }
        enqueue { [weak self] number in
            let found = await photos.allKeys()
            if let self, number >= valid { change(self, found) }
        }
    }

    private func perform(_ change: @escaping @MainActor (Marks) -> Void) {
        guard work != nil else { return change(self) }
        enqueue { [weak self] number in
            if let self, number >= valid { change(self) }
        }
    }

    private func enqueue(_ body: @escaping @MainActor (_ number: Int) async -> Void) {
        let before = work
        number += 1
        work = Task { [weak self, number] in
            await before?.value
            await body(number)
            self?.finish(number)
        }
    }

    private func finish(_ number: Int) {
        guard number >= valid else { return }
        if number == self.number { work = nil }
        onChange()
    }
}
