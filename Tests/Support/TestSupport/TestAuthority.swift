import Foundation

/// An authority that issues right and wrong certificates for loopback.
///
///     let authority = try TestAuthority()
///     let pair = try authority.issue(.expired)
///     HTTPConfiguration(certificates: authority.certificate)
public final class TestAuthority: Sendable {
    /// A certificate and its key: two PEM files.
    public struct Pair: Sendable {
        /// The certificate.
        public let certificate: String
        /// Its key.
        public let key: String
    }

    /// The kind of certificate.
    public enum Kind: String, Sendable, CaseIterable {
        /// Valid, for `127.0.0.1` and `localhost`.
        case good
        /// Expired.
        case expired
        /// Not valid yet.
        case early
        /// For another host.
        case wrongHost
        /// Self-signed.
        case selfSigned
        /// Signed by an unknown authority.
        case stranger
    }

    private struct Failure: Error {
        let words: String
    }

    private let folder = TestFolder()
    /// The certificate to trust.
    public var certificate: String { folder.path("authority.pem") }

    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

    /// Makes its own certificate.
    public init() throws {
        folder.write(
            "ca.cnf",
            """
            [ca]
            default_ca = authority
            [authority]
            new_certs_dir = \(folder.path)
            database = \(folder.path("index.txt"))
            serial = \(folder.path("serial"))
            default_md = sha256
            policy = names
            unique_subject = no
            copy_extensions = copy
            [names]
            commonName = supplied
            """)
        folder.write("index.txt", "")
        folder.write("serial", "01")
        try makeAuthority("authority")
        try makeAuthority("stranger")
    }

    /// Issues a certificate.
    public func issue(_ kind: Kind) throws -> Pair {
        let pair = Pair(certificate: folder.path("server-\(kind).pem"), key: folder.path("server-\(kind).key"))
        let names = kind == .wrongHost ? "DNS:elsewhere.test" : "IP:127.0.0.1,DNS:localhost"
        let subject = ["-subj", "/CN=\(kind)", "-addext", "subjectAltName=\(names)", "-keyout", pair.key]
        if kind == .selfSigned {
            try openssl(["req", "-x509", "-days", "2", "-out", pair.certificate] + Self.newKey + subject)
            return pair
        }
        try openssl(["req", "-out", folder.path("request.csr")] + Self.newKey + subject)
        let signer = kind == .stranger ? "stranger" : "authority"
        let years =
            switch kind {
            case .expired: ("20200101000000Z", "20210101000000Z")
            case .early: ("20980101000000Z", "20990101000000Z")
            default: ("20200101000000Z", "20990101000000Z")
            }
        try openssl([
            "ca", "-batch", "-config", folder.path("ca.cnf"), "-keyfile", folder.path(signer + ".key"), "-cert",
            folder.path(signer + ".pem"), "-in", folder.path("request.csr"), "-out", pair.certificate, "-notext",
            "-startdate", years.0, "-enddate", years.1,
        ])
        return pair
    }

    private func makeAuthority(_ name: String) throws {
        try openssl(
            [
                "req", "-x509", "-days", "2", "-subj", "/CN=\(name)", "-keyout", folder.path(name + ".key"), "-out",
                folder.path(name + ".pem"),
            ] + Self.newKey)
    }

    private func openssl(_ arguments: [String]) throws {
        let command = try Command("/usr/bin/openssl", arguments)
        guard command.status == 0 else { throw Failure(words: command.errors) }
    }
}
