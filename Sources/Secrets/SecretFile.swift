import Files
import Glibc
import Model

/// Stores passwords in a file that only its owner can read. Each line has a server or proxy and a sign-in, such as a
/// user and a password, separated by tabs.
///
///     try SecretFile(path: folder + "/passwords").keep(.password(user: "me", password: "…"), for: place)
///
/// A write keeps all other lines of the file. Reads and writes block, so do not use this type on the main actor.
public struct SecretFile: Sendable {
    private let path: String

    /// The size of the largest file that Vitrine reads, in bytes.
    private static let maximumSize = 1 << 20
    private static let header = "# Passwords: place, user, password, with tabs between them, percent-encoded."

    /// Creates a store for the file at a path. The file may not exist yet.
    public init(path: String) {
        self.path = path
    }

    /// Returns the file's sign-in for a server or proxy, or nil.
    public func signIn(for place: SignInPlace) throws(SecretError) -> SignIn? {
        try lines().lazy.compactMap { Self.text(in: $0, for: place) }.first.flatMap { SecretText($0).signIn }
    }

    /// Stores a sign-in. Replaces the previous sign-in for the same server or proxy.
    public func keep(_ signIn: SignIn, for place: SignInPlace) throws(SecretError) {
        try replaceLine(for: place, with: "\(place.name)\t\(SecretText(signIn).text)")
    }

    /// Removes the sign-in for a server or proxy, if the file has one.
    public func remove(_ place: SignInPlace) throws(SecretError) {
        guard try lines().contains(where: { Self.text(in: $0, for: place) != nil }) else { return }
        try replaceLine(for: place, with: nil)
    }

    private func replaceLine(for place: SignInPlace, with line: String?) throws(SecretError) {
        // This object holds a lock, so that several programs do not change the file at the same time.
        let file = try onDisk { () throws(SystemError) in try SharedFile(path) }
        var lines = try lines().filter { Self.text(in: $0, for: place) == nil }
        if lines.isEmpty { lines = [Self.header] }
        if let line { lines.append(line) }
        let text = lines.map { $0 + "\n" }.joined()
        try onDisk { () throws(SystemError) in try file.replace(with: text) }
    }

    private static func text(in line: String, for place: SignInPlace) -> Substring? {
        line.hasPrefix(place.name + "\t") ? line.dropFirst(place.name.count + 1) : nil
    }

    private func lines() throws(SecretError) -> [String] {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return [] }
            throw errno == ELOOP ? .notPrivate(path: path) : failure
        }
        defer { close(descriptor) }
        // Check the open file; its path may refer to another file by now.
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw .notPrivate(path: path)
        }
        guard status.st_size <= Self.maximumSize else {
            throw .file(path: path, reason: "the file is larger than 1 MiB")
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress! + done, $0.count - done) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure }
            guard count > 0 else { break }
            done += count
        }
        return String(decoding: bytes.prefix(done), as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
    }

    private func onDisk<Value>(_ body: () throws(SystemError) -> Value) throws(SecretError) -> Value {
        do throws(SystemError) { return try body() } catch { throw .file(path: path, reason: "\(error)") }
    }

    /// Returns the error for the system call that just failed.
    private var failure: SecretError { .file(path: path, reason: String(cString: strerror(errno))) }
}

/// A sign-in as percent-encoded text, with tabs between the parts.
///
/// A password has the parts user and password. A token is one part. A header has an empty part, its name and its value.
/// An access key has four parts.
struct SecretText {
    let text: String

    init(_ signIn: SignIn) {
        text =
            switch signIn {
            case .password(let user, let password): Self.encode(user) + "\t" + Self.encode(password)
            case .token(let token): Self.encode(token)
            case .header(let name, let value): "\t" + Self.encode(name) + "\t" + Self.encode(value)
            case .accessKey(let key):
                [key.id, key.secret, key.sessionToken ?? "", key.region].map(Self.encode).joined(separator: "\t")
            }
    }

    init(_ text: some StringProtocol) {
        self.text = String(text)
    }

    /// The sign-in in the text; nil if the text is invalid.
    var signIn: SignIn? {
        let fields = text.split(separator: "\t", omittingEmptySubsequences: false).map {
            PercentEncoding.decode(String($0))
        }
        switch fields.count {
        case 1: return fields[0].isEmpty ? nil : .token(fields[0])
        case 2: return .password(user: fields[0], password: fields[1])
        case 3 where fields[0].isEmpty && !fields[1].isEmpty && !fields[2].isEmpty:
            return .header(name: fields[1], value: fields[2])
        case 4:
            return .accessKey(
                AccessKey(
                    id: fields[0], secret: fields[1], sessionToken: fields[2].isEmpty ? nil : fields[2],
                    region: fields[3]))
        default: return nil
        }
    }

    private static func encode(_ text: String) -> String {
        PercentEncoding.encode(text, keepingEscapes: false)
    }
}

extension SignInPlace {
    /// The text that identifies the place in the password file and the keyring.
    var name: String {
        switch self {
        case .origin(let origin): origin.text
        case .proxy(let proxy): "proxy " + proxy
        }
    }
}
