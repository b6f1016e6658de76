import Glibc
import Logging
import Numbers
import TestSupport
import Testing

@testable import HTTP

/// Faults of servers in every phase, and their errors.
@Suite(.ownThread) struct FaultMatrixTests {
    private func failure(_ steps: [ScriptedServer.Step], stallTimeout: Int = 60) async throws -> HTTPError? {
        let probe = Probe(HTTPConfiguration(connectTimeout: 60, stallTimeout: stallTimeout))
        let server = try ScriptedServer { _ in steps }
        return await probe.failure(server.url("/"))
    }

    /// A fault after connecting, in the phase that its name begins with.
    struct Fault: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let steps: [ScriptedServer.Step]
        let error: HTTPError

        init(_ name: String, _ error: HTTPError, _ steps: ScriptedServer.Step...) {
            (testDescription, self.steps, self.error) = (name, steps, error)
        }
    }

    private static let ok = "HTTP/1.1 200 OK\r\n"
    private static let long = String(repeating: "x", count: 1_000) + "\r\n"

    static let faults: [Fault] = [
        Fault("status: reset", .broken, .reset),
        Fault("status: closed", .noAnswer, .close),
        Fault("status: stalls", .stalled, .hold(Gate())),
        Fault("status: cut", .broken, .send("HTTP/1.1 2"), .reset),
        Fault("status: a byte a second", .stalled, .send("HTTP/1.1 "), .drip),
        Fault("headers: reset", .broken, .send(ok + "Content-Le"), .reset),
        Fault("headers: closed", .cut, .send(ok + "Content-Le"), .close),
        Fault("headers: closed after all lines but one", .cut, .send(ok + "Content-Length: 0\r\n"), .close),
        Fault("headers: stall", .stalled, .send(ok + "Content-Le"), .hold(Gate())),
        Fault("headers: a byte a second", .stalled, .send(ok + "X-Header: "), .drip),
        Fault(
            "headers: endless", .malformed("its headers are too long"), .send(ok),
            .sendForever(Array("X-Header: \(long)".utf8))),
        Fault(
            "headers: one endless line", .malformed("its headers are too long"), .send(ok),
            .sendForever([UInt8](repeating: 0x78, count: 1_000))),
        Fault(
            "headers: endless answers in between", .malformed("its headers are too long"),
            .sendForever(Array("HTTP/1.1 103 Early Hints\r\nX-Header: \(long)\r\n".utf8))),
        Fault("body: reset", .broken, .send(ok + "Content-Length: 10\r\n\r\nhalf"), .reset),
        Fault("body: cut", .cut, .send(ok + "Content-Length: 10\r\n\r\nhalf"), .close),
        Fault("body: none of it", .cut, .send(ok + "Content-Length: 10\r\n\r\n"), .close),
        Fault("body: cut in a chunk", .cut, .send(ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nab"), .close),
        Fault("body: cut between chunks", .cut, .send(ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"), .close),
        Fault("body: stalls", .stalled, .send(ok + "Content-Length: 10\r\n\r\nhalf"), .hold(Gate())),
        Fault("body: a byte a second", .stalled, .send(ok + "Content-Length: 100\r\n\r\n"), .drip),
        Fault("body: endless", .tooLarge(limit: 1 << 20), .send(ok + "\r\n"), .sendForever([UInt8](0...255))),
        Fault(
            "body: endless chunks", .tooLarge(limit: 1 << 20), .send(ok + "Transfer-Encoding: chunked\r\n\r\n"),
            .sendForever(Array("3e8\r\n\(String(repeating: "x", count: 1_000))\r\n".utf8))),
        Fault(
            "body: too long, as it says", .tooLarge(limit: 1 << 20), .send(ok + "Content-Length: 1048577\r\n\r\n"),
            .hold(Gate())),
        Fault(
            "body: chunks that are none", .malformed("its chunks are invalid"),
            .send(ok + "Transfer-Encoding: chunked\r\n\r\nnot hex\r\n"), .close),
        Fault(
            "body: a chunk without bounds", .malformed("its chunks are invalid"),
            .send(ok + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffffffff\r\nab"), .close),
        Fault(
            "body: compressed by halves", .malformed("it cannot be decompressed"),
            .send(ok + "Content-Length: 10\r\nContent-Encoding: gzip\r\n\r\nno gzip at"), .close),
    ]

    @Test("BEHAVIOURS 5.5: every fault has its error and never counts as success", arguments: faults)
    func fault(fault: Fault) async throws {
        defer { for case .hold(let gate) in fault.steps { gate.open() } }
        let error = try await failure(fault.steps, stallTimeout: fault.error == .stalled ? 1 : 60)
        #expect(error == fault.error)
    }

    /// Malformed answers that curl reports with its own words.
    @Test(arguments: [
        "garbage\r\n\r\n", "SSH-2.0-OpenSSH\r\n", "HTTP/0.9 200 OK\r\n\r\n", "HTTP/1.1\r\n\r\n",
        "HTTP/9.9 200 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\u{0}b\r\n\r\n",
    ]) func nonsense(text: String) async throws {
        let error = try #require(try await failure([.send(text), .close]))
        guard case .malformed = error else {
            Issue.record("\(error)")
            return
        }
        #expect(!error.isTransient)
    }

    @Test func aClosedPortIsUnreachable() async throws {
        let server = try ScriptedServer { _ in [] }
        server.stop()
        let error = await Probe().failure(server.url("/"))
        #expect(error == .unreachable("127.0.0.1:\(server.port)") && error?.isTransient == true)
    }

    @Test func aSilentHostTimesOut() async throws {
        let listener = try FullListener()
        let probe = Probe(HTTPConfiguration(connectTimeout: 1))
        let error = await probe.failure("http://127.0.0.1:\(listener.port)/")
        #expect(error == .connectTimedOut("127.0.0.1:\(listener.port)") && error?.isTransient == true)
    }

    @Test func anUnknownHostIsAnError() async {
        let error = await Probe().failure("http://host.invalid/")
        #expect(error == .unknownHost("host.invalid") && error?.isTransient == true)
    }

    /// A refusal is an answer. Its body is dropped.
    @Test(arguments: [204, 205, 400, 401, 403, 404, 407, 408, 410, 416, 425, 429, 500, 502, 503, 504, 599])
    func refusals(status: Int) async throws {
        let body = status == 204 ? "" : "sorry"
        let server = try ScriptedServer { _ in .answer(status, body, headers: ["Retry-After: 7"]) }
        let outcome = try await Probe().fetch(server.url("/"))
        #expect(outcome.response?.status == status && outcome.bytes.isEmpty && outcome.metrics != nil)
        #expect(outcome.response?.headers["retry-after"] == "7")
    }

    /// The stall is an average, so a slow but steady server is served to the end.
    @Test func aSlowTransferHasNoTimeLimit() async throws {
        let server = try ScriptedServer { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 600\r\n\r\n")]
                + (0..<12).flatMap { _ in [ScriptedServer.Step.send([UInt8](repeating: 1, count: 50)), .pause] }
        }
        let probe = Probe(HTTPConfiguration(connectTimeout: 60, stallTimeout: 3))
        #expect(try await probe.fetch(server.url("/")).bytes.count == 600)
    }

    /// Failures of the system or network, by curl's codes.
    @Test func sorted() {
        func error(_ code: UInt32, _ change: (inout BreakReport) -> Void = { _ in }) -> HTTPError {
            var report = BreakReport(code: .init(rawValue: code), host: "h")
            change(&report)
            return report.error
        }
        let noName: UInt32 = 6
        #expect(error(noName) { $0.seconds = 5.2 } == .unknownHost("h"))
        #expect(error(noName) { $0.seconds = 10.01 } == .lookupTimedOut("h"))
        let (noProxyName, noConnection, timeOut, noMemory, received, proxy) = (5, 7, 28, 27, 56, 97) as Codes
        #expect(error(noConnection) { $0.systemError = Int(ENETUNREACH) } == .noRoute("h"))
        #expect(error(noConnection) { $0.systemError = Int(EHOSTUNREACH) } == .noRoute("h"))
        #expect(error(noConnection) { $0.systemError = Int(ETIMEDOUT) } == .connectTimedOut("h"))
        #expect(error(timeOut) { $0.isLookedUp = false } == .lookupTimedOut("h"))
        #expect(error(timeOut) { $0.isRequested = true } == .stalled)
        #expect(error(noProxyName) == .unknownProxy)
        #expect(error(proxy) { $0.proxyVerdict = 33 } == .proxyRefused(407))
        let alert = "SSL_read: tlsv13 alert certificate required"
        #expect(error(received) { $0.detail = alert } == .tls(alert))
        #expect(error(noMemory).isTransient)
        for code in [noName, noConnection, noProxyName, noMemory] {
            #expect(error(code) { $0.lacksDescriptors = true } == .tooFewDescriptors)
        }
        #expect(HTTPError.tooFewDescriptors.isTransient)
    }

    private typealias Codes = (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)

    @Test func everyErrorHasADescription() {
        let errors: [HTTPError] = [
            .missingLibrary(file: "x", package: "x", reason: "x"), .url("x"), .unusableCredentials, .unknownHost("x"),
            .lookupTimedOut("x"), .unreachable(""), .connectTimedOut("x"), .noRoute("x"), .privateAddress("x"),
            .unusableProxy, .proxyScheme("x"), .unknownProxy, .proxyUnreachable("x"), .silentBehindProxy("x"),
            .proxyRefused(403), .proxyRefused(407), .proxyFailed("x"), .tls("x"), .certificate("x"),
            .ownCertificate("x"), .noAnswer, .broken, .brokenOff, .stalled, .cut,
            .refused(status: 429, retryAfter: nil), .wrongRange("x"), .malformed("x"), .tooManyRedirects,
            .forbiddenRedirect, .tooLarge(limit: 1 << 20), .file("x"), .disk(code: EIO), .other("x"),
        ]
        for error in errors { #expect(!error.description.isEmpty && error.description.last != ".") }
    }
}
