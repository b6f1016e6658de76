import Cache
import Model
import Settings
import TestSupport
import Testing

@testable import UI

/// The covers of folders whose photos first have the dates of their files.
@MainActor @Suite(.unlessItHangs) struct FolderCoverTests {
    private let screens: TestScreens

    init() throws {
        var settings = Settings()
        settings.syncOnOpen = false
        screens = try TestScreens(settings)
    }

    private static func day(_ number: Int64) -> Timestamp { Timestamp(milliseconds: (number - 1) * 86_400_000 + 1_000) }

    /// Updates the list to files that were uploaded on these days of January 1970.
    private func sync(_ files: [(path: String, day: Int64)]) async throws {
        let base = try Address("http://example.org/album/")
        try await screens.sync(
            files.map { path, day in
                GalleryEntry(
                    id: path, name: path, date: Self.day(day), dateOrigin: .modified, photo: try base.resolving(path),
                    thumbnail: nil, revision: "1")
            })
    }

    @Test(
        "A cover that is older than its file shows its own date, and stays until a later photo comes",
        arguments: [false, true])
    func olderCover(isByName: Bool) async throws {
        var files: [(path: String, day: Int64)] = [("2024/a.jpg", 10), ("2024/b.jpg", 20), ("e.jpg", 30)]
        try await sync(files)
        screens.open(at: "e.jpg")
        screens.press("t")
        try await screens.until { screens.title.contains("2 of 2") }
        if isByName {
            screens.press(",", "n")
            try await screens.until {
                screens.root.openGallery?.lists.folder?.photos.order == PhotoOrder(.name)
            }
        }
        #expect(screens.text.contains("newest: Tue 20 Jan 1970"))
        #expect(await screens.importance(of: try screens.subject("2024/b.jpg", .thumbnail)) == .visible)
        let cover = try screens.photo("2024/b.jpg")
        try await screens.cache.writer.store(
            thumbnail: TestScreens.picture(red: 9), of: cover.key, edition: cover.thumbnail.edition, taken: Self.day(5))
        try await screens.until { screens.text.contains("newest: Mon  5 Jan 1970") }
        // A new photo elsewhere makes Vitrine read all folders again.
        files.append(("2023/c.jpg", 8))
        try await sync(files)
        try await screens.until { screens.text.contains("newest: Thu  8 Jan 1970") }
        #expect(screens.text.contains("newest: Mon  5 Jan 1970"))
        #expect(await screens.importance(of: try screens.subject("2024/a.jpg", .thumbnail)) == nil)
        files.append(("2024/f.jpg", 15))
        try await sync(files)
        try await screens.until { screens.text.contains("newest: Thu 15 Jan 1970") }
        #expect(await screens.importance(of: try screens.subject("2024/f.jpg", .thumbnail)) == .visible)
    }
}
