import Glibc
import Model
import Testing

@testable import Formats

/// Lists designed to take long. Each is rejected, or read in time linear in its size.
@Suite struct HostileListTests {
    struct Hostile: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let head: String
        let unit: @Sendable (Int) -> String
        let tail: String

        init(
            _ name: String, _ head: String = "<album>", tail: String = "", _ unit: @escaping @Sendable (Int) -> String
        ) {
            (testDescription, self.head, self.tail, self.unit) = (name, head, tail, unit)
        }

        /// Generates at least that many bytes in pieces, until the body returns false.
        func forEachPiece(of count: Int, _ body: ([UInt8]) throws -> Bool) rethrows {
            var (piece, number, made) = (Array(head.utf8), 0, 0)
            while made + piece.count < count {
                piece += unit(number).utf8
                number += 1
                guard piece.count >= 1 << 18 else { continue }
                made += piece.count
                guard try body(piece) else { return }
                piece = []
            }
            _ = try body(piece + tail.utf8)
        }
    }

    static func many(_ count: Int, _ text: (Int) -> String) -> String { (0..<count).map(text).joined() }

    /// Nested elements that each declare namespaces.
    private static let nested =
        "<album>" + many(90) { level in "<p" + many(200) { " xmlns:n\(level)_\($0)='u'" } + ">" }
    private static let photo = #"<photo id="1" name="N" date="2006-07-30T07:47:17Z">"#

    static let lists: [Hostile] = [
        Hostile("tags of 60,000 attributes") { _ in "<p" + many(60_000) { " a\($0)=''" } + "/>" },
        Hostile("tags of 50,000 namespaces") { _ in "<p" + many(50_000) { " xmlns:a\($0)='u'" } + "/>" },
        Hostile("attributes of one tag", "<album><photo") { " a\($0)=''" },
        Hostile("attributes of one tag, each with a namespace", "<album xmlns:q='u'><photo") { " q:a\($0)=''" },
        Hostile("namespaces of one tag", "<album><photo") { " xmlns:a\($0)='u'" },
        Hostile("tags below many namespaces", nested) { _ in "<n0_0:q/>" },
        Hostile("unknown prefixes below many namespaces", nested) { _ in "<q:q/>" },
        Hostile("tags of as many attributes as may be") { _ in "<p" + many(256) { " a\($0)=''" } + "/>" },
        Hostile("names of elements, all different") { "<a\($0)/>" },
        Hostile("names of attributes, all different") { "<a b\($0)=''/>" },
        Hostile("addresses of namespaces, all different") { "<a xmlns='\($0)'/>" },
        Hostile("targets of instructions, all different") { "<?a\($0)?>" },
        Hostile("names of entities, all different") { "<a/>&a\($0);" },
        Hostile("one comment", "<album><!--") { _ in "- x" },
        Hostile("comments") { _ in "<!---->" },
        Hostile("one instruction", "<album><?a ") { _ in "? x" },
        Hostile("instructions") { _ in "<?a?>" },
        Hostile("one CDATA section", "<album><![CDATA[") { _ in "]] " },
        Hostile("CDATA sections") { _ in "<![CDATA[]]>" },
        Hostile("one text") { _ in "x" },
        Hostile("one text of angles") { _ in ">>>>" },
        Hostile("one reference", "<album>&") { _ in "aaaa" },
        Hostile("references") { _ in "<a/>&amp;&#65;&#x41;" },
        Hostile("references in values") { _ in "<a b='" + String(repeating: "&#65;", count: 10_000) + "'/>" },
        Hostile("one name", "<album><") { _ in "aaaa" },
        Hostile("long names") { "<a\($0)" + String(repeating: "a", count: 40_000) + "/>" },
        Hostile("one value", "<album><a b='") { _ in "aaaa" },
        Hostile("one value of angles", "<album><a b='") { _ in ">>>>" },
        Hostile("white space in a tag", "<album><a ") { _ in "    " },
        Hostile("white space in an end", "<album></album") { _ in "    " },
        Hostile("deep nesting", "") { _ in "<a>" },
        Hostile("white space before anything", "") { _ in "    " },
        Hostile("a document type", "<!DOCTYPE a [") { "<!ENTITY a\($0) 'b'>" },
        Hostile("a document type's name", "<!DOCTYPE ") { _ in "aaaa" },
        Hostile("a declaration", "<?xml version='1") { _ in "1111" },
        Hostile("openings") { _ in "<" },
        Hostile("photos without anything") { _ in "<photo/>" },
        Hostile("images of one photo", "<album>" + photo) { _ in "<image kind='thumbnail' srcURL=''/>" },
        Hostile("photos in photos") { _ in photo + photo + "</photo></photo>" },
        Hostile("long references") { _ in
            photo + "<image kind='image' srcURL='" + String(repeating: "a/../", count: 12_000) + "'/></photo>"
        },
        Hostile("long names of photos") { _ in
            "<photo id='1' date='2006-07-30T07:47:17Z' name='" + String(repeating: "e\u{301}", count: 20_000) + "'>"
                + "<image kind='image' srcURL='a'/></photo>"
        },
        Hostile("long dates") { _ in
            "<photo id='1' name='N' date='2006-07-30T07:47:17." + String(repeating: "1", count: 60_000) + "Z'>"
                + "<image kind='image' srcURL='a'/></photo>"
        },
        Hostile("Latin-1", "<?xml version='1.0' encoding='ISO-8859-1'?><album>") { _ in "<a b='\u{7F}'/>" },
    ]

    /// The CPU time limit for 10 MB, in seconds. Unoptimized code takes about ten times as long.
    private static var allowance: Double {
        #if DEBUG
            10
        #else
            1
        #endif
    }

    @Test("BEHAVIOURS 1.9: A hostile list of 10 MB is rejected or read within a second of CPU time", arguments: lists)
    func whole(list: Hostile) throws {
        #expect(try seconds(toRead: list, bytes: 10_000_000) < Self.allowance)
    }

    @Test(
        "BEHAVIOURS 1.9: A hostile list that arrives byte by byte takes linear time",
        arguments: lists)
    func trickling(list: Hostile) throws {
        #expect(try seconds(toRead: list, bytes: 200_000, pieces: 1) < Self.allowance)
    }

    @Test("An open photo is not copied with each piece")
    func openPhoto() throws {
        let value = String(repeating: "x", count: 60_000)
        let list = Hostile(
            "", "<album><photo id='\(value)' name='\(value)' date='\(value)'><image kind='image' srcURL='\(value)'/>"
        ) { _ in "<a/>" }
        #expect(try seconds(toRead: list, bytes: 1_000_000, pieces: 4) < Self.allowance / 2)
    }

    @Test("The texts of a post have 1,000 pictures at most, which are those of the first texts")
    func picturesInTexts() throws {
        let base = try Address("https://example.org/\(String(repeating: "a", count: 8_000))/")
        var item = FeedItem()
        for text in 1...4 { item.add(words: Self.many(400) { "<img src='\(text)-\($0).jpg'>" }, base: base) }
        let pictures = item.namedPictures
        #expect(pictures.count == 1_000)
        #expect(pictures.last?.address?.hasSuffix("/3-199.jpg") == true)
    }

    @Test(
        "UTF-16 has the same limits as UTF-8",
        arguments: lists.filter { ["attributes of one tag", "one text", "deep nesting"].contains($0.testDescription) })
    func wide(list: Hostile) throws {
        #expect(try seconds(toRead: list, bytes: 5_000_000, isWide: true) < Self.allowance)
    }

    @Test(
        "BEHAVIOURS 1.8: Cancellation takes effect within a few kilobytes of a piece",
        arguments: ["<p/>", "x", "&amp;"])
    func cancelled(unit: String) throws {
        let bytes = Array("<album>".utf8) + String(repeating: unit, count: 500_000).utf8
        let parser = GalleryXMLParser(base: try Address("http://example.org/index.xml"))
        var asked = 0
        #expect(throws: CancellationError.self) {
            try parser.parse(bytes) {
                asked += 1
                return asked == 30
            }
        }
        #expect(asked == 30)
    }

    // MARK: -

    /// Reads a list until it ends or is rejected. Returns the CPU time of this thread.
    private func seconds(
        toRead list: Hostile, bytes count: Int, pieces: Int = 1 << 18, isWide: Bool = false
    ) throws -> Double {
        let parser = GalleryXMLParser(base: try Address("http://example.org/index.xml"))
        var entry = EntryBytes()
        var seconds = 0.0
        func take(_ photos: WrittenPhotos) {
            var photos = photos
            for index in 0..<photos.count { _ = photos.read(index, into: &entry) }
        }
        func isRead(_ work: () throws -> Void) throws -> Bool {
            let start = Self.processorTime
            defer { seconds += Self.processorTime - start }
            do { try work() } catch is FormatError { return false }
            return true
        }
        var isWhole = true
        if isWide { _ = try parser.parse([0xFF, 0xFE]) }
        try list.forEachPiece(of: count) { piece in
            let bytes = isWide ? piece.flatMap { [$0, 0] } : piece
            isWhole = try isRead {
                for start in stride(from: 0, to: bytes.count, by: pieces) {
                    take(try parser.parse(bytes[start..<min(bytes.count, start + pieces)]))
                }
            }
            return isWhole
        }
        if isWhole { _ = try isRead { take(try parser.finish()) } }
        return seconds
    }

    private static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
