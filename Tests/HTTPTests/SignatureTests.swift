import Logging
import Numbers
import TestSupport
import Testing

@testable import HTTP

/// Requests that an access key signs.
@Suite(.ownThread) struct SignatureTests {
    private let log = Log(level: .debug)
    private let key = HTTPRequest.Credentials(
        accessKey: "AKID", secret: "S3cret", sessionToken: "t0ken", region: "eu-west-1")

    private func answer(
        _ url: String, _ change: (inout HTTPRequest) -> Void = { _ in }
    ) async throws -> (head: HTTPResponse?, body: [UInt8]) {
        var request = HTTPRequest(url: url, credentials: key, destination: .stream, limit: 1 << 20)
        change(&request)
        var head: HTTPResponse?
        var body: [UInt8] = []
        // A client that is released ends its transfers.
        let client = HTTPClient(log: log)
        defer { withExtendedLifetime(client) {} }
        for try await event in client.transfer(request) {
            switch event {
            case .response(let response): head = response
            case .bytes(let bytes): body += bytes
            case .written, .end: break
            }
        }
        return (head, body)
    }

    @Test("A signed request has the canonical address, and the headers that belong to the signature")
    func request() async throws {
        let server = try ScriptedServer { _ in .answer(200, "photo") }
        _ = try await answer(server.url("/b/a+b'(c)!*;:@$&=,%41~%c3%9c.jpg?prefix=a%2Fb&list-type=2&delimiter=%2F")) {
            $0.wantedBytes = 0..<100
            $0.headers = [("If-None-Match", "\"1\"")]
        }
        let request = try #require(server.requests.first)
        #expect(
            request.path
                == "/b/a%2Bb%27%28c%29%21%2A%3B%3A%40%24%26%3D%2CA~%C3%9C.jpg?delimiter=%2F&list-type=2&prefix=a%2Fb")
        #expect(request.headers["x-amz-security-token"] == "t0ken" && request.headers["range"] == "bytes=0-99")
        #expect(request.headers["x-amz-content-sha256"]?.hasPrefix("e3b0c44298fc1c14") == true)
        // Some services change this header on the way.
        #expect(request.headers["accept-encoding"] == nil)
        let signature = try #require(request.headers["authorization"])
        #expect(signature.hasPrefix("AWS4-HMAC-SHA256 Credential=AKID/") && signature.contains("/eu-west-1/s3/aws4"))
        for header in ["host", "if-none-match", "range", "x-amz-content-sha256", "x-amz-date", "x-amz-security-token"] {
            #expect(signature.contains(header), "\(header)")
        }
    }

    @Test("An unsigned request has the canonical address only if it is wanted, and not after a redirect")
    func unsigned() async throws {
        let server = try ScriptedServer { request in
            request.path == "/b/a%2Bb.jpg" ? .answer(302, headers: ["Location: /b/c+d.jpg"]) : .answer(200, "photo")
        }
        for isWanted in [false, true] {
            let (head, _) = try await answer(server.url("/b/a+b.jpg")) {
                ($0.credentials, $0.hasCanonicalURL) = (nil, isWanted)
            }
            #expect(head?.url == server.url(isWanted ? "/b/c+d.jpg" : "/b/a+b.jpg"))
        }
        #expect(server.requests.map(\.path) == ["/b/a+b.jpg", "/b/a%2Bb.jpg", "/b/c+d.jpg"])
    }

    @Test("A signature goes to no other origin, not even after a redirect back")
    func redirects() async throws {
        let other = try ScriptedServer { request in
            .answer(302, headers: ["Location: \(request.path.dropFirst())"])
        }
        let server = try ScriptedServer { request in
            switch request.path {
            case "/own": .answer(302, headers: ["Location: /end"])
            case "/away":
                .answer(
                    302,
                    headers: [
                        "Location: \(other.url("/"))http://127.0.0.1:\(request.headers["host"]?.split(separator: ":").last ?? "")/back"
                    ])
            default: .answer(200, "photo")
            }
        }
        _ = try await answer(server.url("/own"))
        _ = try await answer(server.url("/away"))
        let secrets = ["authorization", "x-amz-security-token", "x-amz-content-sha256", "x-amz-date"]
        #expect(server.requests.map(\.path) == ["/own", "/end", "/away", "/back"])
        for request in server.requests.prefix(3) { #expect(secrets.allSatisfy { request.headers[$0] != nil }) }
        for request in other.requests + server.requests.suffix(1) {
            #expect(secrets.allSatisfy { request.headers[$0] == nil }, "\(request.path)")
        }
        #expect(other.requests.count == 1)
    }

    @Test("Neither the log nor a description contains a secret")
    func secrecy() async throws {
        let server = try ScriptedServer { _ in .answer(403, "no") }
        _ = try await answer(server.url("/a.jpg"))
        let texts =
            log.entries.map(\.message) + [
                "\(key)", String(reflecting: key), "\(Mirror(reflecting: key).children.count)",
            ]
        #expect(!texts.joined().contains("S3cret") && !texts.joined().contains("t0ken"))
        var dumped = ""
        dump(key, to: &dumped)
        #expect(!dumped.contains("S3cret"))
    }

    @Test("A key with a control character, or a wrong region, is not sent", arguments: ["a\nb", "eu:west"])
    func unusable(region: String) async throws {
        let server = try ScriptedServer { _ in .answer(200) }
        await #expect(throws: HTTPError.unusableCredentials) {
            try await answer(server.url("/")) {
                $0.credentials = .init(accessKey: "AKID", secret: "S", sessionToken: nil, region: region)
            }
        }
        #expect(server.requests.isEmpty)
    }

    @Test("The body of a refusal arrives if the request wants it", arguments: [true, false])
    func refusals(isWanted: Bool) async throws {
        let server = try ScriptedServer { request in
            request.path == "/long"
                ? [.send(Array("HTTP/1.1 403 No\r\n\r\n".utf8)), .sendForever([UInt8](repeating: 0x20, count: 10_000))]
                : .answer(403, "because")
        }
        let (head, body) = try await answer(server.url("/short")) { $0.wantsRefusals = isWanted }
        #expect(head?.status == 403 && body == (isWanted ? Array("because".utf8) : []))
        let long = try await answer(server.url("/long")) { $0.wantsRefusals = isWanted }
        #expect(long.head?.status == 403 && long.body.count <= 1 << 16)
        // A redirect is not a refusal.
        let leading = try ScriptedServer { request in
            request.path == "/" ? .answer(302, "elsewhere", headers: ["Location: /end"]) : .answer(200, "end")
        }
        #expect(try await answer(leading.url("/")) { $0.wantsRefusals = isWanted }.body == Array("end".utf8))
    }
}
