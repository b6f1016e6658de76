import Model
import Testing

@testable import Formats

@Suite struct ImmichShareParserTests {
    private static let album = "00000000-0000-4000-8000-0000000000bb"
    private static let ids = (1...3).map { "0000000\($0)-0000-4000-8000-0000000000aa" }
    private static let server = "http://photos.test/"

    private func parse(
        _ text: String, page: String? = nil, pieces size: Int = .max
    ) throws -> (photos: [LibraryPhoto], next: String?) {
        let parser = try #require(ImmichSharePage(name: page)).makeParser(server: Address(Self.server))
        var photos: [LibraryPhoto] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            photos += try parser.parse(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return (photos + (try parser.finish()), parser.nextPage)
    }

    private static let month = """
        {"id":["\(ids[0])","\(ids[1])","\(ids[2])"],"isImage":[true,false,true],"thumbhash":["AAAA",null,"BBBB"],\
        "fileCreatedAt":["2024-05-06T22:30:00.000","2024-05-06T22:30:00Z","x"],"localOffsetHours":[5.5,2,1e300],\
        "duration":[null,62500,"x"]}
        """
    private static let link = """
        {"type":"INDIVIDUAL","album":{},"assets":[{"id":"\(ids[0])","type":"IMAGE","originalFileName":"a.jpg"},\
        {"id":"\(ids[1])","type":"VIDEO"},{"id":"bad"}],"allowDownload":false}
        """

    @Test("A link lists photos, or leads to the months of an album")
    func links() throws {
        let (photos, next) = try parse(Self.link)
        #expect(photos.map(\.name) == ["a.jpg", Self.ids[1]] && next == nil)
        #expect(photos.first?.photo.text == "http://photos.test/api/assets/\(Self.ids[0])/thumbnail?size=preview")
        let album = try parse(#"{"album":{"albumName":"x","id":"\#(Self.album)"},"assets":[]}"#)
        #expect(album.photos.isEmpty && album.next == "\(Self.album) originals")
        let months = try parse(#"[{"timeBucket":"2024-05-01","count":3}]"#, page: album.next)
        #expect(months.photos.isEmpty && months.next == "\(Self.album) originals 2024-05")
        #expect(try parse("[]", page: album.next).next == nil)
    }

    @Test("A month has times on the camera’s clock, and videos")
    func months() throws {
        let (photos, next) = try parse(Self.month, page: "\(Self.album) originals 2024-05 2024-04")
        #expect(next == "\(Self.album) originals 2024-04")
        #expect(photos.map(\.id) == Self.ids && photos.map(\.thumbhash) == ["AAAA", "", "BBBB"])
        #expect(photos.map(\.name) == ["2024-05-07 04.00.00", "2024-05-07 00.30.00", Self.ids[2]])
        #expect(photos.map(\.videoMilliseconds) == [nil, 62_500, nil])
        #expect(photos[0].date == .cameraTime(try #require(Timestamp(iso8601: "2024-05-07T04:00:00Z"))))
        #expect(photos[2].date == nil)
        #expect(photos[0].photo.text == "http://photos.test/api/assets/\(Self.ids[0])/original")
    }

    @Test("An answer in pieces gives the same photos, and a truncated answer is an error")
    func cuts() throws {
        for (text, page) in [(Self.link, nil), (Self.month, "\(Self.album) previews 2024-05")] {
            let whole = try parse(text, page: page)
            for size in 1...7 { #expect(try parse(text, page: page, pieces: size) == whole) }
            for count in 0..<text.utf8.count - 1 {
                #expect(throws: FormatError.self) {
                    try parse(String(decoding: text.utf8.prefix(count), as: UTF8.self), page: page)
                }
            }
        }
    }

    @Test(
        "Other answers are no links and no months",
        arguments: ["{}", "[]", "1", #"{"assets":{}}"#, #"{"id":["../../x"],"isImage":[true]}"#, "<html></html>"])
    func others(text: String) throws {
        #expect(throws: FormatError.self) { try parse(text) }
        #expect(throws: FormatError.self) { try parse(text, page: "\(Self.album) originals 2024-05") }
    }

    @Test(
        "Names that a link could not have made are no pages",
        arguments: ["", "x", "x originals", "\(album)", "../../api originals 2024-05"])
    func names(name: String) { #expect(ImmichSharePage(name: name) == nil) }
}
