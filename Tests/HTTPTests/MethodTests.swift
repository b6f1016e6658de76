import Foundation
import Numbers
import Synchronization
import TestSupport
import Testing

@testable import HTTP

/// Requests with other methods than GET, and their bodies.
@Suite(.ownThread) struct MethodTests {
    private static let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 2) }
    private static let digest = "WWW-Authenticate: Digest realm=\"photos\", nonce=\"n\", qop=\"auth\""
    private let me = HTTPRequest.Credentials(user: "me", password: "s3cret")

    private func request(
        _ method: HTTPRequest.Method, _ url: String, _ body: [UInt8]? = bytes,
        headers: [(name: String, value: String)] = [("Content-Type", "application/xml"), ("Depth", "1")]
    ) -> HTTPRequest {
        HTTPRequest(
            url: url, method: method, headers: headers, body: body, destination: .stream, limit: 1 << 20,
            allowsCompression: true)
    }

    private func expectWhole(_ request: ScriptedServer.Request, _ method: HTTPRequest.Method) {
        #expect(request.method == method.rawValue && request.body == Self.bytes)
        #expect(request.headers["content-type"] == "application/xml" && request.headers["depth"] == "1")
        #expect(request.headers["expect"] == nil && request.headers["content-length"] == "100000")
    }

    // MARK: - Sending

    @Test("The method and the body arrive byte for byte", arguments: [HTTPRequest.Method.propfind, .options, .post])
    func arrive(method: HTTPRequest.Method) async throws {
        let server = try ScriptedServer { _ in .answer(200, "x") }
        let outcome = try await Probe().fetch(request(method, server.url("/a?b")))
        #expect(outcome.response?.status == 200 && outcome.bytes == Array((method == .options ? "" : "x").utf8))
        #expect(server.requests.map(\.path) == ["/a?b"])
        for request in server.requests { expectWhole(request, method) }
    }

    @Test("The method and the body arrive byte for byte over HTTP/2", arguments: [false, true])
    func arriveOverHTTP2(isGuarded: Bool) async throws {
        let authority = try TestAuthority()
        let server = try ScriptedServer { request in
            guard isGuarded, request.headers["authorization"] == nil else { return .answer(207, "x") }
            return .answer(401, headers: [Self.digest])
        }
        let front = try LoopbackServer.nginx(passingTo: server, authority.issue(.good))
        let probe = Probe(
            HTTPConfiguration(certificates: authority.certificate, connectTimeout: 60, stallTimeout: 60))
        let meter = TransferMeter()
        var request = request(.propfind, front.url("/a?b", scheme: "https"))
        (request.meter, request.credentials) = (meter, isGuarded ? me : nil)
        let outcome = try await probe.fetch(request)
        #expect(outcome.response?.status == 207 && outcome.bytes == Array("x".utf8))
        #expect(meter.reading.version == .http2 && server.requests.count == (isGuarded ? 2 : 1))
        for request in server.requests { expectWhole(request, .propfind) }
    }

    @Test(
        "A refused request is repeated with a password and its body",
        arguments: [Self.digest, "WWW-Authenticate: Basic"])
    func guarded(challenge: String) async throws {
        let server = try ScriptedServer { request in
            request.headers["authorization"] == nil ? .answer(401, headers: [challenge]) : .answer(207, "x")
        }
        var request = request(.propfind, server.url("/a/"))
        request.credentials = me
        #expect(try await Probe().fetch(request).bytes == Array("x".utf8))
        #expect(server.requests.count == 2)
        for request in server.requests { expectWhole(request, .propfind) }
    }

    @Test("curl adds no type to a body, and no body to a request without one")
    func nothingIsAdded() async throws {
        let (server, probe) = (try ScriptedServer { _ in .answer(200) }, Probe())
        _ = try await probe.fetch(request(.post, server.url("/1"), headers: []))
        _ = try await probe.fetch(request(.post, server.url("/2"), nil, headers: []))
        _ = try await probe.fetch(request(.propfind, server.url("/3"), nil, headers: []))
        // A GET sends no body.
        _ = try await probe.fetch(request(.get, server.url("/4"), headers: []))
        #expect(server.requests.map(\.method) == ["POST", "POST", "PROPFIND", "GET"])
        #expect(server.requests.allSatisfy { $0.headers["content-type"] == nil && $0.headers["expect"] == nil })
        #expect(server.requests.map { $0.headers["content-length"] } == ["100000", "0", nil, nil])
        // curl would ask for permission to send such a body.
        let large = [UInt8](repeating: 7, count: 3 << 20)
        _ = try await probe.fetch(request(.post, server.url("/5"), large))
        #expect(server.requests.last?.body == large && server.requests.last?.headers["expect"] == nil)
    }

    @Test("A header that would not stay one line is not sent")
    func brokenHeaders() async throws {
        let server = try ScriptedServer { _ in .answer(207) }
        let headers = [
            ("Depth", "1\r\nX-One: 1"), ("X-Two\nX-Three", "x"), ("Content-Type", "a\r\n\r\nb"), ("X-Four", "4"),
        ]
        _ = try await Probe().fetch(request(.propfind, server.url("/"), headers: headers))
        let sent = try #require(server.requests.first)
        #expect(sent.body == Self.bytes && sent.headers["x-four"] == "4" && server.requests.count == 1)
        for name in ["depth", "x-one", "x-two", "x-three", "content-type"] { #expect(sent.headers[name] == nil) }
    }

    // MARK: - Redirects and repeats

    @Test("A redirect within the origin keeps the method and the body", arguments: [301, 302, 307, 308])
    func trailingSlash(status: Int) async throws {
        let server = try ScriptedServer { request in
            request.path == "/a/" ? .answer(207, "x") : .answer(status, "moved", headers: ["Location: /a/"])
        }
        for method in [HTTPRequest.Method.propfind, .options] {
            let outcome = try await Probe().fetch(request(method, server.url("/a")))
            #expect(outcome.response?.url == server.url("/a/") && outcome.response?.status == 207)
        }
        #expect(server.requests.map(\.path) == ["/a", "/a/", "/a", "/a/"])
        for (index, request) in server.requests.enumerated() { expectWhole(request, index < 2 ? .propfind : .options) }
    }

    @Test("A redirect to another origin is refused, and nothing is sent there", arguments: [301, 302, 303, 307, 308])
    func otherOrigin(status: Int) async throws {
        let other = try ScriptedServer { _ in .answer(207, "x") }
        let server = try ScriptedServer { _ in .answer(status, "moved", headers: ["Location: \(other.url("/"))"]) }
        for method in [HTTPRequest.Method.propfind, .options, .post] {
            #expect(await Probe().failure(request(method, server.url("/"))) == .forbiddenRedirect)
        }
        #expect(other.connectionCount == 0 && server.requests.count == 3)
    }

    @Test("A 303 is followed by a GET only")
    func seeOther() async throws {
        let server = try ScriptedServer { request in
            request.path == "/b" ? .answer(200, "x") : .answer(303, headers: ["Location: /b"])
        }
        #expect(await Probe().failure(request(.propfind, server.url("/"))) == .forbiddenRedirect)
        #expect(try await Probe().fetch(request(.get, server.url("/"), nil)).bytes == Array("x".utf8))
    }

    @Test("A POST is sent again only after 307 and 308", arguments: [301, 302, 303, 307, 308])
    func postAndRedirects(status: Int) async throws {
        let server = try ScriptedServer { request in
            request.path == "/b" ? .answer(200, "x") : .answer(status, headers: ["Location: /b"])
        }
        let request = request(.post, server.url("/a"))
        if status < 307 {
            #expect(await Probe().failure(request) == .forbiddenRedirect)
            #expect(server.requests.map(\.path) == ["/a"])
        } else {
            #expect(try await Probe().fetch(request).bytes == Array("x".utf8))
            #expect(server.requests.map(\.path) == ["/a", "/b"])
            for request in server.requests { expectWhole(request, .post) }
        }
    }

    @Test("A POST is not repeated when the server closes a reused connection", arguments: [false, true])
    func closedConnection(isFirstAnswered: Bool) async throws {
        let server = try ScriptedServer { request in
            if request.path == "/warm" { return .answer(200) }
            if isFirstAnswered, request.headers["authorization"] == nil { return .answer(401, headers: [Self.digest]) }
            return [request.connection == 1 ? .close : .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]
        }
        let probe = Probe()
        _ = try await probe.fetch(server.url("/warm"))
        var request = request(.post, server.url("/post"))
        request.credentials = me
        #expect(await probe.failure(request) == .noAnswer)
        #expect(server.requests.count == (isFirstAnswered ? 3 : 2) && server.requests.allSatisfy { $0.connection == 1 })
        // Other requests are repeated.
        _ = try await probe.fetch(server.url("/warm"))
        (request.method, request.url) = (.propfind, server.url("/propfind"))
        let closing = try ScriptedServer { request in
            request.path == "/warm" ? .answer(200) : request.connection == 1 ? [.close] : .answer(207, "x")
        }
        _ = try await probe.fetch(closing.url("/warm"))
        request.url = closing.url("/propfind")
        #expect(try await probe.fetch(request).bytes == Array("x".utf8))
        #expect(closing.requests.map(\.connection) == [1, 1, 2])
        for request in closing.requests.dropFirst() { expectWhole(request, .propfind) }
    }

    /// Without a body, because a server that closes before it has read a body resets the connection.
    @Test("A POST is not repeated after an HTTP/2 server has dropped it", arguments: ["refused-once", "goaway-once"])
    func droppedStream(fault: String) async throws {
        let authority = try TestAuthority()
        for method in [HTTPRequest.Method.propfind, .post] {
            let server = try FaultyServer.http2(fault, authority.issue(.good))
            let probe = Probe(
                HTTPConfiguration(certificates: authority.certificate, connectTimeout: 60, stallTimeout: 60))
            let error = await probe.failure(request(method, server.url("/"), nil))
            // After the GOAWAY the server closes, and the client may notice that first.
            let expected: [HTTPError?] = fault == "refused-once" ? [.noAnswer] : [.brokenOff, .broken]
            #expect((method == .post ? expected : [nil]).contains(error))
            #expect(server.end().count { $0.hasPrefix("request") } == (method == .post ? 1 : 2))
        }
    }

    // MARK: - Answers

    @Test("A 207 arrives piece by piece, within its limit")
    func multistatus() async throws {
        let gate = Gate()
        let server = try ScriptedServer { request in
            let head = "HTTP/1.1 207 Multi-Status\r\n"
            switch request.path {
            case "/pieces": return [.send(head + "Content-Length: 6\r\n\r\none"), .hold(gate), .send("two")]
            case "/stated": return [.send(head + "Content-Length: 1048577\r\n\r\n"), .hold(gate)]
            default:
                return [.send(head + "Transfer-Encoding: chunked\r\n\r\n")]
                    + (0..<17).map { _ in
                        .send(Array("10000\r\n".utf8) + [UInt8](repeating: 0, count: 1 << 16) + [13, 10])
                    }
                    + [.hold(gate)]
            }
        }
        defer { gate.open() }
        let probe = Probe()
        for path in ["/stated", "/chunked"] {
            #expect(await probe.failure(request(.propfind, server.url(path))) == .tooLarge(limit: 1 << 20))
        }
        var (pieces, meter) = ([[UInt8]](), TransferMeter())
        var pieced = request(.propfind, server.url("/pieces"))
        pieced.meter = meter
        for try await case .bytes(let bytes) in probe.client.transfer(pieced) {
            pieces.append(bytes)
            gate.open()
        }
        #expect(pieces == [Array("one".utf8), Array("two".utf8)] && meter.reading.length == 6)
    }

    @Test("A 207 to a GET has no body to use")
    func unaskedMultistatus() async throws {
        let server = try ScriptedServer { _ in .answer(207, "x") }
        let outcome = try await Probe().fetch(server.url("/"))
        #expect(outcome.response?.status == 207 && outcome.bytes.isEmpty)
    }

    @Test("The answer to OPTIONS counts, and its body is dropped")
    func options() async throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try ScriptedServer { request in
            let head = "HTTP/1.1 \(request.path == "/204" ? 204 : 200) OK\r\nDAV: 1, 2\r\n"
            switch request.path {
            case "/204": return [.send(head + "\r\n")]
            case "/short": return [.send(head + "Content-Length: 3\r\n\r\nabc")]
            case "/huge": return [.send(head + "Content-Length: 99999999999999\r\n\r\n"), .sendForever([1, 2, 3])]
            default: return [.send(head + "\r\n"), .sendForever([UInt8](repeating: 1, count: 1 << 16))]
            }
        }
        for path in ["/204", "/short", "/huge", "/endless"] {
            let outcome = try await Probe().fetch(request(.options, server.url(path), nil))
            #expect(outcome.response?.headers["dav"] == "1, 2" && outcome.bytes.isEmpty && outcome.metrics != nil)
        }
    }

    @Test("Apache lists a folder after a digest, compressed")
    func apache() async throws {
        let names = (0..<300).map { "photo \($0).jpg" }
        let server = try LoopbackServer.apache(
            isDAV: true, files: Dictionary(uniqueKeysWithValues: names.map { ("folder/\($0)", [1, 2, 3]) }))
        let body = "<propfind xmlns=\"DAV:\"><prop><getetag/><unheard-of xmlns=\"urn:vitrine\"/></prop></propfind>"
        var request = request(.propfind, server.url("/folder"), Array(body.utf8))
        request.credentials = me
        let outcome = try await Probe().fetch(request)
        let text = String(decoding: outcome.bytes, as: UTF8.self)
        #expect(outcome.response?.status == 207 && outcome.response?.headers["content-encoding"] == "gzip")
        #expect(text.contains("unheard-of"), "Apache repeats the name that the body has")
        #expect(text.components(separatedBy: ".jpg</").count == 301)
        #expect(try #require(outcome.metrics).bytes < ByteCount(outcome.bytes.count / 4))
    }

    @Test("A file is read only by a GET")
    func files() async throws {
        var request = request(.propfind, "file:///etc/hostname")
        request.allowsFiles = true
        guard case .url? = await Probe().failure(request) else {
            Issue.record("it was read, or another error")
            return
        }
    }

    // MARK: - Files

    private func put(_ url: String, _ bytes: [UInt8] = bytes, length: Int? = nil) -> HTTPRequest {
        let folder = TestFolder()
        let file = UploadFile(
            taking: open(folder.write("file", bytes), O_RDONLY), length: ByteCount(length ?? bytes.count))
        var request = HTTPRequest(url: url, method: .put, destination: .stream, limit: 1 << 16)
        request.upload = HTTPRequest.Upload(file)
        return request
    }

    @Test("A file arrives byte for byte, and the meter counts it")
    func sentFiles() async throws {
        let server = try ScriptedServer { _ in .answer(200, "") }
        let large = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 2) }
        for bytes in [Self.bytes, large, []] {
            let meter = TransferMeter()
            var request = put(server.url("/a b"), bytes)
            (request.url, request.meter) = (server.url("/a%20b"), meter)
            #expect(try await Probe().fetch(request).response?.status == 200)
            #expect(server.requests.last?.method == "PUT" && server.requests.last?.body == bytes)
            #expect(server.requests.last?.headers["content-length"] == "\(bytes.count)")
            #expect(meter.reading.bytes == ByteCount(bytes.count) && meter.reading.outcome == .succeeded)
        }
    }

    @Test("A file that has become shorter ends the transfer, and the server gets no complete request")
    func shortFile() async throws {
        let server = try ScriptedServer { _ in .answer(200, "") }
        let failure = await Probe().failure(put(server.url("/a"), length: Self.bytes.count + 1))
        #expect(failure == .file("it has become shorter") && server.requests.isEmpty)
    }

    @Test("A file is sent again if the server has closed the idle connection")
    func fileAfterClose() async throws {
        let server = try ScriptedServer { $0.path == "/first" ? .answer(200, "") + [.close] : .answer(200, "") }
        let probe = Probe()
        for path in ["/first", "/second"] {
            #expect(try await probe.fetch(put(server.url(path))).response?.status == 200)
        }
        #expect(server.requests.last?.body == Self.bytes)
    }

    @Test("A refusal is read although the file was not sent whole")
    func refusedFile() async throws {
        let server = try ScriptedServer { _ in .answer(403, "no", headers: ["Connection: close"]) + [.close] }
        var request = put(server.url("/a"))
        request.wantsRefusals = true
        let outcome = try await Probe().fetch(request)
        #expect(outcome.response?.status == 403 && outcome.bytes == Array("no".utf8))
    }

    @Test("A signature contains the digest of a file, or says that it does not")
    func signedFile() async throws {
        let server = try ScriptedServer { _ in .answer(200, "") }
        for digest in [nil, "abc"] {
            var request = put(server.url("/a"))
            request.credentials = HTTPRequest.Credentials(
                accessKey: "ID", secret: "secret", sessionToken: nil, region: "r")
            if let file = request.upload?.file { request.upload = HTTPRequest.Upload(file, digest: digest) }
            _ = try await Probe().fetch(request)
            #expect(server.requests.last?.headers["x-amz-content-sha256"] == digest ?? "UNSIGNED-PAYLOAD")
            #expect(server.requests.last?.headers["authorization"]?.contains("Credential=ID/") == true)
        }
    }
}
