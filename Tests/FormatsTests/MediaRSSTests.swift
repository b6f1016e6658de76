import Model
import Testing

@testable import Formats

/// Pictures of feeds that Media RSS describes.
@Suite struct MediaRSSTests {
    /// Returns the photos of an item with these elements.
    private func photos(_ elements: String) throws -> [LibraryPhoto] {
        let parser = FeedParser(base: try Address("https://a.example/feed"))
        let feed = """
            <rss xmlns:x="http://search.yahoo.com/mrss"><channel><item><title>All</title>\(elements)</item></channel></rss>
            """
        return try parser.parse(Array(feed.utf8)) + parser.finish()
    }

    @Test("Titles and thumbnails belong to their pictures")
    func titles() throws {
        let photos = try photos(
            """
            <x:content url="1.jpg"><x:title>One</x:title><x:thumbnail url="1s.jpg"/></x:content>
            <x:content url="2.jpg"/><x:thumbnail url="s.jpg"/>
            """)
        #expect(photos.map(\.name) == ["One", "All"])
        #expect(photos.map(\.thumbnail?.text) == ["https://a.example/1s.jpg", nil])
        #expect(photos.map(\.id) == ["https://a.example/1.jpg", "https://a.example/2.jpg"])
    }

    @Test("A group is one photo in its largest size, with the thumbnail of the item")
    func gallery3() throws {
        let photos = try photos(
            """
            <x:thumbnail url="thumb.jpg" height="200" width="150"/><x:group>
            <x:content url="resize.jpg" fileSize="90000" type="image/jpeg" height="640" width="480" isDefault="true"/>
            <x:content url="full.jpg" fileSize="900000" type="image/jpeg" height="3264" width="2448"/></x:group>
            """)
        #expect(photos.map(\.photo.text) == ["https://a.example/full.jpg"])
        #expect(photos.map(\.thumbnail?.text) == ["https://a.example/thumb.jpg"])
    }

    @Test(
        "The largest picture of a group has the most pixels, then the most bytes, or is the default or the first",
        arguments: [
            (#"width="3" height="5""#, #"width="4" height="4""#, "b"),
            (#"width="4" height="4" fileSize="1""#, #"width="3" height="5" fileSize="9""#, "a"),
            (#"fileSize="1""#, #"fileSize="9""#, "b"), (#"fileSize="9""#, #"fileSize="1" isDefault="true""#, "a"),
            (#"isDefault="false""#, #"isDefault="true""#, "b"), ("", "", "a"), (#"width="x""#, #"fileSize="-1""#, "a"),
            (#"width="9999999999999999999" height="9999999999999999999""#, #"width="1" height="1""#, "a"),
        ])
    func sizes(first: String, second: String, largest: String) throws {
        let photos = try photos(
            """
            <x:group><x:content url="video.mp4" medium="video" width="9" height="9"/>
            <x:content url="a.jpg" \(first)/><x:content url="b.jpg" \(second)/></x:group>
            """)
        #expect(photos.map(\.photo.text) == ["https://a.example/\(largest).jpg"])
    }

    @Test("The largest picture of a group gets the texts and the thumbnail of the others")
    func texts() throws {
        let photos = try photos(
            """
            <x:group><x:content url="a.jpg"><x:title>Small</x:title><x:thumbnail url="s.jpg"/>
            <x:description>A lake</x:description></x:content>
            <x:content url="b.jpg" fileSize="9"><x:title>Large</x:title></x:content></x:group>
            """)
        #expect(photos.map(\.name) == ["Large"] && photos.map(\.annotations.description) == ["A lake"])
        #expect(photos.map(\.thumbnail?.text) == ["https://a.example/s.jpg"])
    }

    @Test("Each group of an item is a photo, and so is each picture outside of groups")
    func groups() throws {
        let photos = try photos(
            """
            <x:content url="1.jpg"/><x:group><x:content url="2.jpg"/><x:content url="2s.jpg"/></x:group>
            <x:group><x:content url="3.mp4" medium="video"/></x:group>
            <x:group><x:content url="4.jpg"/><x:content url="4s.jpg"/></x:group><x:content url="5.jpg"/>
            """)
        #expect(photos.map { $0.photo.text.suffix(5) } == ["1.jpg", "2.jpg", "4.jpg", "5.jpg"])
    }
}
