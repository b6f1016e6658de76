import Model
import Testing

@Suite struct GalleryKindTests {
    @Test(
        "A video has a page on its server, and its id cannot leave the page’s address",
        arguments: [
            (GalleryKind.immich, "/", "a-1", "http://photos.test/x/photos/a-1"),
            (.immich, "/share/K%20Y/photos", "a-1", "http://photos.test/x/share/K%20Y/photos/a-1"),
            (.photoPrism, "/", "p1", "http://photos.test/x/library/browse?q=uid:p1"),
            (.photoPrism, "/x/s/1abc/summer", "p1", "http://photos.test/x/s/1abc/summer"),
            (.photoPrism, "/s/x/library/all", "p1", "http://photos.test/x/library/browse?q=uid:p1"),
            (.piwigo, "/", "7", "http://photos.test/x/picture.php?/7"),
            (.piwigo, "/", "../?7&a#b", "http://photos.test/x/picture.php?/..%2F%3F7%26a%23b"),
            (.webDAV, "/", "a", nil),
        ] as [(GalleryKind, String, String, String?)])
    func pages(kind: GalleryKind, gallery: String, id: String, page: String?) throws {
        let (root, gallery) = (try Address("http://photos.test/x/"), try Address("http://photos.test" + gallery))
        #expect(kind.page(of: id, on: root, in: gallery)?.text == page)
    }
}
