import Glibc
import Logging
import TestSupport
import Testing

@testable import HTTP

/// What a server can do wrong, in every phase, and what is said of it.
@Suite struct FaultTests {
    private let client = HTTPClient(HTTPConfiguration(connectTimeout: 5, stallTimeout: 1), log: Log())

    private func failure(_ url: String, limit: Int64 = 1 << 20) async -> HTTPError? {
        do {
            for try await _ in client.transfer(HTTPRequest(url: url, destination: .stream, limit: limit)) {}
            return nil
        } catch {
            return error as? HTTPError
        }
    }

    private func failure(_ steps: [ScriptedServer.Step]) async throws -> HTTPError? {
        let server = try ScriptedServer { _ in steps }
        return await failure(server.url("/"))
    }

    @Test func nobodyListens() async throws {
        let server = try ScriptedServer { _ in [] }
        server.stop()
        let error = await failure(server.url("/"))
        #expect(error == .unreachable("127.0.0.1:\(server.port)") && error?.isTransient == true)
    }

    @Test func hostIsUnknown() async {
        let error = await failure("http://host.invalid/")
        #expect(error == .unknownHost("host.invalid") && error?.isTransient == true)
    }

    @Test func connectionBreaks() async throws {
        #expect(try await failure([.reset]) == .broken)
        #expect(try await failure([.close]) == .noAnswer)
        #expect(try await failure([.send("HTTP/1.1 200 OK\r\nContent-Le"), .reset]) == .broken)
    }

    @Test func bodyIsShort() async throws {
        let error = try await failure([.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .close])
        #expect(error == .cut && error?.isTransient == true)
        #expect(
            try await failure([.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"), .close])
                == .cut)
    }

    @Test func nonsense() async throws {
        for text in [
            "garbage\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "SSH-2.0-OpenSSH\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnot hex\r\n",
        ] {
            let error = try await failure([.send(text), .close])
            #expect(error != nil, "\(text)")
        }
    }

    @Test func headersWithoutEnd() async throws {
        let line = "X-Header: " + String(repeating: "x", count: 1_000) + "\r\n"
        let steps: [ScriptedServer.Step] = [.send("HTTP/1.1 200 OK\r\n")] + (0..<300).map { _ in .send(line) }
        #expect(try await failure(steps + [.close]) == .malformed("its headers are too long"))
    }

    @Test func stalls() async throws {
        let gate = Gate()
        defer { gate.open() }
        #expect(try await failure([.hold(gate)]) == .stalled)
        #expect(
            try await failure([.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .hold(gate)]) == .stalled)
    }

    /// A server that does not speak TLS, and one that does and refuses: a record of an alert, which says that there is no
    /// way of speaking that both know.
    @Test(arguments: [Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), [21, 3, 3, 0, 2, 2, 40]])
    func notSecure(answer: [UInt8]) async throws {
        let server = try ScriptedServer { _ in [.send(answer), .close] }
        let error = await failure("https://127.0.0.1:\(server.port)/")
        #expect {
            throw try #require(error)
        } throws: {
            if case HTTPError.tls = $0 { true } else { false }
        }
        #expect(error?.isTransient == false && server.requests.map(\.method).allSatisfy { $0 == "TLS" })
    }

    @Test(arguments: [ScriptedServer.Step.close, .reset]) func connectionBreaksInTheHandshake(
        end: ScriptedServer.Step
    ) async throws {
        let server = try ScriptedServer { _ in [end] }
        let error = await failure("https://127.0.0.1:\(server.port)/")
        #expect(error == .broken && error?.isTransient == true)
    }

    @Test func everyErrorIsASentence() {
        let errors: [HTTPError] = [
            .url("x"), .unusableCredentials, .unknownHost("x"), .lookupTimedOut("x"), .unreachable(""),
            .connectTimedOut("x"), .noRoute("x"), .privateAddress("x"), .unusableProxy, .unknownProxy,
            .proxyUnreachable("x"), .proxyRefused(403), .proxyRefused(407), .proxyFailed("x"), .tls("x"),
            .certificate("x"), .ownCertificate("x"), .noAnswer, .broken, .brokenOff, .stalled, .cut, .wrongRange("x"),
            .malformed("x"), .tooManyRedirects, .forbiddenRedirect, .tooLarge(limit: 1 << 20),
            .file("x"), .disk(code: EIO), .other("x"),
        ]
        for error in errors { #expect(!error.description.isEmpty && error.description.last != ".") }
    }
}
