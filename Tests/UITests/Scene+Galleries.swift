import Cells
import Model

@testable import UI

/// Scenes of the list of galleries.
extension Scene {
    static let galleries = [
        Scene("first-run", list: .preset) { try await $0.lookedUp() },
        Scene("no-galleries", list: .none) { try await $0.lookedUp() },
        Scene("galleries") { try await $0.openGalleries() },
        Scene("gallery-typed") { scene in
            try await scene.openGalleries()
            scene.screens.press("a")
            scene.screens.type("photos.example.org/winter")
        },
        Scene("gallery-refused") { scene in
            try await scene.openGalleries()
            scene.screens.press("a")
            scene.screens.type("ftp://photos.example.org/winter")
            scene.screens.press(Key(.enter))
        },
        Scene("galleries-not-saved") { scene in
            try await scene.openGalleries()
            scene.screens.press("a")
            scene.screens.type("photos.example.org/winter")
            scene.screens.press(Key(.enter))
        },
        Scene("gallery-interval") { scene in
            try await scene.openGalleries()
            scene.screens.press("j", "i")
        },
        Scene("gallery-removed") { scene in
            try await scene.openGalleries()
            scene.screens.press("j", "d")
        },
    ]
}
