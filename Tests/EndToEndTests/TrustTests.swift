import Foundation
import TestSupport
import Testing

/// Whom the program trusts, with certificates of the system's that only it sees, and what it does with its own.
@Suite(.ownThread) struct TrustTests {
    private let home = Household()
    private let system = TestFolder()
    private let authority: TestAuthority
    /// A certificate that nobody trusts but who is told to. By another name: of two by one name only one is looked at.
    private let other: String
    private let server: LoopbackServer

    init() throws {
        authority = try TestAuthority()
        other = try authority.issue(.selfSigned).certificate
        server = try LoopbackServer.nginx(
            authority.issue(.good), files: ["index.xml": Array("<album></album>".utf8)])
        // Where and how Debian has those that everybody trusts: one by one under their hashes, and all in one file.
        let certificate = try String(contentsOfFile: authority.certificate, encoding: .utf8)
        system.write("public.pem", certificate)
        #expect(try Command("/usr/bin/openssl", ["rehash", system.path]).status == 0)
        system.write("ca-certificates.crt", certificate)
    }

    /// Over TLS to the server itself, and to a proxy that is spoken with in this way.
    @Test(
        "BEHAVIOURS 5.3: certificates that are named take the place of the system’s", .enabled(if: Mounting.isPossible),
        arguments: [false, true])
    func named(isProxy: Bool) throws {
        let address = isProxy ? "http://photos.test/index.xml" : server.url("/index.xml", scheme: "https")
        let command = try Command(
            Mounting.program,
            Mounting.arguments(
                """
                mount --bind "$3" /etc/ssl/certs
                "$0" sync --list-only "$1"; echo "system $?"
                "$0" sync --list-only --ca-file "$2" "$1"; echo "option $?"
                CURL_CA_BUNDLE="$2" "$0" sync --list-only "$1"; echo "variable $?"
                """, Built.vitrine, address, other, system.path),
            environment: home.environment(isProxy ? ["http_proxy": server.url("", scheme: "https")] : [:]))
        let codes = command.lines.filter { !$0.contains("\t") }
        #expect(codes == ["system 0", "option 1", "variable 1"], "\(command.text)\(command.errors)")
        #expect(command.errors.split(separator: "\n").count { $0.contains("nobody who is trusted has signed it") } == 2)
    }

    @Test("BEHAVIOURS 5.10: the terminal is never asked for what a key is encrypted with")
    func encryptedKey() throws {
        let clients = try TestAuthority()
        let guarded = try LoopbackServer.nginx(
            authority.issue(.good), clients: clients, files: ["index.xml": Array("<album></album>".utf8)])
        let pair = try clients.issue(.good)
        let key = home.folder.path("encrypted.key")
        let made = try Command(
            "/usr/bin/openssl", ["pkey", "-in", pair.key, "-aes256", "-passout", "pass:s3cret", "-out", key])
        #expect(made.status == 0, "\(made.errors)")
        for file in [(pair.key, 0), (key, 1)] as [(key: String, code: Int32)] {
            let session = try TerminalSession(
                arguments: [
                    "sync", "--list-only", "--ca-file", authority.certificate, "--client-certificate", pair.certificate,
                    "--client-key", file.key, guarded.url("/index.xml", scheme: "https"),
                ], environment: home.environment())
            let words = file.code == 0 ? "0 photos" : "your certificate cannot be used"
            // Whoever asks for a pass phrase waits for it, and does not end.
            guard session.until(shows: words) else {
                Issue.record("\(session.screen.text)")
                continue
            }
            #expect(session.wait() == file.code)
        }
    }
}
