import Cache
import Model

/// The photos that the user has marked.
///
/// A mark stays with its photo when the photo moves in the list, or when a filter hides it. Changes to many photos run
/// off the main actor. Later changes wait, so that all changes take effect in the order of the user's keys.
@MainActor
final class Marks {
    /// Called when a change that ran in the background has taken effect.
    var onChange: () -> Void = {}
    /// The marked photos.
    private(set) var keys = KeySet()
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
    func toggle(_ photos: KeySet, of folder: FolderPath) {
        last = .folder(folder)
        perform { marks in
            var unmarked = photos
            unmarked.subtract(marks.keys)
            if unmarked.isEmpty { marks.keys.subtract(photos) } else { marks.keys.formUnion(photos) }
        }
    }

    /// Marks photos, even if the list on the screen lacks them.
    func mark(_ photos: KeySet) { perform { $0.keys.formUnion(photos) } }

    /// Marks the unmarked ones of these photos, and unmarks the marked ones.
    func invert(_ photos: KeySet) { perform { $0.keys.formSymmetricDifference(photos) } }

    /// Marks the photos in a range of a list. Unless `last` is nil, the next range of marks begins at `last`.
    func mark(_ range: Range<Int>, of results: FetchedResults, last: PhotoEntries.Entry?) {
        if let last { self.last = last }
        combine(with: range, of: results) { $0.formUnion($1) }
    }

    /// Marks the unmarked photos of a list, and removes the marks of the other photos.
    func invert(_ results: FetchedResults) {
        combine(with: 0..<results.count, of: results) { $0.formSymmetricDifference($1) }
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
        combine(with: 0..<all.count, of: all) { $0.formIntersection($1) }
        if let photo = last?.photo, all.index(of: photo) == nil { last = nil }
    }

    private func combine(
        with range: Range<Int>, of results: FetchedResults, _ change: @escaping (inout KeySet, KeySet) -> Void
    ) {
        guard work != nil || range.count > Self.few else { return change(&keys, results.keys(in: range)) }
        enqueue { [weak self] number in
            let found = await results.allKeys(in: range)
            guard let self, number >= valid else { return }
            change(&keys, found)
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
