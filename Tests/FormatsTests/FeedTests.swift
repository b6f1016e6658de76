import Model
import TestSupport
import Testing

@testable import Formats

/// Feeds of photo sites, blogs and social networks.
@Suite struct FeedTests {
    private let base: Address

    init() throws { base = try Address("https://example.org/users/me/feed") }

    private func photos(_ text: String) throws -> [LibraryPhoto] {
        let parser = FeedParser(base: base)
        return try parser.parse(Array(text.utf8)) + parser.finish()
    }

    private func jsonPhotos(_ text: String) throws -> [LibraryPhoto] {
        let parser = JSONFeedParser(base: base)
        return try parser.parse(Array(text.utf8)) + parser.finish()
    }

    /// A feed as Mastodon writes it: items without titles, pictures with descriptions.
    private static let socialFeed = """
        <?xml version="1.0" encoding="UTF-8"?>
        <rss version="2.0" xmlns:webfeeds="http://webfeeds.org/rss/1.0" xmlns:media="http://search.yahoo.com/mrss/">
          <channel><title>Me</title><image><url>https://example.org/me.jpg</url></image>
            <item>
              <guid isPermaLink="true">https://example.org/@me/1</guid><link>https://example.org/@me/1</link>
              <pubDate>Wed, 25 Nov 2026 21:00:00 +0000</pubDate>
              <description>&lt;p&gt;Two of the lake&lt;/p&gt;</description>
              <media:content url="https://files.example.org/a.jpg" type="image/jpeg" fileSize="100" medium="image">
                <media:rating scheme="urn:simple">nonadult</media:rating>
                <media:description type="plain">A lake
                   at dawn</media:description>
              </media:content>
              <media:content url="https://files.example.org/b" type="image/png" medium="image"/>
              <media:content url="https://files.example.org/c.mp4" type="video/mp4" medium="video"/>
            </item>
            <item><guid>2</guid><description>No picture</description></item>
          </channel>
        </rss>
        """

    @Test("An item has 1,000 pictures at most")
    func manyPictures() throws {
        func feed(_ count: Int) -> String {
            let pictures = (0..<count).map { #"<media:content url="https://example.org/\#($0).jpg" medium="image"/>"# }
            return #"<rss xmlns:media="http://search.yahoo.com/mrss/"><channel><item><guid>1</guid>"#
                + pictures.joined() + "</item></channel></rss>"
        }
        #expect(try photos(feed(999)).count == 999)
        #expect(try photos(feed(1_000)).count == 1_000)
        #expect(try photos(feed(1_001)).count == 1_000)
    }

    @Test("The author's portrait is no photo of a post", arguments: ["https://0.", "http://", "//1."])
    func portrait(start: String) throws {
        let address = "\(start)gravatar.com/avatar/1?s=96"
        let feed =
            #"<rss xmlns:m="http://search.yahoo.com/mrss/"><channel><item><m:content url="\#(address)" medium="image"/>"#
            + "<description>&lt;img src='\(address)'&gt;&lt;img src='a.jpg'&gt;</description></item></channel></rss>"
        #expect(try photos(feed).map { $0.photo.text.hasSuffix("/a.jpg") } == [true])
    }

    @Test("The title of a feed is the name of the gallery, and the titles of posts and pictures are not")
    func names() throws {
        func name(_ parser: any LibraryParser<LibraryPhoto>, _ text: String) throws -> String? {
            _ = try parser.parse(Array(text.utf8))
            _ = try parser.finish()
            return parser.galleryName
        }
        let rss = "<rss><channel><image><title>Logo</title></image><item><title>Post</title></item>"
        #expect(
            try name(FeedParser(base: base), rss + "<title>My\n photos</title><title>x</title></channel></rss>")
                == "My photos")
        #expect(try name(FeedParser(base: base), rss + "</channel></rss>") == nil)
        let atom =
            #"<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>Post</title></entry><title>Lake</title></feed>"#
        #expect(try name(FeedParser(base: base), atom) == "Lake")
        let json = #"{"items":[{"title":"Post","attachments":[{"title":"x"}]}],"title":"Lake"}"#
        #expect(try name(JSONFeedParser(base: base), json) == "Lake")
    }

    @Test("Photos have the author and the tags of their post, and their own descriptions")
    func annotations() throws {
        let rss = try photos(
            """
            <rss xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:media="http://search.yahoo.com/mrss/"><channel>
            <category>channel</category><item><guid>1</guid><dc:creator>Zoë</dc:creator><category>lake</category>
            <category>lake</category><category>blue sky</category>
            <media:content url="a.jpg" medium="image"><media:description>A ferry</media:description></media:content>
            <media:content url="b.jpg" medium="image"/></item></channel></rss>
            """)
        #expect(rss.map(\.annotations.tags) == [["lake", "blue sky"], ["lake", "blue sky"]])
        #expect(
            rss.map(\.annotations.author) == ["Zoë", "Zoë"] && rss.map(\.annotations.description) == ["A ferry", ""])
        let atom = try photos(
            """
            <feed xmlns="http://www.w3.org/2005/Atom"><author><name>Site</name></author><entry><id>1</id><title>T</title>
            <contributor><name>Uwe</name></contributor><author><name>Anna</name><uri>x</uri></author><category term="lake" scheme="s"/>
            <link rel="enclosure" type="image/jpeg" href="a.jpg"/></entry></feed>
            """)
        #expect(atom.map(\.annotations.author) == ["Anna"] && atom.map(\.annotations.tags) == [["lake"]])
        let long = String(repeating: "é", count: 20_000)
        let tags = (0..<90).map { "<category>\($0) \(long)</category>" }.joined()
        let cut = try photos(
            "<rss><channel><item><guid>1</guid>\(tags)<enclosure type='image/jpeg' url='a.jpg'/></item></channel></rss>"
        )
        #expect(cut.map { $0.annotations.tags.map(\.utf8.count) } == [[256, 256, 256, 256]])
        let json = try jsonPhotos(
            #"{"items":[{"id":"1","tags":["lake","sky"],"attachments":[{"url":"a.jpg","mime_type":"image/jpeg"}]}]}"#)
        #expect(json.map(\.annotations.tags) == [["lake", "sky"]])
    }

    @Test(
        "The author of a post in RSS is the name, and not the e-mail address",
        arguments: [
            ("a@b.org (Anna)", "Anna"), ("a@b.org (Anna (Potsdam))", "Anna (Potsdam)"), ("Anna", "Anna"),
            ("Anna (Potsdam)", "Anna (Potsdam)"), ("a@b.org", ""), ("a@b.org ( )", ""), ("a@b.org )(", ""),
        ])
    func authors(text: String, name: String) throws {
        let found = try photos(
            "<rss><channel><item><author>\(text)</author><enclosure type='image/jpeg' url='a.jpg'/></item></channel></rss>"
        )
        #expect(found.map(\.annotations.author) == [name])
    }

    @Test(
        "The first author of a post in a JSON Feed is read, in both versions of the format",
        arguments: [
            (#""authors":[{"url":"x","name":"Anna"},{"name":"Uwe"}]"#, "Anna"), (#""author":{"name":"Anna"}"#, "Anna"),
            (#""author":{"name":"Anna","x":{"name":"y"}},"authors":[{"name":"Anna"}]"#, "Anna"),
            (#""authors":["x"],"author":["x"],"tags":{"name":"x"}"#, ""), (#""authors":{"name":"x"},"name":"x""#, ""),
            (#""other":[{"name":"x"}],"other":{"name":"x"}"#, ""), (#""authors":[{"name":7,"x":[{"name":"y"}]}]"#, ""),
        ])
    func jsonAuthors(members: String, name: String) throws {
        let found = try jsonPhotos(
            #"{"author":{"name":"Site"},"authors":[{"name":"Site"}],"items":[{\#(members),"image":"a.jpg"}]}"#)
        #expect(found.map(\.annotations.author) == [name] && found.map(\.annotations.tags) == [[]])
    }

    @Test("Each picture of a post is a photo, with its description as its name")
    func socialPosts() throws {
        let photos = try photos(Self.socialFeed)
        #expect(photos.map(\.id) == ["https://example.org/@me/1", "https://example.org/@me/1#2"])
        #expect(photos.map(\.name) == ["A lake at dawn", "b"])
        #expect(photos.map(\.photo.text) == ["https://files.example.org/a.jpg", "https://files.example.org/b"])
        #expect(
            try photos.allSatisfy { $0.date == .published(try #require(Timestamp(iso8601: "2026-11-25T21:00:00Z"))) })
    }

    /// A feed as Flickr writes it: Atom with enclosures.
    private static let siteFeed = """
        <feed xmlns="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/"
              xmlns:m="http://search.yahoo.com/mrss/">
          <title>Uploads</title><id>tag:example.org,2005:/photos</id><icon>https://example.org/icon.jpg</icon>
          <entry><title>Tide &amp;amp; sand</title><link rel="alternate" type="text/html" href="/photo/1"/>
            <id>tag:example.org,2005:/photo/1</id><published>2026-11-25T22:00:00+01:00</published>
            <updated>2026-11-26T00:00:00Z</updated><content type="html">&lt;img src="small.jpg"&gt;</content>
            <link rel="enclosure" type="image/jpeg" href="/photos/1&amp;large.jpg"/>
            <m:thumbnail url="//cdn.example.org/1_s.jpg" width="75"/></entry>
        </feed>
        """

    @Test("An enclosure is a photo, and the item's thumbnail is its thumbnail")
    func site() throws {
        let photo = try #require(try photos(Self.siteFeed).first)
        #expect(photo.id == "tag:example.org,2005:/photo/1" && photo.name == "Tide &amp; sand")
        #expect(photo.photo.text == "https://example.org/photos/1&large.jpg")
        #expect(photo.thumbnail?.text == "https://cdn.example.org/1_s.jpg")
        #expect(photo.date == .published(try #require(Timestamp(iso8601: "2026-11-25T21:00:00Z"))))
        #expect(try photos(Self.siteFeed).count == 1)
    }

    /// A feed as blogs write it: pictures in the text only.
    private static let blogFeed = """
        <rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><item>
          <title>A walk</title><guid>7</guid><pubDate>Wed, 25 Nov 2026 16:00:00 EST</pubDate>
          <description>Short</description>
          <content:encoded><![CDATA[<p>Text <img class="x" src="/uploads/one.jpg?w=600&amp;h=400" alt="One"></p>
            <img src="two.png"><img width="1" height="1" src="https://count.example.com/p.gif"><br>
            <img src="/uploads/one.jpg?w=600&amp;h=400">]]></content:encoded>
        </item></channel></rss>
        """

    @Test("The pictures in an item's text count if the item names no others")
    func blog() throws {
        let photos = try photos(Self.blogFeed)
        #expect(
            photos.map(\.photo.text) == [
                "https://example.org/uploads/one.jpg?w=600&h=400", "https://example.org/users/me/two.png",
            ])
        #expect(photos.map(\.id) == ["7", "7#2"] && photos.map(\.name) == ["A walk", "A walk"])
        #expect(photos.first?.date == .published(try #require(Timestamp(iso8601: "2026-11-25T21:00:00Z"))))
    }

    @Test("A picture inside a text, as a data address, does not hide the pictures that follow")
    func dataAddresses() throws {
        let data = "<img src='data:image/png;base64,\(String(repeating: "A", count: 70_000))'>"
        let photos = try jsonPhotos(#"{"items":[{"id":"1","content_html":"\#(data)<img src='a.jpg'>"}]}"#)
        #expect(photos.map(\.photo.text) == ["https://example.org/users/me/a.jpg"])
    }

    @Test(
        "The dates of feeds are read in all their forms",
        arguments: [
            ("2026-11-25T22:00:00+01:00", "2026-11-25T21:00:00Z"),
            ("Wed, 25 Nov 2026 21:00:00 GMT", "2026-11-25T21:00:00Z"),
            ("Sat, 07 Sep 02 00:00:01 GMT", "2002-09-07T00:00:01Z"), ("7 Sep 02 00:00 GMT", "2002-09-07T00:00:00Z"),
            ("Thu, 31 Dec 49 23:00:00 Z", "2049-12-31T23:00:00Z"),
            ("Sat, 31 Dec 50 23:00:00 UTC", "1950-12-31T23:00:00Z"),
            ("Wed, 25 Nov 2026 21:00:00 UT", "2026-11-25T21:00:00Z"),
            ("25 Nov 26 21:00:00 -0130", "2026-11-25T22:30:00Z"),
            ("Wednesday, 25-Nov-26 16:00:00 EST", "2026-11-25T21:00:00Z"),
            ("Wed, 25 Nov 2026 21:00 PDT", "2026-11-26T04:00:00Z"),
            ("2006-07-30", "2006-07-30T00:00:00Z"), ("2006-07-30T07:47Z", "2006-07-30T07:47:00Z"),
            ("2006-07-30T07:47+02:00", "2006-07-30T05:47:00Z"), ("2024-05-01T10:00:00+0000", "2024-05-01T10:00:00Z"),
            ("2024-05-01T10:00:00.5-0730", "2024-05-01T17:30:00.500Z"),
            ("", nil), ("T", nil), ("2006-07", nil), ("2006-02-30", nil), ("2006-07-30T", nil), ("2006-07-30T07Z", nil),
            ("2006-07-30T07:47", nil), ("2006-07-30T07:47ZZ", nil), ("25 Nov 2026 21:00:00", nil),
            ("25 Nov 026 21:00 UT", nil),
            ("25 Nov x6 21:00:00 UT", nil), ("25 Nov 2026 21:00:00 +01:0", nil), ("UT", nil),
            (String(repeating: " ", count: 60) + "2006-07-30", nil),
        ] as [(String, String?)])
    func dates(text: String, moment: String?) {
        #expect(FeedDate.moment(text)?.iso8601 == moment)
    }

    @Test("RSS 1.0 is read")
    func old() throws {
        let photos = try photos(
            """
            <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
             xmlns:dc="http://purl.org/dc/elements/1.1/"><item rdf:about="x"><title>Old</title>
            <dc:date>2006-07-30T07:47:17Z</dc:date><description>&lt;img src="o.jpg"&gt;</description></item></rdf:RDF>
            """)
        #expect(photos.map(\.name) == ["Old"] && photos.first?.photo.text == "https://example.org/users/me/o.jpg")
        #expect(photos.first?.date == .published(try #require(Timestamp(iso8601: "2006-07-30T07:47:17Z"))))
    }

    private static let jsonFeed = #"""
        {"version": "https:\/\/jsonfeed.org\/version\/1.1", "title": "Me", "items": [
          {"id": 1, "title": "One", "date_published": "2026-11-25T22:00:00+01:00", "image": "cover.jpg",
           "attachments": [{"url": "/a.jpg", "mime_type": "image/jpeg", "size_in_bytes": 5}, {"url": "b", "title": "Two",
            "mime_type": "image/png"}, {"url": "c.mp3", "mime_type": "audio/mpeg"}]},
          {"content_html": "<img src='three.jpg'>", "id": "x"}, {"id": "y", "image": "four.jpg"}, {"id": "z"}]}
        """#

    @Test("A JSON Feed is read: attachments, or else the image, or else the pictures in the text")
    func attachments() throws {
        let photos = try jsonPhotos(Self.jsonFeed)
        #expect(photos.map(\.id) == ["1", "1#2", "x", "y"])
        #expect(photos.map(\.name) == ["One", "Two", "three.jpg", "four.jpg"])
        #expect(photos.map { $0.photo.text.split(separator: "/").last } == ["a.jpg", "b", "three.jpg", "four.jpg"])
        #expect(photos.first?.date == .published(try #require(Timestamp(iso8601: "2026-11-25T21:00:00Z"))))
    }

    @Test("Feeds are recognised by their beginning")
    func recognition() {
        for feed in [Self.socialFeed, Self.siteFeed, Self.blogFeed] {
            #expect(FeedParser.recognises(Array(feed.utf8.prefix(200))))
            #expect(!JSONFeedParser.recognises(Array(feed.utf8.prefix(200))))
        }
        #expect(JSONFeedParser.recognises(Array(Self.jsonFeed.utf8.prefix(200))))
        for other in ["<album><photo/></album>", "<html><body>", "{\"items\":[]}", "[]", ""] {
            #expect(!FeedParser.recognises(Array(other.utf8)) && !JSONFeedParser.recognises(Array(other.utf8)))
        }
    }

    @Test("A feed may be cut anywhere", arguments: [socialFeed, siteFeed, blogFeed])
    func cuts(feed: String) throws {
        try expectSamePhotos(feed, photos(feed))
    }

    /// Expects the same photos wherever the feed is cut.
    private func expectSamePhotos(_ feed: String, _ whole: [LibraryPhoto]) throws {
        let bytes = Array(feed.utf8)
        for cut in 0...bytes.count {
            let parser = FeedParser(base: base)
            let found = try parser.parse(Array(bytes[..<cut])) + parser.parse(Array(bytes[cut...])) + parser.finish()
            #expect(found == whole)
        }
    }

    @Test("A feed may begin with empty lines", arguments: ["\r\n\n", "\u{FEFF}\n", " \n\u{FEFF}"])
    func emptyLines(lines: String) throws {
        #expect(FeedParser.recognises(Array((lines + Self.socialFeed).utf8.prefix(200))))
        try expectSamePhotos(lines + Self.socialFeed, photos(Self.socialFeed))
    }

    @Test("A JSON Feed may be cut anywhere")
    func jsonCuts() throws {
        let (whole, bytes) = (try jsonPhotos(Self.jsonFeed), Array(Self.jsonFeed.utf8))
        for cut in 0...bytes.count {
            let parser = JSONFeedParser(base: base)
            let found = try parser.parse(Array(bytes[..<cut])) + parser.parse(Array(bytes[cut...])) + parser.finish()
            #expect(found == whole)
        }
    }

    @Test("An incomplete feed is refused, so that it removes nothing")
    func incomplete() {
        for feed in [Self.socialFeed, Self.siteFeed, Self.blogFeed] {
            #expect(throws: FormatError.self) { try photos(String(feed.dropLast(12))) }
        }
        #expect(throws: FormatError.self) { try jsonPhotos(String(Self.jsonFeed.dropLast(3))) }
    }

    @Test("Hostile feeds end with an error, or with few photos of limited size")
    func hostile() throws {
        let item = "<item><guid>1</guid><enclosure type='image/jpeg' url='%'/></item>"
        func feed(_ url: String) -> String { "<rss><channel>" + item.replacing("%", with: url) + "</channel></rss>" }
        for url in ["file:///etc/passwd", "javascript:alert(1)", "data:image/png;base64,AAAA", "ftp://a/b.jpg", ""] {
            #expect(try photos(feed(url)).isEmpty, "\(url)")
        }
        #expect(try photos(feed("https://a.example/" + String(repeating: "a", count: 60_000))).isEmpty)
        #expect(throws: FormatError.self) {
            try photos("<rss>" + String(repeating: "<a>", count: 5_000) + String(repeating: "</a>", count: 5_000))
        }
        #expect(throws: FormatError.documentType) { try photos("<!DOCTYPE rss [<!ENTITY x 'y'>]><rss/>") }
        let many = String(repeating: "<enclosure type='image/jpeg' url='https://a.example/1.jpg'/>", count: 3_000)
        #expect(try photos("<rss><item><guid>1</guid>\(many)</item></rss>").count == 1)
        let long = String(repeating: "é", count: 200_000)
        let photo = try #require(
            try photos("<rss><item><title>\(long)</title><enclosure url='https://a.example/1.jpg'/></item></rss>").first
        )
        #expect(photo.name.utf8.count <= 260 && photo.name.hasSuffix("…"))
    }

    @Test("An item has a limited number of pictures and texts")
    func limits() throws {
        let pictures = (0..<3_000).map { "<enclosure type='image/jpeg' url='https://a.example/\($0).jpg'/>" }.joined()
        #expect(try photos("<rss><item><guid>1</guid>\(pictures)</item></rss>").count == 1_000)
        let attachments = (0..<3_000).map { "{\"url\":\"/\($0).jpg\"}" }.joined(separator: ",")
        let feed = "{\"items\":[{\"id\":\"1\",\"attachments\":[\(attachments)]}]}"
        let found = try jsonPhotos(feed)
        #expect(found.count == 1_000 && found.last?.photo.text == "https://example.org/999.jpg")
        let spaces = String(repeating: " ", count: 60_000) + "."
        let texts = (0..<200).map { "<description>&lt;img src='\($0).jpg'&gt;\(spaces)</description>" }
        #expect(try (1...20).contains(photos("<rss><item><guid>1</guid>\(texts.joined())</item></rss>").count))
        let short = (0..<300).map { "<description>&lt;img src='\($0).jpg'&gt;</description>" }.joined()
        #expect(try photos("<rss><item><guid>1</guid>\(short)</item></rss>").count == 100)
    }

    @Test("The images of XHTML in an entry's text are its pictures, and a title in XHTML is read")
    func xhtml() throws {
        let feed = """
            <feed xmlns="http://www.w3.org/2005/Atom">
            <title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">My <b>lakes</b></div></title>
            <entry><id>1</id><title type="xhtml"><div>Low <i>tide</i></div></title>
            <content type="xhtml"><h:div xmlns:h="http://www.w3.org/1999/xhtml"><h:p>Text &lt;img src="x.jpg"&gt;
            <h:img src="a.jpg?w=1&amp;h=2" alt="A lake"/><h:img src="dot.gif" width="1"/><h:img alt="None"/></h:p>
            <h:img src="//0.gravatar.com/avatar/1"/><h:img src="b.jpg"/></h:div></content></entry>
            <entry><id>2</id><title>Words</title><img xmlns="http://www.w3.org/1999/xhtml" src="c.jpg"/></entry>
            <entry><id>3</id><title type="text">A &lt;b&gt;</title>
            <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><img src="d.jpg"/></div></content>
            <link rel="enclosure" type="image/jpeg" href="e.jpg"/></entry></feed>
            """
        let parser = FeedParser(base: base)
        let photos = try parser.parse(Array(feed.utf8)) + parser.finish()
        #expect(parser.galleryName == "My lakes")
        #expect(photos.map(\.id) == ["1", "1#2", "3"] && photos.map(\.name) == ["Low tide", "Low tide", "A <b>"])
        #expect(photos.map { $0.photo.text.split(separator: "/").last } == ["a.jpg?w=1&h=2", "b.jpg", "e.jpg"])
        #expect(photos.map(\.annotations.description) == ["A lake", "", ""])
        try expectSamePhotos(feed, photos)
    }

    @Test("Addresses are relative to the innermost xml:base")
    func statedBases() throws {
        let feed = """
            <feed xmlns="http://www.w3.org/2005/Atom" xmlns:m="http://search.yahoo.com/mrss/" xml:base="/blog/">
            <entry xml:base="one/"><id>1</id><link rel="enclosure" type="image/jpeg" href="a.jpg"/>
            <m:thumbnail url="s.jpg"/></entry>
            <entry><id>2</id><content type="html" xml:base="//other.example/x/">&lt;img src="b.jpg"&gt;</content></entry>
            <entry><id>3</id><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml" xml:base="three/">
            <img src="c.jpg"/><p xml:base="https://a.example/?x=1&amp;y=2"><img src="d.jpg"/></p></div></content></entry>
            <entry base="ignored/" m:base="ignored/" xml:base=""><id>4</id><m:content url="e.jpg"/></entry></feed>
            """
        let found = try photos(feed)
        #expect(
            found.map(\.photo.text) == [
                "https://example.org/blog/one/a.jpg", "https://other.example/x/b.jpg",
                "https://example.org/blog/three/c.jpg", "https://a.example/d.jpg", "https://example.org/blog/e.jpg",
            ])
        #expect(found.first?.thumbnail?.text == "https://example.org/blog/one/s.jpg")
        let local = FeedParser(base: try Address("file:///photos/feed.xml"))
        let item = "<rss xml:base='sub/'><item><enclosure type='image/jpeg' url='a.jpg'/></item></rss>"
        #expect(try (local.parse(Array(item.utf8)) + local.finish()).map(\.photo.text) == ["file:///photos/sub/a.jpg"])
        try expectSamePhotos(feed, found)
    }

    @Test(
        "An invalid xml:base does not count, nor a local one in a remote feed",
        arguments: [
            "file:///etc/", "javascript:x", "data:,x", "http://[/", "ftp://a/",
            "https://a.example/" + String(repeating: "a", count: 60_000),
        ])
    func hostileBases(base: String) throws {
        let found = try photos(
            """
            <rss xml:base="\(base)"><channel xml:base="../you/"><item><guid>1</guid><enclosure type="image/jpeg" url="a.jpg"/>
            <enclosure type="image/jpeg" url="file:///etc/b.jpg"/></item><item><guid>2</guid>
            <description>&lt;img src="c.jpg"&gt; &lt;img src="file:///etc/d.jpg"&gt;</description></item></channel></rss>
            """)
        #expect(
            found.map(\.photo.text) == ["https://example.org/users/you/a.jpg", "https://example.org/users/you/c.jpg"])
    }

    @Test("The images of XHTML in one entry are limited")
    func manyImages() throws {
        func feed(_ images: String) -> String {
            "<feed xmlns='http://www.w3.org/2005/Atom'><entry><content type='xhtml'>"
                + "<div xmlns='http://www.w3.org/1999/xhtml'>\(images)</div></content></entry></feed>"
        }
        #expect(try photos(feed((0..<1_100).map { "<img src='\($0).jpg'/>" }.joined())).count == 1_000)
        let alt = String(repeating: "x", count: 60_000)
        let many = (0..<30).map { "<img src='\($0).jpg' alt='\(alt)'/>" }.joined()
        #expect(try photos(feed(many)).count == 17)
    }

    @Test("The text of a title or description in HTML is read without its tags and references")
    func htmlTitles() throws {
        let titles = [
            ("Don&amp;#8217;t", "Don’t"), ("Salt &amp;amp; Pepper", "Salt & Pepper"), ("Caf&amp;eacute; Ж", "Café Ж"),
            ("&lt;b&gt;Low&lt;/b&gt;tide&lt;br&gt;again", "Lowtide again"), ("AT&amp;T", "AT&T"), ("a &lt;", "a <"),
            ("<![CDATA[<p>One</p><p>Two</p><script>x</script>]]>", "One Two"), ("Plain", "Plain"),
            ("&lt;a href=&quot;", "<a href=\""),
        ]
        for (title, text) in titles {
            let photos = try photos(
                """
                <feed xmlns="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/">
                <entry><title type="html">\(title)</title><link rel="enclosure" type="image/jpeg" href="a.jpg"/></entry>
                <entry><media:content url="b.jpg"><media:title type="html">\(title)</media:title>
                <media:description type="html">\(title)</media:description></media:content></entry></feed>
                """)
            #expect(photos.map(\.name) == [text, text], "\(title)")
            #expect(photos.last.flatMap { FeedItem.line($0.annotations.description) } == text, "\(title)")
        }
        let parser = FeedParser(base: base)
        let feed = #"<feed xmlns="http://www.w3.org/2005/Atom"><title type="html">A &amp;amp; B</title></feed>"#
        _ = try parser.parse(Array(feed.utf8)) + parser.finish()
        #expect(parser.galleryName == "A & B")
    }

    @Test("A long text of a post is read, and a long title is cut between two characters", arguments: 0..<4)
    func longTexts(offset: Int) throws {
        let text = String(repeating: "x", count: offset) + String(repeating: "🌊", count: 50_000)
        let photos = try photos(
            """
            <rss xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><item><title>\(text)</title>
            <content:encoded><![CDATA[<img src="a.jpg">\(text)<img src="b.jpg">]]></content:encoded></item></channel></rss>
            """)
        #expect(photos.map { $0.photo.text.suffix(5) } == ["a.jpg", "b.jpg"])
        #expect(photos.allSatisfy { $0.name.hasSuffix("🌊…") })
    }

    @Test("An id that is too long is ignored, and the address is the id")
    func longIDs() throws {
        func ids(_ count: Int) throws -> [[String]] {
            let id = String(repeating: "x", count: count)
            let pictures = "<enclosure type='image/jpeg' url='a.jpg'/><enclosure type='image/jpeg' url='b.jpg'/>"
            let attachments = #"[{"url":"a.jpg"},{"url":"b.jpg"}]"#
            return [
                try photos("<rss><channel><item><guid>\(id)</guid>\(pictures)</item></channel></rss>").map(\.id),
                try jsonPhotos(#"{"items":[{"id":"\#(id)","attachments":\#(attachments)}]}"#).map(\.id),
            ]
        }
        let id = String(repeating: "x", count: 4_096)
        let addresses = ["https://example.org/users/me/a.jpg", "https://example.org/users/me/b.jpg"]
        #expect(try ids(4_096) == [[id, "\(id)#2"], [id, "\(id)#2"]])
        #expect(try ids(4_097) == [addresses, addresses])
    }

    @Test("Mutated feeds are read or refused")
    func mutations() {
        var random = SeededNumbers(seed: 11)
        for feed in [Self.socialFeed, Self.siteFeed, Self.blogFeed] {
            for _ in 0..<1_000 {
                var bytes = Array(feed.utf8)
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                let parser = FeedParser(base: base)
                guard let photos = try? parser.parse(bytes) + parser.finish() else { continue }
                #expect(photos.allSatisfy { [.http, .https].contains($0.photo.scheme) && !$0.id.isEmpty })
            }
        }
    }
}
