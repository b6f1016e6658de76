import Cells
import Session
import Model

@testable import Cache
@testable import UI

/// Scenes of one photo.
extension Scene {
    static let photos = [
        Scene("photo") { try await $0.open(at: "lighthouse", isPhotoOpen: true) },
        Scene("photo-facts") { scene in
            try await scene.open(at: "misty-hills", isPhotoOpen: true, "i")
            try await scene.examined()
        },
        Scene("photo-everything") { scene in
            try await scene.open(at: "misty-hills", isPhotoOpen: true, "i", "i")
            try await scene.examined()
        },
        Scene("photo-plain", settings: { $0.plain = true }) { scene in
            try await scene.fill()
            scene.screens.open(at: "misty-hills", isPhotoOpen: true)
            try await scene.examined()
        },
        Scene("photo-enlarged") { scene in
            try await scene.open(at: "lighthouse", isPhotoOpen: true, "=")
        },
        Scene("photo-slideshow") { try await $0.open(at: "lighthouse", isPhotoOpen: true, "S") },
        Scene("photo-loading") { scene in
            try await scene.open(at: "desert-dusk", isPhotoOpen: true)
            scene.screens.activity.setProgress(
                Progress(done: 100_000, total: 400_000), of: try scene.screens.subject("desert-dusk", .original))
            try await scene.screens.until { scene.screens.status.contains("Loading… 1") && scene.showsPicture }
        },
        Scene("photo-failed") { scene in
            try await scene.open(at: "owl", isPhotoOpen: true)
            try await scene.screens.note(
                .bad(Failure("the server answered 404 (not found)", remedy: .none)), for: .original, of: "owl")
            try await scene.screens.until { scene.screens.status.contains("failed") }
        },
        Scene("photo-saved-where") { try await $0.open(at: "lighthouse", isPhotoOpen: true, "s") },
    ]
}
