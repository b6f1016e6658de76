import Foundation

/// A stand-in for a Nextcloud server. It shows a folder as the files of the user `me` with the password `s3cret`.
///
/// A real server needs more than a test can bring. `Nextcloud/nextcloud.py` is written from its published protocol, and
/// tests let Nextcloud's own client and its WebDAV library judge it.
public final class NextcloudServer: Sendable {
    /// A folder that is open to everyone with its address, and perhaps a password.
    public struct Share: Sendable {
        private let folder: String
        private let password: String?

        /// Creates a share.
        ///
        /// - Parameter folder: the path below the user's files; empty for all.
        public init(of folder: String, password: String? = nil) {
            (self.folder, self.password) = (folder, password)
        }

        fileprivate var setting: [String: Any] { ["folder": folder, "password": password ?? NSNull()] }
    }

    /// The name of the user.
    public static let user = "me"
    /// The password of the user.
    public static let password = "s3cret"
    private let server: LoopbackServer

    /// Starts a server. It listens when this returns.
    ///
    /// - Parameters:
    ///   - shares: the public shares, by token.
    ///   - albums: the paths of the photos in the user's albums, by the albums' names.
    ///   - sharedAlbums: the same of albums that others share with the user; nil for a server without such albums.
    ///   - publicAlbums: the paths of the photos in albums that everyone may see, by the albums' tokens.
    ///   - login: another name with which the user can sign in.
    ///   - isOwnCloud: whether it is like a server of ownCloud. Such a server refuses requests of scripts in web pages,
    ///     and its shares have another address.
    public static func start(
        serving folder: String, shares: [String: Share] = [:], albums: [String: [String]] = [:],
        sharedAlbums: [String: [String]]? = [:], publicAlbums: [String: [String]] = [:], login: String? = nil,
        isOwnCloud: Bool = false
    ) async throws -> NextcloudServer {
        let settings = try JSONSerialization.data(withJSONObject: [
            "folder": folder, "user": user, "passwords": [password], "shares": shares.mapValues(\.setting),
            "albums": albums, "sharedAlbums": sharedAlbums.map { $0 as Any } ?? NSNull(), "publicAlbums": publicAlbums,
            "login": login.map { $0 as Any } ?? NSNull(), "isOwnCloud": isOwnCloud,
        ])
        // Other tests go on while the server starts.
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try NextcloudServer(settings: Array(settings)) })
            }
        }
    }

    private init(settings: [UInt8]) throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Nextcloud/nextcloud.py").path
        server = try LoopbackServer(
            "/usr/bin/python3", ["-B", script, "PORT", "FOLDER/requests", "FOLDER/settings"],
            files: ["settings": settings])
    }

    /// The URL of a path.
    public func url(_ path: String) -> String { server.url(path) }

    /// The requests so far with the statuses of their answers, such as `GET /status.php 200`.
    ///
    /// The server records a request before it sends the answer.
    public var requests: [String] { server.text("requests").split(separator: "\n").map(String.init) }
}
