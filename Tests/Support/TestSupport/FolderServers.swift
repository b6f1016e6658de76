import Foundation

/// A real web server or WebDAV server that shows a folder to everybody on loopback.
///
///     let tree = try NastyTree()
///     for kind in FolderServer.all {
///         let server = try await kind.start(serving: tree.root)
///         fetch(server.address)
///     }
public final class FolderServer: Sendable {
    /// A kind of server, and the format of its lists.
    public enum Kind: String, CaseIterable, Sendable {
        /// Apache with lists as web pages, and the server's local time.
        case apacheListing
        /// nginx with lists as web pages.
        case nginxHTML
        /// nginx with lists in JSON, which have names and no addresses.
        case nginxJSON
        /// nginx with lists in XML, which have names and no addresses.
        case nginxXML
        /// lighttpd with lists as web pages, and the server's local time.
        case lighttpd
        /// Caddy with lists as web pages, or in JSON on request.
        case caddy
        /// Python's `http.server`.
        case pythonHTTPServer
        /// copyparty with lists as web pages, or in JSON with the query `?ls`.
        case copyparty
        /// `rclone serve http`.
        case rcloneHTTP
        /// Apache with WebDAV.
        case apacheDAV
        /// nginx with WebDAV.
        case nginxDAV
        /// `rclone serve webdav`.
        case rcloneDAV
        /// WsgiDAV.
        case wsgidav
        /// copyparty with WebDAV.
        case copypartyDAV
        /// sabre/dav, the library of ownCloud and Nextcloud, in PHP's own server.
        case sabreDAV

        /// Whether its lists are answers to `PROPFIND`.
        public var isDAV: Bool { Self.davKinds.contains(self) }

        private static let davKinds: Set = [apacheDAV, nginxDAV, rcloneDAV, wsgidav, copypartyDAV, sabreDAV]

        /// Starts a server. It listens when this returns.
        public func start(serving folder: String) async throws -> FolderServer {
            // Other tests go on while the server starts.
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(with: Result { try FolderServer(self, serving: folder) })
                }
            }
        }
    }

    /// All kinds.
    public static let all = Kind.allCases

    /// The kind.
    public let kind: Kind
    private let server: LoopbackServer
    private let log: Log?

    /// The URL of the folder.
    public var address: String { server.url("/") }

    /// The file with a server's requests.
    enum Log {
        /// Lines with a method and an address.
        case lines(file: String)
        /// Lines in JSON, as Caddy writes them.
        case json(file: String)
    }

    /// A program, its settings and its log.
    struct Launch {
        let program: String
        var arguments: [String] = []
        var configuration: String?
        var files: [String: String] = [:]
        var log: Log?
    }

    private init(_ kind: Kind, serving folder: String) throws {
        let launch = kind.launch(serving: folder)
        for path in [launch.program] + launch.arguments.filter({ $0.hasPrefix(Built.testServers) }) + kind.parts
        where access(path, R_OK) != 0 {
            throw Failure(description: "\(path) is missing. Tools/Scripts/install-packages test installs it.")
        }
        self.kind = kind
        log = launch.log
        server = try LoopbackServer(
            launch.program, launch.arguments, configuration: launch.configuration,
            files: launch.files.mapValues { Array($0.utf8) },
            environment: [
                "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": "FOLDER", "PYTHONPATH": Built.testServers,
                "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1",
                // Local times in lists differ from UTC, so a reader that confuses them is noticed.
                "TZ": "EST5EDT,M3.2.0,M11.1.0",
            ])
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The requests so far as sent, such as `PROPFIND /a%20b/`, in the order of the log; nil for a server without a
    /// log of them.
    ///
    /// The log is written after an answer. So a last request is made and awaited before the log is read.
    public func requests() throws -> [String]? {
        guard let log else { return nil }
        let marker = "GET /marker-\(UUID().uuidString)"
        _ = try Command("/usr/bin/curl", ["-s", "-o", "/dev/null", server.url(String(marker.dropFirst(4)))])
        for _ in 0..<3_000 {
            let requests = read(log)
            if let end = requests.firstIndex(of: marker) {
                return requests[..<end].filter { !$0.hasPrefix("GET /marker-") }
            }
            poll(nil, 0, 5)
        }
        throw Failure(description: "The log of \(kind) lacks the request \(marker).")
    }

    private func read(_ log: Log) -> [String] {
        switch log {
        case .lines(let file):
            server.text(file).matches(of: #/\b(GET|HEAD|OPTIONS|PROPFIND|PFIND) +(/[^ "\n]*)/#).map { match in
                // copyparty's own word.
                (match.1 == "PFIND" ? "PROPFIND" : match.1) + " " + match.2
            }
        case .json(let file):
            server.text(file).split(separator: "\n").compactMap { line in
                let entry = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                guard let request = entry?["request"] as? [String: Any], let method = request["method"] as? String,
                    let address = request["uri"] as? String
                else { return nil }
                return "\(method) \(address)"
            }
        }
    }
}
