import Cells
import Settings
import Testing

@testable import UI

/// What a user sees at one moment: how he has come there, in a window of any size.
struct Scene: Sendable, CustomTestStringConvertible {
    /// The name of the file that it is recorded in.
    let name: String
    /// Makes the screens, and leads to it.
    let make: @MainActor @Sendable (Size) async throws -> TestScreens

    var testDescription: String { name }

    /// - Parameters:
    ///   - list: which galleries the user has.
    ///   - change: changes settings.
    ///   - lead: presses the keys, and waits for what is to be seen.
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

    /// All of them.
    static let all = galleries + lists + photos + traffic + prompts
}
