import Model
import Testing

@Suite struct FolderPathTests {
    @Test func pathsHaveNamesAndParents() {
        let path = FolderPath(ofPhoto: "2024/Lisbon/a.jpg")
        #expect(path.text == "2024/Lisbon" && path.name == "Lisbon" && path.names == ["2024", "Lisbon"])
        #expect(path.parent == FolderPath("2024") && path.parent?.parent == .top && FolderPath.top.parent == nil)
        #expect(FolderPath(ofPhoto: "a.jpg") == .top && FolderPath.top.names == [])
    }

    @Test func foldersContainPhotosByWholeNames() {
        let path = FolderPath("2024")
        #expect(path.contains(photo: "2024/a.jpg") && path.contains(photo: "2024/Lisbon/a.jpg"))
        #expect(!path.contains(photo: "2024.jpg") && !path.contains(photo: "20240/a.jpg"))
        #expect(path.holds(photo: "2024/a.jpg") && !path.holds(photo: "2024/Lisbon/a.jpg"))
        #expect(path.child(containing: "2024/Lisbon/Alfama/a.jpg") == FolderPath("2024/Lisbon"))
        #expect(path.child(containing: "2024/a.jpg") == nil && path.child(containing: "2023/x/a.jpg") == nil)
        #expect(FolderPath.top.child(containing: "2024/a.jpg") == path)
    }

    /// A disk may have both. The mark after the slash joins it to one character.
    @Test func pathsAreComparedByTheirBytes() {
        #expect(FolderPath("e\u{301}") != FolderPath("\u{E9}"))
        #expect(FolderPath(ofPhoto: "a/\u{301}b.jpg") == FolderPath("a"))
        #expect(FolderPath("a").contains(photo: "a/\u{301}b.jpg"))
    }

    @Test("A gallery's kind follows from its photos, or from its name before they are known")
    func kinds() throws {
        let (local, web) = (Address(filePath: "/pictures"), try Address("http://example.org/album/"))
        #expect(GalleryKind(local, hasPaths: true) == .folder && GalleryKind(local, hasPaths: false) == .list)
        #expect(GalleryKind(web, hasPaths: false) == .list && GalleryKind(web, hasPaths: nil) == nil)
        #expect(GalleryKind(Address(filePath: "/pictures/index.xml"), hasPaths: nil) == .list)
        #expect(GalleryKind(local, hasPaths: nil) == nil)
    }
}
