import Foundation
import TestSupport
import Testing

/// Trusted and own certificates, with system certificates that only the program sees.
@Suite(.ownThread) struct TrustTests {
    private let home = Household()
    private let system = TestFolder()
    private let authority: TestAuthority
    /// A certificate that is trusted on request only. Its name is unique, since only one per name is tried.
    private let other: String
    private let server: LoopbackServer

    init() throws {
        authority = try TestAuthority()
        other = try authority.issue(.selfSigned).certificate
        server = try LoopbackServer.nginx(
            authority.issue(.good), files: ["index.xml": Array("<album></album>".utf8)])
        // Debian keeps certificates singly under their hashes and together in one file.
        let certificate = try String(contentsOfFile: authority.certificate, encoding: .utf8)
        system.write("public.pem", certificate)
        #expect(try Command("/usr/bin/openssl", ["rehash", system.path]).status == 0)
        system.write("ca-certificates.crt", certificate)
    }

    /// Uses TLS to a server and to a proxy.
    @Test(
        "BEHAVIOURS 5.3: named certificates replace the system's", .enabled(if: Mounting.isPossible),
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
                CURL_CA_BUNDLE= "$0" sync --list-only "$1"; echo "empty $?"
                """, Built.vitrine, address, other, system.path),
            environment: home.environment(isProxy ? ["http_proxy": server.url("", scheme: "https")] : [:]))
        let codes = command.lines.filter { !$0.contains("\t") }
        #expect(codes == ["system 0", "option 1", "variable 1", "empty 0"], "\(command.text)\(command.errors)")
        #expect(command.errors.split(separator: "\n").count { $0.contains("its issuer is not trusted") } == 2)
    }

    /// The server ends each connection after one request, so each request shows the certificate anew.
    @Test("BEHAVIOURS 5.10: a refresh shows a client certificate that replaced an earlier one")
    func replacedCertificate() throws {
        let clients = try TestAuthority()
        let guarded = try LoopbackServer.nginx(
            authority.issue(.good), clients: clients, requests: 1, files: ["index.xml": Array("<album></album>".utf8)])
        let path = home.folder.path("mine.pem")
        func replace(by pair: TestAuthority.Pair) throws {
            let texts = try [pair.certificate, pair.key].map { try String(contentsOfFile: $0, encoding: .utf8) }
            #expect(rename(home.folder.write("new.pem", texts.joined()), path) == 0)
        }
        try replace(by: clients.issue(.good))
        let session = try TerminalSession(
            arguments: [
                "--ca-file", authority.certificate, "--client-certificate", path,
                guarded.url("/index.xml", scheme: "https"),
            ], environment: home.environment())
        #expect(session.until(shows: "Updated:"), "\(session.screen.text)")
        guarded.folder.write(
            "index.xml",
            "<album><photo id=\"a\" name=\"Lake\" date=\"2006-01-01T00:00:00Z\">"
                + "<image kind=\"image\" srcURL=\"p\"/></photo></album>")
        try replace(by: clients.issue(.good))
        session.type("r")
        #expect(session.until(shows: "1 of 1"), "\(session.screen.text)")
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test("BEHAVIOURS 5.10: Vitrine never asks the terminal for a key's pass phrase")
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
            // A program that asks for a pass phrase would wait and not end.
            guard session.until(shows: words) else {
                Issue.record("\(session.screen.text)")
                continue
            }
            #expect(session.wait() == file.code)
        }
    }
}
