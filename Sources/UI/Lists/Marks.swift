import Cache
import Model

/// The photos that the user has marked.
///
/// A mark is on a photo, wherever it comes to stand, and listed or not. What many are marked by is gone through off the main
/// actor; what is done meanwhile is done behind that, in the order in which it was asked for.
@MainActor
final class Marks {
    /// Called when others are marked, later than they were asked for.
    var onChange: () -> Void = {}
    /// Those that are marked.
    private(set) var keys = KeySet()
    /// What was marked last, or had its mark taken away: where a range begins.
    private(set) var last: PhotoKey?
    /// What is being done.
    private var work: Task<Void, Never>?
    /// Counts what was begun. What belongs to an older number than ``valid`` comes to nothing.
    private var number = 0
    private var valid = 0

    /// So many are gone through at once.
    private static let few = 1_024

    deinit {
        work?.cancel()
    }

    /// Whether all that was asked for is done.
    var isSettled: Bool { work == nil }

    /// Does something with those that are marked, when all that was asked for before is done.
    func whenSettled(_ action: @escaping @MainActor () -> Void) { perform { _ in action() } }

    /// Marks a photo, or takes its mark away.
    func toggle(_ key: PhotoKey) {
        last = key
        perform { marks in
            if !marks.keys.remove(key) { marks.keys.insert(key) }
        }
    }

    /// Marks the photos at some places of a list; the last of them is where the next range begins.
    func mark(_ places: Range<Int>, of results: FetchedResults, last: PhotoKey?) {
        if let last { self.last = last }
        combine(with: places, of: results) { $0.formUnion($1) }
    }

    /// Marks those of a list that are not marked, and takes the marks of the others away.
    func invert(_ results: FetchedResults) {
        combine(with: 0..<results.count, of: results) { $0.formSymmetricDifference($1) }
    }

    /// Takes all marks away, and those that are about to be made.
    func clear() {
        valid = number + 1
        work = nil
        keys = KeySet()
        last = nil
    }

    /// Photos that are gone are not marked any more.
    func keepThose(of all: FetchedResults) {
        guard !keys.isEmpty || work != nil, all.isComplete else { return }
        combine(with: 0..<all.count, of: all) { $0.formIntersection($1) }
        if let last, all.index(of: last) == nil { self.last = nil }
    }

    private func combine(
        with places: Range<Int>, of results: FetchedResults, _ change: @escaping (inout KeySet, KeySet) -> Void
    ) {
        guard work != nil || places.count > Self.few else { return change(&keys, results.keys(in: places)) }
        enqueue { [weak self] number in
            let found = await results.allKeys(in: places)
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
