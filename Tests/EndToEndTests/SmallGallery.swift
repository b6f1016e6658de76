import Foundation
import Model
import TestSupport

@testable import Cache

/// A folder with a gallery of ten small photos, and the environment to sync it.
struct SmallGallery {
    let folder = TestFolder()
    let home = Household()
    /// The list before and after its change.
    enum Edition: String { case before = "A", after = "B" }

    init(_ edition: Edition = .before) throws {
        for name in ["images", "thumbnails"] {
            try FileManager.default.copyItem(atPath: Built.testGallery + "/thumbnails", toPath: folder.path(name))
        }
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
}
