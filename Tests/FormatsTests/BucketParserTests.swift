import Model
import TestSupport
import Testing

@testable import Formats

@Suite struct BucketParserTests {
    private func parse(_ text: String, prefix: String = "") throws -> ListingPiece {
        try ListingPiece(Array(text.utf8), BucketParser(prefix: Array(prefix.utf8)))
    }

    private func page(_ contents: String, encoding: String = "<EncodingType>url</EncodingType>") -> String {
        "<?xml version=\"1.0\"?><ListBucketResult>\(contents)\(encoding)</ListBucketResult>"
    }

    private func object(_ key: String) -> String { "<Contents><Key>\(key)</Key></Contents>" }

    private func folder(_ key: String) -> String { "<CommonPrefixes><Prefix>\(key)</Prefix></CommonPrefixes>" }

    /// A page in Amazon's form. Amazon, rclone and SeaweedFS encode such keys differently.
    private let list = """
        <?xml version="1.0" encoding="UTF-8"?>
        <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>photos</Name>
        <Prefix>2024+%231/</Prefix><NextContinuationToken>1ueG/cGx==</NextContinuationToken><KeyCount>5</KeyCount>
        <MaxKeys>1000</MaxKeys><Delimiter>/</Delimiter><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>
        <Contents><Key>2024+%231/</Key><Size>0</Size></Contents>
        <Contents><Key>2024+%231/a%2Bb+c%20d.jpg</Key><LastModified>2026-11-25T21:00:00.123Z</LastModified>
          <ETag>&quot;fba9-2&quot;</ETag><Size>123</Size><StorageClass>STANDARD</StorageClass>
          <Owner><ID>x.jpg</ID><Key>no.jpg</Key></Owner></Contents>
        <Contents><Key>2024%20%231/%C3%9C%0A&amp;&lt;.jpg</Key><LastModified>2026-11-25T21:00:01.000Z</LastModified>
          <ETag>&#34;0&#34;</ETag><Size>1</Size></Contents>
        <Contents><Key>2024+%231/notes.txt</Key><ETag>"1"</ETag></Contents>
        <CommonPrefixes><Prefix>2024+%231/May+%25/</Prefix></CommonPrefixes>
        <CommonPrefixes><Prefix>2024+%231/.hidden/</Prefix></CommonPrefixes>
        </ListBucketResult>
        """

    @Test("A page of a bucket is read, with its folders and the next page") func page() throws {
        let piece = try parse(list, prefix: "2024 #1/")
        #expect(piece.names == ["a+b c d.jpg", "Ü\n&<.jpg"] && piece.folderNames == ["May %"])
        #expect(piece.files.map(\.revision) == ["\"fba9-2\"", "\"0\""])
        #expect(piece.files.first?.date == Timestamp(iso8601: "2026-11-25T21:00:00.123Z"))
        #expect(piece.nextPage == "1ueG/cGx==" && piece.skipped.isEmpty)
    }

    @Test("A page states every object with its size, time and tag") func objects() throws {
        let parser = BucketParser(prefix: Array("2024 #1/".utf8))
        _ = try parser.parse(Array(list.utf8))
        let (objects, nextPage) = try parser.finishObjects()
        #expect(
            objects.map { String(decoding: $0.name, as: UTF8.self) } == ["", "a+b c d.jpg", "Ü\n&<.jpg", "notes.txt"])
        #expect(objects.map(\.size) == ["0", "123", "1", ""] && objects.map(\.tag) == ["", "fba9-2", "0", "1"])
        #expect(objects[1].date == Timestamp(iso8601: "2026-11-25T21:00:00.123Z") && objects[3].date == nil)
        #expect(nextPage == "1ueG/cGx==")
    }

    @Test("A page may be cut anywhere") func cuts() throws {
        try expectSameForEachCut(Array(list.utf8)) { BucketParser(prefix: Array("2024 #1/".utf8)) }
    }

    @Test("Keys are decoded only if the page says that they are encoded") func encoding() throws {
        let keys = object("a+b%41 c.jpg") + folder("d+%41/")
        for document in [page(keys), page("<EncodingType>url</EncodingType>" + keys, encoding: "")] {
            let piece = try parse(document)
            #expect(piece.names == ["a bA c.jpg"] && piece.folderNames == ["d A"])
        }
        let plain = try parse(page(keys, encoding: ""))
        #expect(plain.names == ["a+b%41 c.jpg"] && plain.folderNames == ["d+%41"])
        // Bytes need not be UTF-8, and a wrong escape is no escape.
        let bytes = try parse(page(object("latin%FC%zz%.jpg"))).files.map(\.name)
        #expect(bytes == [Array("latin".utf8) + [0xFC] + Array("%zz%.jpg".utf8)])
    }

    @Test("Keys that addresses cannot contain are counted, and other unwanted keys are ignored") func skipped() throws {
        let unsound =
            ["a//", "a/../", "a/./", "/", "b/"].map(folder).joined() + object("a/b/c.jpg") + object("x/d.jpg")
        let piece = try parse(page(unsound), prefix: "a/")
        #expect(piece.files.isEmpty && piece.folders.isEmpty)
        #expect(piece.skipped.sorted() == ["/", "a/../", "a/./", "a//", "a/b/c.jpg", "b/", "x/d.jpg"])
        let long = String(repeating: "x", count: 1_100) + ".jpg"
        #expect(try parse(page(object(long))).skipped == [long])
        for key in ["a/", "a/.", "a/..", "a/.hidden.jpg", "a/text", "a/b/text"] {
            #expect(try parse(page(object(key)), prefix: "a/") == ListingPiece(), "\(key)")
        }
        // Elements elsewhere do not count.
        #expect(try parse(page("<x>\(object("a.jpg"))</x><Key>a.jpg</Key><Prefix>b/</Prefix>")) == ListingPiece())
    }

    @Test("Without a validator, size and date are the revision") func revisions() throws {
        let facts = "<Size>1</Size><LastModified>2026-11-25T21:00:00Z</LastModified>"
        #expect(
            try parse(page("<Contents><Key>a.jpg</Key>\(facts)</Contents>")).files.map(\.revision) == [
                "1-2026-11-25T21:00:00Z"
            ])
        let long = String(repeating: "1", count: 300)
        #expect(
            try parse(page("<Contents><Key>a.jpg</Key><ETag>\(long)</ETag></Contents>")).files.first?.revision == "")
    }

    @Test("Other documents and excessive sizes are rejected") func rejected() throws {
        #expect(throws: FormatError.notAGallery("another kind of XML document")) { try parse("<album></album>") }
        #expect(throws: FormatError.self) { try parse("<ListBucketResult>" + object("a.jpg")) }
        #expect(throws: FormatError.self) { try parse(page("<IsTruncated>true</IsTruncated>")) }
        #expect(throws: FormatError.documentType) {
            try parse("<!DOCTYPE a [<!ENTITY a 'aaaa'>]><ListBucketResult>&a;</ListBucketResult>")
        }
        let long = String(repeating: "x", count: 20_000)
        #expect(throws: FormatError.tooLong(line: 1)) { try parse(page(object(long))) }
        #expect(throws: FormatError.tooLong(line: 0)) {
            try parse(page(String(repeating: folder("a/"), count: 100_001)))
        }
        #expect(throws: FormatError.tooDeep) {
            try parse("<ListBucketResult>" + String(repeating: "<x>", count: 200))
        }
    }

    @Test("Mangled pages do not crash the parser") func mangled() {
        expectNoCrash(Array(list.utf8), seed: 5) { BucketParser(prefix: Array("2024 #1/".utf8)) }
    }

    @Test("A page is recognised by its first element") func recognised() {
        #expect(ListingFormat(contentType: "application/xml", beginning: Array(list.utf8)) == .bucket)
        for other in ["<html>", "<album>", "<list>", "ListBucketResult", "<Error>", ""] {
            #expect(!BucketParser.recognises(Array(other.utf8)))
        }
    }

    @Test("A refusal has a reason and a region") func refusals() {
        func refusal(_ body: String, region: String? = nil) -> BucketRefusal? {
            BucketRefusal(status: 403, region: region, body: Array(body.utf8))
        }
        let denied = "<?xml version=\"1.0\"?>\n<Error><Code>AccessDenied</Code><Message>No</Message></Error>"
        #expect(refusal(denied) == BucketRefusal(status: 403, code: "AccessDenied"))
        #expect(refusal(denied, region: "eu-west-1")?.region == "eu-west-1")
        #expect(refusal(denied, region: "eu:west")?.region == nil)
        let region = "<Error><Code>AuthorizationHeaderMalformed</Code><Region>garage</Region></Error>"
        #expect(refusal(region)?.region == "garage" && refusal(region)?.isOfRegion == true)
        // A truncated document states its reason, too.
        #expect(refusal("<Error><Code>SignatureDoesNotMatch</Code><Mess")?.isOfKey == true)
        // A code contains only letters and digits.
        #expect(refusal("<Error><Code>a\u{7}b\u{202E}c</Code></Error>")?.code != "a\u{7}b\u{202E}c")
        for other in ["", "<html>", "<Error/>", "<Error><Code></Code></Error>", "<Errors><Code>A</Code></Errors>"] {
            #expect(refusal(other) == nil, "\(other)")
        }
    }
}
