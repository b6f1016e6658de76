import Testing

@testable import Formats

@Suite struct LivePhotosTests {
    private static func files(_ names: [String]) -> [ListedFile] { names.map { ListedFile(name: Array($0.utf8)) } }

    /// Returns the names that a filter passes, and those that it passes at the end.
    private func pass(_ pieces: [[String]]) -> (first: [String], last: [String]) {
        var filter = LivePhotoFilter()
        let first = pieces.flatMap { filter.pass(Self.files($0)) }
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

    @Test("The number in the name of an album's photo does not matter")
    func albums() {
        var filter = LivePhotoFilter()
        var files = Self.files(["7-a.mov", "12-a.heic", "13-b.mov"])
        for index in files.indices { files[index].hideAlbumNumber() }
        #expect(filter.pass(files).map(\.shownName) == [Array("a.heic".utf8)])
        #expect(filter.finish().map(\.shownName) == [Array("b.mov".utf8)])
    }
}
