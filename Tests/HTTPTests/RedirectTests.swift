import Logging
import Numbers
import TestSupport
import Testing

@testable import HTTP

/// Redirects over the network.
@Suite(.ownThread) struct RedirectTests {
    private let client = HTTPClient(log: Log())

    private func fetch(_ request: HTTPRequest) async throws -> (responses: [HTTPResponse], bytes: [UInt8]) {
        var (responses, bytes): ([HTTPResponse], [UInt8]) = ([], [])
        for try await event in client.transfer(request) {
            if case .response(let response) = event { responses.append(response) }
            if case .bytes(let more) = event { bytes += more }
        }
        return (responses, bytes)
    }

    @Test func headersStayWithTheirOrigin() async throws {
        let other = try ScriptedServer { _ in .answer(200, "there") }
        let server = try ScriptedServer { request in
            .answer(301, headers: ["Location: \(request.path == "/a" ? "/b" : other.url("/c"))"])
        }
        var request = HTTPRequest(url: server.url("/a"), destination: .stream, limit: 1 << 20)
        request.headers = [
            ("If-None-Match", "\"1\""), ("X-Key", "secret"), ("X-Two\r\nX-Three", "x"), ("X-Four", "\r\n"),
        ]
        let outcome = try await fetch(request)
        #expect(outcome.responses.map(\.url) == [other.url("/c")] && outcome.bytes == Array("there".utf8))
        for asked in server.requests {
            #expect(asked.headers["x-key"] == "secret" && asked.headers["if-none-match"] == "\"1\"")
            // A header that would not stay one line is not sent.
            #expect(asked.headers["x-three"] == nil && asked.headers["x-four"] == nil)
        }
        #expect(server.requests.count == 2 && other.requests.count == 1)
        #expect(other.requests[0].headers["x-key"] == nil && other.requests[0].headers["if-none-match"] == nil)
    }

    @Test("BEHAVIOURS 5.5: the body of a redirect is read up to a limit")
    func bodiesAreBounded() async throws {
        let server = try ScriptedServer { request in
            guard request.path == "/" else { return .answer(200, "end") }
            return [.send("HTTP/1.1 302 Found\r\nLocation: /end\r\nTransfer-Encoding: chunked\r\n\r\n")]
                + (0..<1_000).map { _ in
                    .send(Array("10000\r\n".utf8) + [UInt8](repeating: 0, count: 0x10000) + Array("\r\n".utf8))
                }
        }
        let meter = TransferMeter()
        let outcome = try await fetch(
            HTTPRequest(url: server.url("/"), destination: .stream, limit: 1 << 20, meter: meter))
        #expect(outcome.responses.map(\.status) == [200] && outcome.bytes == Array("end".utf8))
        #expect(meter.reading.bytes < 1 << 20)
    }

    @Test("A redirect to a path that is not UTF-8 keeps the bytes of the path, and such an ETag is ignored")
    func otherEncodings() async throws {
        let (start, end) = (Array("HTTP/1.1 ".utf8), Array("\r\nContent-Length: 0\r\n\r\n".utf8))
        let server = try ScriptedServer { request in
            let (first, last) =
                request.path == "/" ? ("302 Found\r\nLocation: /caf", ".xml") : ("200 OK\r\nETag: \"", "\"")
            return [.send(start + Array(first.utf8)), .send([0xE9] + Array(last.utf8) + end)]
        }
        let outcome = try await fetch(HTTPRequest(url: server.url("/"), destination: .stream, limit: 1 << 20))
        #expect(server.requests.map(\.path) == ["/", "/caf%E9.xml"])
        let response = try #require(outcome.responses.first)
        #expect(response.url == server.url("/caf%E9.xml") && response.headers["etag"] == nil)
    }

    /// A redirect without a target is a normal answer.
    @Test func aRedirectWithoutALocationIsFinal() async throws {
        let server = try ScriptedServer { _ in .answer(302, "nowhere") }
        let outcome = try await fetch(HTTPRequest(url: server.url("/"), destination: .stream, limit: 1 << 20))
        #expect(outcome.responses.map(\.status) == [302] && outcome.bytes.isEmpty)
    }
}
