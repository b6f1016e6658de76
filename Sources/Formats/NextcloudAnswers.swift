/// The server's first answer in Nextcloud's Login Flow v2.
///
/// The answer names the page where the user signs in, and the address where a program asks for the result.
///
/// The answer is untrusted: callers must check both addresses.
public struct LoginFlow: Equatable, Sendable {
    /// The address of the page where the user signs in.
    public let login: String
    /// The address where a program asks for the result.
    public let endpoint: String
    /// The token to send to the ``endpoint``.
    public let token: String

    /// Parses the answer. Returns nil for other JSON, and for strings that are empty, too long or not text.
    public init?(json: [UInt8]) {
        guard let members = JSONMembers(["login", "poll.endpoint", "poll.token"], in: json),
            let login = members["login"], let endpoint = members["poll.endpoint"], let token = members["poll.token"]
        else { return nil }
        (self.login, self.endpoint, self.token) = (login, endpoint, token)
    }
}

/// The server's last answer in Nextcloud's Login Flow v2. It arrives after the user has signed in.
public struct LoginGrant: Sendable {
    /// The address of the server.
    public let server: String
    /// The user name.
    public let loginName: String
    /// The password that the server made for this program.
    public let appPassword: String

    /// Parses the answer. Returns nil for other JSON, and for strings that are empty, too long or not text.
    public init?(json: [UInt8]) {
        guard let members = JSONMembers(["server", "loginName", "appPassword"], in: json),
            let server = members["server"], let loginName = members["loginName"],
            let appPassword = members["appPassword"]
        else { return nil }
        (self.server, self.loginName, self.appPassword) = (server, loginName, appPassword)
    }
}

/// The server's answer about the user who is signed in.
public struct AccountAnswer: Sendable {
    /// The user's id, which may differ from the name for signing in.
    public let id: String

    /// Parses the answer. Returns nil for other JSON, and for an id that is empty, too long or not text.
    public init?(json: [UInt8]) {
        guard let id = JSONMembers(["ocs.data.id"], in: json)?["ocs.data.id"] else { return nil }
        self.id = id
    }
}

/// String members of a small JSON object, by paths such as `poll.token`.
private struct JSONMembers {
    /// The maximum number of bytes of a string.
    private static let maximumLength = 2_048

    private var reader: Reader

    /// Reads the members with the given names. Returns nil if the text is not JSON, or if one of these strings is
    /// unusable.
    init?(_ names: Set<String>, in json: [UInt8]) {
        reader = Reader(names: names)
        var stream = JSONPushStream()
        guard (try? stream.push(json, to: &reader)) != nil, (try? stream.finish(to: &reader)) != nil else { return nil }
    }

    subscript(name: String) -> String? { reader.values[name] }

    private struct Reader: JSONConsumer {
        let names: Set<String>
        private(set) var values: [String: String] = [:]
        /// The names of the current member and of the members around it.
        private var path: [String] = []

        init(names: Set<String>) { self.names = names }

        mutating func take(_ event: JSONEvent, depth: Int) throws {
            switch event {
            case .key(let bytes):
                // A name that is longer or contains a dot cannot be part of a requested path.
                let isShort = bytes.count <= 64 && !bytes.contains(UInt8(ascii: "."))
                path = path.prefix(max(0, depth - 1)) + [isShort ? String(decoding: bytes, as: UTF8.self) : ""]
            // Elements of arrays have no names, so the path gets an empty name.
            case .beginArray: path = path.prefix(depth) + [""]
            case .string(let bytes) where path.count == depth:
                let name = path.joined(separator: ".")
                guard names.contains(name) else { return }
                let isText = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
                guard !bytes.isEmpty, bytes.count <= JSONMembers.maximumLength, isText else {
                    throw FormatError.notAGallery("an unusable answer")
                }
                values[name] = String(decoding: bytes, as: UTF8.self)
            default: break
            }
        }
    }
}
