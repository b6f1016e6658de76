import Foundation
import TestSupport
import Testing

/// Whom the program trusts, with certificates of the system's that only it sees.
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
}
