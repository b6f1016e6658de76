import Foundation

/// A real storage service on loopback, with the photos of a tree.
///
///     let server = try await BucketServer.Kind.seaweed.start(with: try NastyTree(isText: true))
///     fetch(server.url("/open/"))
public final class BucketServer: Sendable {
    /// A kind of service.
    public enum Kind: String, CaseIterable, Sendable {
        /// SeaweedFS. The bucket `photos` needs the key, and everybody may list the bucket `open`.
        case seaweed
        /// `rclone serve s3` with the bucket `photos`, which needs the key.
        case rclone
        /// `rclone serve s3` with the bucket `photos`, which needs no key.
        case openRclone

        /// Starts a service.
        public func start(with tree: NastyTree) async throws -> BucketServer {
            // Other tests go on while the server starts.
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(with: Result { try BucketServer(self, tree) })
                }
            }
        }

        /// The ids of a tree's listed photos, in byte order.
        public func ids(of tree: NastyTree) -> [String] {
            NastyTree.sorted(
                tree.ids.map { id in
                    switch self {
                    // A backslash separates folders as a slash does.
                    case .seaweed:
                        id.replacingOccurrences(of: "\\", with: "/").replacingOccurrences(of: "//", with: "/")
                    // The service replaces control characters by pictures of them, also in addresses.
                    case .rclone, .openRclone: id.replacingOccurrences(of: "\n", with: "\u{240A}")
                    }
                })
        }
    }

    /// The id of the key.
    public static let key = "AKIDVITRINE"
    /// The secret of the key.
    public static let secret = "S3cret/+key="

    private let server: LoopbackServer

    /// Starts a service with an empty bucket `photos`, to which the key may write. In SeaweedFS the bucket `open` is empty
    /// too, and everybody may read it.
    public init(writable kind: Kind) throws {
        switch kind {
        case .seaweed:
            server = try Self.seaweed()
            try send(["photos", "open"].map { "url = \"\(url("/\($0)"))\"\nrequest = PUT\n" }, from: TestFolder())
        case .rclone, .openRclone:
            server = try LoopbackServer(
                Built.testServers + "/bin/rclone",
                [
                    "serve", "s3", "FOLDER/data", "--addr", "127.0.0.1:PORT", "--config", "", "--cache-dir",
                    "FOLDER/cache", "-q", "--auth-key", "\(Self.key),\(Self.secret)",
                ],
                files: ["data/photos/other.txt": Array("other".utf8)],
                environment: ["PATH": "/usr/bin:/bin", "HOME": "FOLDER"])
        }
    }

    /// Runs rclone as an independent client. `bucket:` is the service.
    public func rclone(_ arguments: String...) throws -> Command {
        try Command(
            Built.testServers + "/bin/rclone", ["--config", ""] + arguments,
            environment: [
                "PATH": "/usr/bin:/bin", "HOME": server.folder.path, "RCLONE_CONFIG_BUCKET_TYPE": "s3",
                "RCLONE_CONFIG_BUCKET_PROVIDER": "Other", "RCLONE_CONFIG_BUCKET_ACCESS_KEY_ID": Self.key,
                "RCLONE_CONFIG_BUCKET_SECRET_ACCESS_KEY": Self.secret, "RCLONE_CONFIG_BUCKET_ENDPOINT": url(""),
                "RCLONE_CONFIG_BUCKET_FORCE_PATH_STYLE": "true",
            ])
    }

    private init(_ kind: Kind, _ tree: NastyTree) throws {
        switch kind {
        case .seaweed:
            server = try Self.seaweed()
            try fill(with: tree)
        case .rclone: server = try Self.rclone(tree, ["--auth-key", "\(Self.key),\(Self.secret)"])
        case .openRclone: server = try Self.rclone(tree, [])
        }
    }

    /// Returns the URL of a path.
    public func url(_ path: String) -> String { server.url(path) }

    private static func rclone(_ tree: NastyTree, _ arguments: [String]) throws -> LoopbackServer {
        let parent = URL(fileURLWithPath: tree.root).deletingLastPathComponent().path
        return try LoopbackServer(
            Built.testServers + "/bin/rclone",
            [
                "serve", "s3", parent, "--addr", "127.0.0.1:PORT", "--config", "", "--cache-dir", "FOLDER/cache",
                "--dir-cache-time", "1s", "--read-only", "-q",
            ] + arguments,
            environment: ["PATH": "/usr/bin:/bin", "HOME": "FOLDER"])
    }

    private static func seaweed() throws -> LoopbackServer {
        // SeaweedFS needs a port for each of its parts.
        let probes = try (0..<7).map { _ in try ScriptedServer { _ in [] } }
        let ports = probes.map { "\($0.port)" }
        for probe in probes { probe.stop() }
        let users = """
            {"identities": [
                {"name": "anonymous", "actions": ["Read:open", "List:open"]},
                {"name": "me", "credentials": [{"accessKey": "\(key)", "secretKey": "\(secret)"}],
                 "actions": ["Admin", "Read", "Write", "List"]},
                {"name": "reader", "credentials": [{"accessKey": "READER", "secretKey": "\(secret)"}],
                 "actions": ["Read:photos"]},
                {"name": "lister", "credentials": [{"accessKey": "LISTER", "secretKey": "\(secret)"}],
                 "actions": ["Read:photos", "List:photos"]}]}
            """
        return try LoopbackServer(
            Built.testServers + "/bin/weed",
            [
                "server", "-dir", "FOLDER", "-ip", "127.0.0.1", "-ip.bind", "127.0.0.1", "-volume.index", "memory",
                "-volume.max", "40", "-master.volumeSizeLimitMB", "16", "-master.port", ports[0], "-master.port.grpc",
                ports[1], "-volume.port", ports[2], "-volume.port.grpc", ports[3], "-filer", "-filer.port", ports[4],
                "-filer.port.grpc", ports[5], "-s3", "-s3.port", "PORT", "-s3.port.grpc", ports[6],
                "-s3.port.iceberg", "0", "-s3.port.lance", "0", "-s3.iam=false", "-s3.config", "FOLDER/users.json",
            ],
            files: ["users.json": Array(users.utf8)], environment: ["PATH": "/usr/bin:/bin", "HOME": "FOLDER"])
    }

    /// Creates the buckets and uploads the photos.
    private func fill(with tree: NastyTree) throws {
        let folder = TestFolder()
        var orders = ["photos", "open"].map { "url = \"\(url("/\($0)"))\"\nrequest = PUT\n" }
        for photo in tree.photos {
            // Signatures need letters and digits as they are.
            let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/".utf8)
            let name = photo.path.map {
                plain.contains($0) ? String(UnicodeScalar($0)) : String(format: "%%%02X", $0)
            }.joined()
            let file = folder.write("\(orders.count)", photo.bytes)
            for bucket in ["photos", "open"] {
                orders.append("url = \"\(url("/\(bucket)/\(name)"))\"\nupload-file = \"\(file)\"\n")
            }
        }
        try send(orders, from: folder)
    }

    /// Sends signed requests.
    private func send(_ orders: [String], from folder: TestFolder) throws {
        let common = """
            aws-sigv4 = "aws:amz:us-east-1:s3"
            user = "\(Self.key):\(Self.secret)"
            header = "x-amz-content-sha256: UNSIGNED-PAYLOAD"
            silent
            output = "/dev/null"
            write-out = "%{http_code}\\n"

            """
        let command = try Command(
            "/usr/bin/curl",
            ["-K", folder.write("orders", orders.map { common + $0 }.joined(separator: "next\n"))])
        guard command.lines.allSatisfy({ $0 == "200" }), command.lines.count == orders.count else {
            throw Failure(description: "SeaweedFS refused photos: \(command.lines)")
        }
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }
}
