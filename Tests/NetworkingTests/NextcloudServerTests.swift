import Formats
import Foundation
import Model
import TestSupport
import Testing

/// The stand-in for Nextcloud, judged by Nextcloud's own client and by the library that Nextcloud uses.
@Suite(.ownThread) struct NextcloudServerTests {
    private let tree: NastyTree

    init() throws { tree = try NastyTree(isText: true) }

    /// A second copy of the user's files, and the client's own files.
    private struct Copy {
        let folder = TestFolder()
        private let home = TestFolder()

        /// Copies what has changed on the server.
        func update(from server: NextcloudServer) throws {
            let command = try Command(
                "/usr/bin/nextcloudcmd",
                [
                    "--non-interactive", "--silent", "-h", "-u", NextcloudServer.user, "-p", NextcloudServer.password,
                    folder.path, server.url(""),
                ], environment: ["HOME": home.path, "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"])
            try #require(command.status == 0, "\(command.errors)")
        }

        /// The contents of the files, by path.
        var files: [[UInt8]: Data] {
            var files: [[UInt8]: Data] = [:]
            for path in FileManager.default.enumerator(atPath: folder.path)?.compactMap({ $0 as? String }) ?? []
            where !path.hasPrefix(".sync_") {
                if let bytes = FileManager.default.contents(atPath: folder.path(path)) {
                    files[Array(path.utf8)] = bytes
                }
            }
            return files
        }
    }

    @Test("Nextcloud’s own client copies all files, and then only the changed ones")
    func client() async throws {
        let server = try await NextcloudServer.start(serving: tree.root)
        let copy = Copy()
        try copy.update(from: server)
        // The client adds to names while it receives, so the longest name is too long for the disk.
        var expected = Dictionary(uniqueKeysWithValues: tree.photos.map { ($0.path, Data($0.bytes)) })
        expected = expected.filter { $0.key.count < 255 }
        #expect(expected.count == tree.photos.count - 1)
        #expect(copy.files == expected)

        var before = server.requests.count
        try copy.update(from: server)
        #expect(server.requests.dropFirst(before).count { $0.hasPrefix("PROPFIND") } == 1)
        #expect(!server.requests.dropFirst(before).contains { $0.contains(".jpg") })

        let changed = try #require(tree.photos.first { $0.id.hasSuffix("/inside.jpg") })
        try Data("changed".utf8).write(to: URL(fileURLWithPath: tree.root + "/" + changed.id))
        expected[changed.path] = Data("changed".utf8)
        before = server.requests.count
        try copy.update(from: server)
        #expect(copy.files == expected)
        #expect(server.requests.dropFirst(before).count { $0.hasPrefix("PROPFIND") } == 2)
        #expect(server.requests.dropFirst(before).count { $0.contains(".jpg") } == 1)
    }

    // MARK: - Beside sabre/dav

    private static let sizes = "<d:resourcetype/><d:getcontentlength/><d:getlastmodified/>"

    /// Returns the answer to a request for some properties.
    private func answer(_ address: String, _ properties: String, depth: Int = 1) throws -> String {
        let body = "<d:propfind xmlns:d=\"DAV:\" xmlns:x=\"urn:x\"><d:prop>\(properties)</d:prop></d:propfind>"
        return try Command(
            "/usr/bin/curl",
            [
                "-s", "-X", "PROPFIND", "-u", "\(NextcloudServer.user):\(NextcloudServer.password)", "-H",
                "Depth: \(depth)", "--data-binary", body, address,
            ]
        ).text
    }

    /// Returns the parsed answer, in the order of names.
    private func piece(_ address: String, _ properties: String) throws -> ListingPiece {
        let parser = WebDAVParser(folder: ListedFolder(try Address(address)))
        var piece = try parser.parse(Array(try answer(address, properties).utf8))
        let end = try parser.finish()
        piece.files = (piece.files + end.files).sorted { $0.name.lexicographicallyPrecedes($1.name) }
        piece.folders = (piece.folders + end.folders).sorted { $0.name.lexicographicallyPrecedes($1.name) }
        piece.etag = piece.etag ?? end.etag
        return piece
    }

    @Test("sabre/dav lists the same files and folders")
    func sabre() async throws {
        let server = try await NextcloudServer.start(serving: tree.root)
        let sabre = try await FolderServer.Kind.sabreDAV.start(serving: tree.root)
        let outer = PercentEncoding.encode(
            try #require(tree.photos.first { $0.id.hasSuffix("/inside.jpg") }).path.dropLast("inside.jpg".count),
            keepingEscapes: false, also: "/")
        for (folder, count) in [("", tree.photos.count - 2), (outer, 1)] {
            let ours = server.url("/remote.php/webdav/" + folder)
            let piece = try piece(ours, Self.sizes)
            // Without ETags, a revision is the size and the time.
            #expect(try piece == self.piece(sabre.address + folder, Self.sizes))
            // The parser leaves out hidden files.
            #expect(piece.files.count == count - (folder.isEmpty ? 1 : 0) && piece.folders.count == 1)
            #expect(try self.piece(server.url("/remote.php/dav/files/me/" + folder), Self.sizes) == piece)
            // This version of sabre/dav has no ETags for files.
            let tagged = try self.piece(ours, Self.sizes + "<d:getetag/>")
            #expect(tagged.files.map(\.name) == piece.files.map(\.name) && tagged.etag?.hasPrefix("\"") == true)
            #expect(Set(tagged.files.map(\.revision)).count == tagged.files.count)
        }
    }

    @Test("sabre/dav reports unknown properties in the same way")
    func unknownProperties() async throws {
        let server = try await NextcloudServer.start(serving: tree.root)
        let sabre = try await FolderServer.Kind.sabreDAV.start(serving: tree.root)
        func counts(_ address: String, depth: Int) throws -> [Int] {
            let text = try answer(address, Self.sizes + "<x:unknown/>", depth: depth)
            return ["<d:response>", "<d:propstat>", "HTTP/1.1 200 OK", "HTTP/1.1 404 Not Found", "unknown"].map {
                text.components(separatedBy: $0).count - 1
            }
        }
        for depth in [0, 1] {
            let ours = try counts(server.url("/remote.php/webdav/"), depth: depth)
            #expect(try ours == counts(sabre.address, depth: depth))
            let count = depth == 0 ? 1 : tree.photos.count
            #expect(ours.first == count)
        }
    }

    // MARK: - Signing in

    @Test("A login flow gives a password once the user has granted it")
    func loginFlow() async throws {
        let server = try await NextcloudServer.start(serving: tree.root)
        func post(_ url: String, _ body: String = "") throws -> (status: String, text: String) {
            let answer = try Command("/usr/bin/curl", ["-s", "-d", body, "-w", "\n%{http_code}", url])
            return (answer.lines.last ?? "", answer.lines.dropLast().joined())
        }
        func object(_ text: String) throws -> [String: Any] {
            try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        }
        let flow = try object(try post(server.url("/index.php/login/v2")).text)
        let poll = try #require(flow["poll"] as? [String: String])
        let (endpoint, token) = (try #require(poll["endpoint"]), try #require(poll["token"]))
        #expect(try post(endpoint, "token=\(token)").status == "404")
        let login = try #require(flow["login"] as? String)
        #expect(try Command("/usr/bin/curl", ["-s", login]).text.contains("grant"))
        #expect(try post(login).status == "200")
        let granted = try object(try post(endpoint, "token=\(token)").text)
        #expect(granted["loginName"] as? String == NextcloudServer.user)
        let password = try #require(granted["appPassword"] as? String)
        #expect(try post(endpoint, "token=\(token)").status == "404")
        let listed = try Command(
            "/usr/bin/curl",
            ["-s", "-X", "PROPFIND", "-u", "me:" + password, server.url("/remote.php/dav/files/me/")])
        #expect(listed.text.contains("IMG_0001.JPG"))
    }
}
