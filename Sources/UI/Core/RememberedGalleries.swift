import Model
import Settings

/// The galleries there are to choose from: those that come with Vitrine, and those that the user remembers.
///
/// Another Vitrine may have the same list open. Each adds to what is on the disk what its user has changed, and takes over
/// what others have.
@MainActor
public final class RememberedGalleries {
    /// Those that come with Vitrine.
    let presets: [Address]
    /// Those that the user remembers.
    private(set) var list: GalleryList {
        didSet { if list != oldValue { onChange() } }
    }
    /// Called when the list is another.
    var onChange: @MainActor () -> Void = {}
    /// Why the list is not on the disk, if it could not be written.
    private(set) var failure: String?
    private let onSave: @Sendable (_ list: GalleryList, _ before: GalleryList) async throws -> GalleryList
    /// The last list that is being written. Each waits for the one before, so that no older one can come out on top.
    private var saving: Task<Void, Never>?
    /// The list that those began with which could not be written, if that is so: all that has changed since is to be.
    private var unwritten: GalleryList?

    /// Begins with what was read.
    ///
    /// - Parameter onSave: writes the list, off the main actor; it is given the list that the changes were made to as well, and
    ///   returns the one that is on the disk then, which may hold what others have changed.
    public init(
        presets: [Address], list: GalleryList,
        onSave: @escaping @Sendable (_ list: GalleryList, _ before: GalleryList) async throws -> GalleryList
    ) {
        self.presets = presets
        self.list = list
        self.onSave = onSave
    }

    /// Keeps a list from now on.
    ///
    /// - Parameters:
    ///   - before: the list that it was made of, if that is not the one that is kept now.
    ///   - onEnd: called when it has been written, or with the reason if it could not be.
    func save(
        _ changed: GalleryList, since before: GalleryList? = nil,
        onEnd: @escaping @MainActor (_ failure: String?) -> Void
    ) {
        let current = list
        let list = before.map { changed.merging(current, since: $0) } ?? changed
        guard list != current || failure != nil else { return onEnd(nil) }
        self.list = list
        saving = Task { [onSave, previous = saving] in
            await previous?.value
            let before = unwritten ?? current
            do {
                let written = try await onSave(list, before)
                unwritten = nil
                failure = nil
                // Others' changes are ours now, beside what the user has changed meanwhile.
                self.list = self.list.merging(written, since: list)
            } catch {
                unwritten = before
                failure = "\(error)"
            }
            onEnd(failure)
        }
    }

    /// Returns when nothing is being written any more.
    func settled() async {
        await saving?.value
    }
}
