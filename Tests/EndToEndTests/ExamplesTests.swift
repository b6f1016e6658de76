import Foundation
import TestSupport
import Testing

/// The programs that docs/libraries.md shows as examples.
@Suite(.ownThread) struct ExamplesTests {
    private let folder = TestFolder()

    private func run(_ example: String, _ arguments: String...) throws -> Command {
        let command = try Command(Built.folder + "/example-" + example, arguments)
        #expect(command.errors.isEmpty && command.status == 0, "\(command.errors)")
        return command
    }

    @Test func databaseReportsItsChanges() throws {
        let path = folder.path("names.sqlite")
        let first = try run("sqlite", path, "Ada", "Grace")
        #expect(first.lines == ["at first: ", "rows [1] changed: Ada", "rows [2] changed: Ada Grace", "total: 2"])
        // The second run finds the migrated database. A failed transaction changes neither table.
        let second = try run("sqlite", path, "Ada")
        #expect(second.lines == ["at first: Ada Grace", "Ada is already there", "total: 2"])
    }

    @Test func bodyArrivesInPieces() throws {
        let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 5) }
        let server = try LoopbackServer.nginx(files: ["photo.jpg": body])
        let path = folder.path("photo.jpg")
        let fetched = try run("http", server.url("/photo.jpg"), path)
        #expect(fetched.lines == ["status 200, 3000000 bytes", "received 3000000 bytes in pieces"])
        #expect(FileManager.default.contents(atPath: path) == Data(body))
        // Files of this machine have no pieces.
        let copied = try run("http", "file://" + path, folder.path("copy.jpg"))
        #expect(copied.lines.last == "received 3000000 bytes in one request")
    }

    @Test func governorServesThePhotoFirst() throws {
        let simulation = try run("scheduling")
        #expect(try run("scheduling").text == simulation.text)
        let end = try #require(simulation.lines.last)
        #expect(end.hasPrefix("All transfers are complete after"))
        let photo = try #require(simulation.lines.firstIndex { $0.hasSuffix("the photo is complete") })
        #expect(simulation.lines[..<photo].contains { $0.hasSuffix("the photo among them") })
        // Thumbnails waited for the photo, and run again after it.
        #expect(simulation.lines[photo...].count > 2)
    }

    @Test func logKeepsTheLastEntries() throws {
        let path = folder.path("log")
        let log = try run("logging", path)
        #expect(log.lines.map { $0.drop { $0 != " " } } == (1...3).map { " info sync: Photo \($0) is new." })
        let file = String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
        #expect(file.split(separator: "\n").count == 5 && !file.contains("\u{1B}"))
    }

    @Test func photosOfAGalleryAndAFeedAreListed() throws {
        let feed = folder.write(
            "feed.xml",
            """
            <rss version="2.0"><channel><title>Sea</title><item><guid>1</guid><title>Low tide</title>
            <enclosure url="https://photos.example/tide.jpg" type="image/jpeg" length="1"/></item></channel></rss>
            """)
        let list = try run("formats", Built.testGallery + "/index.xml", feed)
        #expect(list.lines.first == "Three pears\tfile://\(Built.testGallery)/images/three-pears.jpg")
        #expect(list.lines.count > 20 && list.lines.last == "Low tide\thttps://photos.example/tide.jpg")
    }

    @Test func picturesAreDrawn() throws {
        let drawing = try run(
            "pictures", Built.folder + "/vitrine-decoder", Built.testGallery + "/images/owl.jpg")
        #expect(drawing.lines.count == 21 && drawing.text.contains("▀"))
        #expect(try #require(drawing.lines.first).hasSuffix("pixels"))
    }

    @Test("Other packages can use each library, and build the decoder that Pictures needs")
    func productsAreDeclared() throws {
        let repository = URL(fileURLWithPath: Built.testGallery).deletingLastPathComponent().path
        let package = try Command(
            "/usr/bin/env",
            [
                "swift", "package", "--package-path", repository, "--scratch-path", folder.path("build"),
                "dump-package",
            ])
        #expect(package.status == 0, "\(package.errors)")
        struct Description: Decodable {
            struct Product: Decodable {
                let name: String
            }
            let products: [Product]
        }
        let products = try JSONDecoder().decode(Description.self, from: Data(package.output)).products.map(\.name)
        let used = ["SQLite", "HTTP", "Scheduling", "Logging", "Formats", "Pictures", "vitrine-decoder"]
        #expect(Set(products).isSuperset(of: used))
    }
}
