import Model
import Settings

/// The galleries there are to choose from: those that come with Vitrine, and those that the user remembers.
@MainActor
public final class RememberedGalleries {
    /// Those that come with Vitrine.
    let presets: [Address]
    /// Those that the user remembers.
    private(set) var list: GalleryList
    private let onSave: @Sendable (GalleryList) async throws -> Void

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
    /// - Parameter onFailure: called with the reason if it could not be written.
    func save(_ list: GalleryList, onFailure: @escaping @MainActor (String) -> Void) {
        guard list != self.list else { return }
        self.list = list
        Task { [onSave] in
            do { try await onSave(list) } catch { onFailure("\(error)") }
        }
    }
}
