import Testing

@testable import Formats

@Suite struct LivePhotosTests {
    private static func files(_ names: [String]) -> [ListedFile] { names.map { ListedFile(name: Array($0.utf8)) } }

    /// Returns the names that a filter passes, and those that it passes at the end.
    private func pass(_ pieces: [[String]]) -> (first: [String], last: [String]) {
        var filter = LivePhotoFilter()
        let first = pieces.flatMap { filter.filter(Self.files($0)) }
        func names(_ files: [ListedFile]) -> [String] { files.map { String(decoding: $0.name, as: UTF8.self) } }
        return (names(first), names(filter.finish()))
    }

    @Test("The video of a live photo has no row of its own, wherever the photo is in the list")
    func companions() {
        let found = pass([["IMG_1.MOV", "IMG_1.HEIC"], ["IMG_2.mov"], ["img_2.JPG", "IMG_3.mp4"], ["IMG_3.heic"]])
        #expect(found.first == ["IMG_1.HEIC", "img_2.JPG", "IMG_3.heic"])
        #expect(found.last.isEmpty)
    }

    @Test("Other videos stay, such as a film beside its cover, or one with another name")
    func others() {
        let found = pass([["film.jpg", "film.mp4", "a.mov", "b.heic", "b.webm", "b.png", "c.png", "c.mov", "b2.mov"]])
        #expect(found.first == ["film.jpg", "b.heic", "b.webm", "b.png", "c.png"])
        #expect(found.last == ["film.mp4", "a.mov", "c.mov", "b2.mov"])
    }

    @Test("A folder of any length is filtered if each video is near its photo", arguments: [1, 100, 2_000, 120_000])
    func longFolders(pieceLength: Int) {
        let names = (0..<60_000).flatMap { number in
            // Some servers sort the endings backwards.
            number % 2 == 0
                ? ["IMG_\(number).HEIC", "IMG_\(number).MOV"] : ["IMG_\(number).MOV", "IMG_\(number).HEIC"]
        }
        let pieces = stride(from: 0, to: names.count, by: pieceLength).map { start in
            Array(names[start..<min(start + pieceLength, names.count)])
        }
        let found = pass(pieces)
        #expect(found.first.count == 60_000 && found.first.allSatisfy { $0.hasSuffix(".HEIC") })
        #expect(found.last.isEmpty)
    }

    @Test("Photos and videos apart are matched up to the bound of the filter", arguments: [true, false])
    func apart(arePhotosFirst: Bool) {
        func names(_ count: Int) -> [[String]] {
            let photos = (0..<count).map { "IMG_\($0).HEIC" }
            let videos = (0..<count).map { "IMG_\($0).MOV" }
            return arePhotosFirst ? [photos, videos] : [videos, photos]
        }
        let within = pass(names(20_000))
        #expect(within.first.count == 20_000 && within.last.isEmpty)
        let beyond = pass(names(60_000))
        #expect(beyond.first.count + beyond.last.count <= 100_000, "the filter matches 20,000 of them at least")
        #expect(Set(beyond.first + beyond.last).isSuperset(of: (0..<60_000).map { "IMG_\($0).HEIC" }))
    }

    @Test("The number in the name of an album's photo does not matter")
    func albums() {
        var filter = LivePhotoFilter()
        var files = Self.files(["7-a.mov", "12-a.heic", "13-b.mov"])
        for index in files.indices { files[index].hideAlbumNumber() }
        #expect(filter.filter(files).map(\.shownName) == [Array("a.heic".utf8)])
        #expect(filter.finish().map(\.shownName) == [Array("b.mov".utf8)])
    }
}
