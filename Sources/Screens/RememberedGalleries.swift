import Model
import Settings

/// The galleries there are to choose from: those that come with Vitrine, and those that the user remembers.
@MainActor
public final class RememberedGalleries {
    /// Those that come with Vitrine.
    let presets: [Address]
    /// Those that the user remembers.
    private(set) var list: GalleryList {
        didSet { onChange() }
    }
    /// Called when the list is another.
    var onChange: @MainActor () -> Void = {}
    /// Why the list is not on the disk, if it could not be written.
    private(set) var failure: String?
    private let onSave: @Sendable (GalleryList) async throws -> Void
    /// The last list that is being written. Each waits for the one before, so that no older one can come out on top.
    private var saving: Task<Void, Never>?

    /// Begins with what was read.
    ///
    /// - Parameter onSave: writes the list, off the main actor.
    public init(
        presets: [Address], list: GalleryList, onSave: @escaping @Sendable (GalleryList) async throws -> Void
    ) {
        self.presets = presets
        self.list = list
        self.onSave = onSave
    }

    /// Keeps a list from now on.
    ///
    /// - Parameter onEnd: called when it has been written, or with the reason if it could not be.
    func save(_ list: GalleryList, onEnd: @escaping @MainActor (_ failure: String?) -> Void) {
        guard list != self.list || failure != nil else { return onEnd(nil) }
        self.list = list
        saving = Task { [onSave, previous = saving] in
            await previous?.value
            do {
                try await onSave(list)
                failure = nil
            } catch {
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
