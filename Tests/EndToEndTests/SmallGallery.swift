import Foundation
import Model
import TestSupport

@testable import Cache

/// A folder with a gallery of ten small photos, and the environment to sync it. Vitrine copies the photos into its cache,
/// because they lie behind a link.
struct SmallGallery {
    let folder = TestFolder()
    let home = Household()
    /// The list before and after its change.
    enum Edition: String { case before = "A", after = "B" }

    init(_ edition: Edition = .before) throws {
        for name in ["photos", "thumbnails"] {
            try FileManager.default.copyItem(atPath: Built.testGallery + "/thumbnails", toPath: folder.path(name))
        }
        try FileManager.default.createSymbolicLink(atPath: folder.path("images"), withDestinationPath: "photos")
        try serve(edition)
    }

    /// Changes the list.
    func serve(_ edition: Edition) throws {
        folder.write("index.xml", try Self.list(edition))
    }

    var path: String { folder.path("index.xml") }
    var address: Address { Address(filePath: path) }
    var log: String { home.folder.path("log") }
    var aftermath: Aftermath { Aftermath(home: home, log: log) }
    /// The possible lists of ids.
    static func ids(_ edition: Edition) throws -> Set<String> {
        Set(try list(edition).matches(of: #/ id="([^"]*)"/#).map { String($0.output.1) })
    }

    private static func list(_ edition: Edition) throws -> String {
        try String(contentsOfFile: "\(Built.testGallery)/changes-\(edition.rawValue).xml", encoding: .utf8)
    }

    /// Fetches everything that the faults allow.
    func sync(_ faults: Faults? = nil) throws -> Command {
        try home.vitrine(
            "sync", "--photos", "--log-level=debug", "--log-file=\(log)", path, environment: faults?.environment ?? [:])
    }

    /// The output of `sync` for a complete cache.
    static let everything = "10 photos, 10 thumbnails, 10 photos cached\n"
    /// The renditions that the log of the first `sync` reports as stored.
    static let acknowledged = ["photo": 10, "thumbnail": 10]
}

/// The TestGallery with its photos behind a link. Vitrine therefore copies them into its cache.
struct LinkedTestGallery {
    private let folder = TestFolder()

    init() throws {
        let files = FileManager.default
        try files.copyItem(atPath: Built.testGallery + "/images", toPath: folder.path("photos"))
        try files.createSymbolicLink(atPath: folder.path("images"), withDestinationPath: "photos")
        for name in ["thumbnails", "index.xml", "index-big.xml"] {
            try files.copyItem(atPath: "\(Built.testGallery)/\(name)", toPath: folder.path(name))
        }
    }

    /// The folder.
    var path: String { folder.path }
    /// The list of 110 photos.
    var big: String { folder.path("index-big.xml") }
}
