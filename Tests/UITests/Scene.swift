import Cells
import Settings
import Testing

@testable import UI

/// A recorded screen: the steps that lead to it, for windows of any size.
struct Scene: Sendable, CustomTestStringConvertible {
    /// The name of its recording.
    let name: String
    /// Makes the screens and performs the steps.
    let make: @MainActor @Sendable (Size) async throws -> TestScreens

    var testDescription: String { name }

    /// - Parameters:
    ///   - list: the user's galleries.
    ///   - change: changes settings.
    ///   - lead: presses the keys, and waits for the expected screen.
    init(
        _ name: String, list: SceneGallery.List = .several,
        settings change: @escaping @Sendable (inout Settings) -> Void = { _ in },
        lead: @escaping @MainActor @Sendable (SceneGallery) async throws -> Void
    ) {
        self.name = name
        make = { size in
            let gallery = try SceneGallery(size, list, change)
            try await lead(gallery)
            return gallery.screens
        }
    }

    /// All scenes.
    static let all = galleries + lists + photos + traffic + prompts
}
