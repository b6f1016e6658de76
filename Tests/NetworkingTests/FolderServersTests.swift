import Foundation
import TestSupport
import Testing

/// The real servers that other tests use.
@Suite(.ownThread) struct FolderServersTests {
    private let tree: NastyTree
    private let plainTree: NastyTree

    init() throws {
        (tree, plainTree) = (try NastyTree(), try NastyTree(isText: true))
    }

    private func tree(for kind: FolderServer.Kind) -> NastyTree { kind.listsAllBytes ? tree : plainTree }

    private static let properties = """
        <propfind xmlns="DAV:"><prop><resourcetype/><getcontentlength/><getlastmodified/><getetag/></prop></propfind>
        """

    /// Fetches the list of the root. Returns the status and the list.
    private func list(_ server: FolderServer) throws -> (status: String, text: String) {
        let request =
            server.kind.isDAV
            ? ["-X", "PROPFIND", "-H", "Depth: 1", "--data-binary", Self.properties] : []
        let answer = try Command("/usr/bin/curl", ["-s", "-w", "\n%{http_code}"] + request + [server.address])
        return (String(answer.text.suffix(3)), answer.text)
    }

    /// Encodes every byte of an id.
    private func encoded(_ id: String) -> String {
        var bytes = Array(id.utf8)
        // The mark of a byte that is not UTF-8, and the two digits of that byte.
        while let mark = bytes.firstRange(of: [0xEF, 0xBF, 0xBD])?.lowerBound {
            let byte = UInt8(String(decoding: bytes[mark + 3..<mark + 5], as: UTF8.self), radix: 16) ?? 0
            bytes.replaceSubrange(mark..<mark + 5, with: [byte])
        }
        return bytes.map { $0 == 0x2F ? "/" : String(format: "%%%02X", $0) }.joined()
    }

    @Test("Each server lists a folder", arguments: FolderServer.all) func listing(kind: FolderServer.Kind) async throws
    {
        let tree = tree(for: kind)
        let list = try list(try await kind.start(serving: tree.root))
        #expect(list.status == (kind.isDAV ? "207" : "200"))
        #expect(list.text.contains("IMG_0001.JPG"))
        #expect(list.text.contains(".hidden.jpg") == kind.ids(of: tree).contains(".hidden.jpg"))
    }

    @Test("Each server has the photos that it lists, except those that it refuses", arguments: FolderServer.all)
    func photos(kind: FolderServer.Kind) async throws {
        let (tree, folder) = (tree(for: kind), TestFolder())
        let server = try await kind.start(serving: tree.root)
        let ids = kind.ids(of: tree)
        let orders = ids.enumerated().map {
            "url = \"\(server.address)\(encoded($1))\"\noutput = \"\(folder.path("\($0)"))\"\n"
        }
        let command = try Command(
            "/usr/bin/curl", ["-s", "-w", "%{http_code}\n", "-K", folder.write("orders", orders.joined())])
        let refused = zip(ids, command.lines).filter { $1 != "200" }.map(\.0)
        #expect(command.lines.count == ids.count && refused == kind.refusedIDs)
        let received = Set(
            folder.entries().compactMap { FileManager.default.contents(atPath: folder.path($0)) }.map(Array.init))
        let photos = tree.photos.filter { received.contains($0.bytes) }
        #expect(photos.count == ids.count - refused.count)
    }

    @Test("Logs have the requests as sent", arguments: FolderServer.all) func requests(kind: FolderServer.Kind)
        async throws
    {
        let server = try await kind.start(serving: tree(for: kind).root)
        for method in ["GET", "PROPFIND"] {
            _ = try Command("/usr/bin/curl", ["-s", "-X", method, "-H", "Depth: 0", server.address + "%7Etilde%2Ejpg"])
        }
        let hasNone: Set<FolderServer.Kind> = [.rcloneHTTP, .rcloneDAV, .wsgidav]
        let expected = ["GET /%7Etilde%2Ejpg", "PROPFIND /%7Etilde%2Ejpg"]
        #expect(try server.requests() == (hasNone.contains(kind) ? nil : expected))
    }

    @Test("A server ends with its object", arguments: FolderServer.all) func ending(kind: FolderServer.Kind)
        async throws
    {
        let (folder, name) = (TestFolder(), UUID().uuidString)
        folder.write(name + ".jpg", "picture")
        var server: FolderServer? = try await kind.start(serving: folder.path)
        let address = try #require(server?.address)
        // Another test's server may take the port soon. It has other photos.
        let request = ["-s", "-X", kind.isDAV ? "PROPFIND" : "GET", "-H", "Depth: 1", address]
        #expect(try Command("/usr/bin/curl", request).text.contains(name))
        server = nil
        #expect(try !Command("/usr/bin/curl", request).text.contains(name))
    }
}
