import Cells
import Session
import Model

@testable import Cache
@testable import UI

/// Scenes of a gallery's photos, and of empty galleries.
extension Scene {
    static let lists = [
        Scene("photos") { try await $0.open(at: nil, "j", " ", " ") },
        Scene("photos-divided") { try await $0.open(at: "owl", "#") },
        Scene("photos-alone") { try await $0.open(at: "owl", "i") },
        Scene("photos-plain", settings: { $0.plain = true }) { try await $0.open(at: "october-oak") },
        Scene("sheet") { try await $0.open(at: "three-pears", Key(.tab), " ") },
        Scene("sheet-divided") { try await $0.open(at: "three-pears", Key(.tab), "#") },
        Scene("folders") { scene in
            try await scene.openFolders(at: "jetty.jpg")
            scene.screens.press("g", "j")
            try await scene.drawn()
        },
        Scene("albums") { try await $0.openAlbums() },
        Scene("photos-by-folder") { scene in
            try await scene.openFolders(at: "owl.jpg")
            scene.screens.press("t", "#", "#", "#", "#")
            let list = scene.screens.root.children.last as? PhotosScreen
            try await scene.screens.until { list?.lists.shown.sectionRule == .folder }
            try await scene.drawn()
        },
        Scene("search") { scene in
            try await scene.open(at: nil, "/")
            scene.screens.type("light")
            try await scene.found(2)
        },
        Scene("search-hit") { scene in
            try await scene.open(at: nil, "/")
            scene.screens.type("light")
            try await scene.found(2)
            scene.screens.press(Key(.enter), "n")
            try await scene.drawn()
        },
        Scene("filter") { scene in
            try await scene.open(at: nil, "f")
            scene.screens.type("2015")
            try await scene.found(2)
            scene.screens.press(Key(.enter))
            try await scene.drawn()
        },
        Scene("filter-without-hits") { scene in
            try await scene.open(at: nil, "f")
            scene.screens.type("zebra")
            try await scene.found(0)
            scene.screens.press(Key(.enter))
        },
        Scene("sort-menu") { try await $0.open(at: nil, ",") },
        Scene("updating") { scene in
            try await scene.open()
            scene.screens.activity.setPhase(
                .getting(Progress(done: 1_200_000, total: 2_000_000), entries: 11_000), of: scene.screens.cache.id)
            try await scene.screens.until { scene.screens.status.contains("Updating…") }
        },
        Scene("update-failed") { scene in
            try await scene.open()
            try await scene.screens.cache.writer.recordSyncFailure(
                Failure("the server answered 500 (server error)", remedy: .time))
            try await scene.screens.until { scene.screens.status.contains("failed") }
        },
        Scene("gallery-never-reached") { scene in
            let failure = Failure("example.org cannot be reached", remedy: .network)
            scene.screens.open()
            try await scene.screens.cache.writer.recordSyncFailure(failure)
            try await scene.screens.until { scene.screens.text.contains("The update") }
        },
        Scene("gallery-tried-again") { scene in
            scene.screens.open()
            scene.screens.activity.setPhase(
                .waiting(
                    Failure("photos.example.org cannot be reached", remedy: .time), until: SceneGallery.moment(75)),
                of: scene.screens.cache.id)
            try await scene.screens.until { scene.screens.text.contains("The update") }
        },
        Scene("gallery-fetched") { scene in
            scene.screens.open()
            scene.screens.activity.setPhase(.getting(Progress(done: 0)), of: scene.screens.cache.id)
            try await scene.screens.until { scene.screens.status.contains("Updating") }
        },
        Scene("gallery-empty") { scene in
            try await scene.screens.sync([GalleryEntry](), at: SceneGallery.now.seconds)
            scene.screens.open()
        },
        Scene("gallery-offline", settings: { $0.offline = true }) { $0.screens.open() },
    ]
}
