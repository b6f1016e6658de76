import Foundation
import Numbers
import TestSupport
import Testing

@testable import HTTP

/// Requests for the first bytes of a resource, or for others.
@Suite(.ownThread) struct FirstBytesTests {
    private static let whole = Whole(50_000)
    private static let first = Array(whole.bytes.prefix(1_000))

    private func request(_ url: String, _ count: ByteCount = 1_000) -> HTTPRequest {
        // The compression that the request allows is not asked for: a range of compressed bytes is of no use.
        HTTPRequest(
            url: url, destination: .stream, wantedBytes: 0..<count, limit: count, allowsFiles: true,
            allowsCompression: true)
    }

    private func head(_ status: Int, _ lines: String...) -> ScriptedServer.Step {
        .send((["HTTP/1.1 \(status) Status"] + lines).joined(separator: "\r\n") + "\r\n\r\n")
    }

    @Test("A server with ranges sends the first bytes, or all of a shorter resource")
    func partial() async throws {
        let (server, probe) = (try ScriptedServer { Self.whole.answer($0) }, Probe())
        for (count, expected) in [(1_000, Self.first), (50_000, Self.whole.bytes), (60_000, Self.whole.bytes)] {
            let meter = TransferMeter()
            var request = request(server.url("/"), ByteCount(count))
            request.meter = meter
            let outcome = try await probe.fetch(request)
            #expect(outcome.response?.status == 206 && outcome.response?.length == 50_000)
            #expect(outcome.bytes == expected && meter.reading.length == ByteCount(expected.count))
        }
        #expect(server.requests.map { $0.headers["range"] } == ["bytes=0-999", "bytes=0-49999", "bytes=0-59999"])
        #expect(server.requests.allSatisfy { $0.headers["accept-encoding"] == "identity" })
        #expect(server.connectionCount == 1)
    }

    @Test("A part of the first bytes counts, and the length may be unknown")
    func lessThanAsked() async throws {
        let server = try ScriptedServer { request in
            .answer(
                206, Array(Self.first.prefix(10)),
                headers: ["Content-Range: bytes 0-9/\(request.path == "/known" ? "50000" : "*")"])
        }
        for (path, length) in [("/known", 50_000), ("/unknown", nil)] as [(String, ByteCount?)] {
            let outcome = try await Probe().fetch(request(server.url(path)))
            #expect(outcome.response?.status == 206 && outcome.response?.length == length)
            #expect(outcome.bytes == Array(Self.first.prefix(10)))
        }
    }

    @Test("A server without ranges is stopped at the last byte wanted")
    func whole() async throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try ScriptedServer { request in
            switch request.path {
            case "/stated": [head(200, "Content-Length: 9000000000"), .send(Self.whole.bytes), .hold(gate)]
            // The last byte wanted is the last that comes.
            case "/silent": [head(200), .send(Self.first), .hold(gate)]
            case "/chunked":
                [head(200, "Transfer-Encoding: chunked"), .send("3E8\r\n"), .send(Self.first), .hold(gate)]
            case "/endless": [head(200), .send(Self.first), .sendForever(Self.first)]
            default: .answer(200, "next")
            }
        }
        let probe = Probe()
        for path in ["/stated", "/silent", "/chunked", "/endless"] {
            let meter = TransferMeter()
            var request = request(server.url(path))
            request.meter = meter
            let outcome = try await probe.fetch(request)
            #expect(outcome.response?.status == 200 && outcome.bytes == Self.first && outcome.metrics != nil)
            #expect(outcome.response?.length == (path == "/stated" ? 9_000_000_000 : nil))
            #expect(meter.reading.length == (path == "/stated" ? 1_000 : nil))
        }
        #expect(try await probe.fetch(server.url("/next")).bytes == Array("next".utf8))
    }

    @Test("A shorter resource from a server without ranges is complete")
    func shortWhole() async throws {
        let (server, probe) = (
            try ScriptedServer { .answer(200, Array(Self.first.prefix(Int($0.path.dropFirst()) ?? 0))) }, Probe()
        )
        for count in [0, 1, 999, 1_000] {
            let outcome = try await probe.fetch(request(server.url("/\(count)")))
            #expect(outcome.bytes == Array(Self.first.prefix(count)) && outcome.response?.length == ByteCount(count))
        }
        #expect(server.connectionCount == 1, "nothing was cut off")
        let open = try ScriptedServer { _ in [head(200), .send(Array(Self.first.prefix(10))), .close] }
        #expect(try await probe.fetch(request(open.url("/"))).bytes == Array(Self.first.prefix(10)))
    }

    @Test("A slow reader gets as many bytes as it wanted")
    func slowReader() async throws {
        let server = try ScriptedServer { _ in [head(200), .sendForever([UInt8](repeating: 7, count: 1 << 20))] }
        let probe = Probe()
        var total = 0
        for try await case .bytes(let bytes) in probe.client.transfer(request(server.url("/"), 3_000_001)) {
            total += bytes.count
            for _ in 0..<200 { await Task.yield() }
        }
        #expect(total == 3_000_001)
    }

    @Test("An answer that breaks off early is an error", arguments: ["/200", "/206"])
    func cut(path: String) async throws {
        let server = try ScriptedServer { request in
            [
                request.path == "/200"
                    ? head(200, "Content-Length: 50000") : head(206, "Content-Range: bytes 0-999/50000"),
                .send(Array(Self.first.prefix(500))), .close,
            ]
        }
        #expect(await Probe().failure(request(server.url(path))) == .cut)
    }

    @Test(
        "A range that was not requested is an error",
        arguments: [
            [], ["Content-Range: bytes 1-999/50000"], ["Content-Range: bytes 1-1000/50000"],
            ["Content-Range: bytes 0-1000/50000"],
            ["Content-Range: bytes 0-998/50000"], ["Content-Range: bytes 0-999/999"], ["Content-Range: bytes */50000"],
            ["Content-Range: bytes 0-999/x"], ["Content-Range: bytes 0--1/50000"], ["Content-Range: items 0-999/50000"],
            ["Content-Range: bytes 0-999/50000", "Content-Encoding: gzip"],
            ["Content-Range: bytes 0-99999999999999999999999/99999999999999999999999"],
            ["Content-Range: bytes 18446744073709551616-18446744073709552615/*"],
            ["Content-Type: multipart/byteranges; boundary=x"],
        ])
    func wrongRange(headers: [String]) async throws {
        let server = try ScriptedServer { _ in .answer(206, Self.first, headers: headers) }
        guard case .malformed? = await Probe().failure(request(server.url("/"))) else {
            Issue.record("it was accepted, or another error")
            return
        }
    }

    @Test("A body that is longer than its range is an error")
    func tooLong() async throws {
        let server = try ScriptedServer { _ in
            [head(206, "Content-Range: bytes 0-999/50000"), .send(Self.first), .send(Self.first), .close]
        }
        let probe = Probe()
        var count = 0
        await #expect(throws: HTTPError.self) {
            for try await case .bytes(let bytes) in probe.client.transfer(request(server.url("/"))) {
                count += bytes.count
            }
        }
        #expect(count <= 1_000)
    }

    @Test("A length beyond all bounds harms nothing")
    func hugeLength() async throws {
        let server = try ScriptedServer { _ in
            .answer(206, Self.first, headers: ["Content-Range: bytes 0-999/99999999999999999999999"])
        }
        let outcome = try await Probe().fetch(request(server.url("/")))
        #expect(outcome.bytes == Self.first && outcome.response?.length == nil)
        var numbers = BoundaryNumbers(seed: 5)
        for _ in 0..<10_000 {
            let first = WantedBytes(range: ByteCount(numbers.number())..<ByteCount(numbers.number()))
            #expect(!first.header.contains("--"))
            let range = "bytes 0-\(numbers.text())/\(numbers.text())"
            let length = ByteCount(numbers.number())
            for status in [200, 206, 416] {
                _ = try? first.judge(status: status, ["content-range": range], length: length)
            }
        }
    }

    @Test("An answer 416 means an empty resource, unless it states a length")
    func empty() async throws {
        let server = try ScriptedServer { request in
            .answer(
                416, "no range",
                headers: request.path == "/" ? [] : ["Content-Range: bytes */\(request.path.dropFirst())"])
        }
        for (path, length) in [("/", 0), ("/0", 0), ("/50000", nil)] as [(String, ByteCount?)] {
            let outcome = try await Probe().fetch(request(server.url(path)))
            #expect(outcome.response?.status == 416 && outcome.response?.length == length && outcome.bytes.isEmpty)
        }
    }

    @Test("nginx sends the first bytes, over HTTP/2 too", arguments: ["http", "https"])
    func nginx(scheme: String) async throws {
        let authority = try TestAuthority()
        let server = try LoopbackServer.nginx(
            scheme == "https" ? authority.issue(.good) : nil, files: ["photo.jpg": Self.whole.bytes, "empty.jpg": []])
        let probe = Probe(
            HTTPConfiguration(certificates: authority.certificate, connectTimeout: 60, stallTimeout: 60))
        let outcome = try await probe.fetch(request(server.url("/photo.jpg", scheme: scheme)))
        #expect(outcome.response?.status == 206 && outcome.response?.length == 50_000 && outcome.bytes == Self.first)
        let empty = try await probe.fetch(request(server.url("/empty.jpg", scheme: scheme)))
        #expect(empty.bytes.isEmpty && empty.response?.length == 0)
    }

    @Test("An HTTP/2 server without ranges is stopped, and keeps its connection")
    func http2() async throws {
        let authority = try TestAuthority()
        let source = try ScriptedServer { request in
            request.path == "/endless" ? [head(200), .sendForever(Self.first)] : .answer(200, "next")
        }
        let server = try LoopbackServer.nginx(passingTo: source, authority.issue(.good))
        let probe = Probe(
            HTTPConfiguration(certificates: authority.certificate, connectTimeout: 60, stallTimeout: 60))
        let outcome = try await probe.fetch(request(server.url("/endless", scheme: "https")))
        #expect(outcome.response?.status == 200 && outcome.bytes.count == 1_000)
        let meter = TransferMeter()
        var next = probe.request(server.url("/next", scheme: "https"))
        next.meter = meter
        #expect(try await probe.fetch(next).bytes == Array("next".utf8) && meter.reading.connect == nil)
    }

    @Test("The first bytes of a local file are read", arguments: [0, 1, 999, 1_000, 50_000])
    func localFile(count: Int) async throws {
        let folder = TestFolder()
        let path = folder.write("photo", Array(Self.whole.bytes.prefix(count)))
        let outcome = try await Probe().fetch(request("file://" + path))
        #expect(outcome.response?.status == 206 && outcome.response?.length == ByteCount(count))
        #expect(outcome.bytes == Array(Self.first.prefix(count)))
    }

    private func middle(_ url: String, _ range: Range<ByteCount> = 1_000..<3_000) -> HTTPRequest {
        HTTPRequest(url: url, destination: .stream, wantedBytes: range, limit: range.upperBound, allowsFiles: true)
    }

    @Test("A server with ranges sends bytes from the middle, or as many as there are")
    func inMiddle() async throws {
        let (server, probe) = (try ScriptedServer { Self.whole.answer($0) }, Probe())
        for range in [1_000..<3_000, 49_999..<60_000] as [Range<Int>] {
            let expected = range.clamped(to: 0..<50_000)
            let meter = TransferMeter()
            var request = middle(server.url("/"), ByteCount(range.lowerBound)..<ByteCount(range.upperBound))
            request.meter = meter
            let outcome = try await probe.fetch(request)
            #expect(outcome.response?.status == 206 && outcome.response?.length == 50_000)
            #expect(outcome.bytes == Array(Self.whole.bytes[expected]))
            #expect(meter.reading.length == ByteCount(expected.count))
        }
        #expect(server.requests.map { $0.headers["range"] } == ["bytes=1000-2999", "bytes=49999-59999"])
        #expect(server.requests.allSatisfy { $0.headers["accept-encoding"] == "identity" })
    }

    @Test("A server without ranges is stopped before it sends gigabytes for bytes in the middle")
    func wholeForMiddle() async throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try ScriptedServer { request in
            request.path == "/next"
                ? .answer(200, "next")
                : [head(200, "Content-Length: 9000000000"), .sendForever(Self.whole.bytes)]
        }
        let probe = Probe()
        let outcome = try await probe.fetch(middle(server.url("/")))
        #expect(outcome.response?.status == 200 && outcome.bytes.isEmpty)
        #expect(outcome.response?.length == 9_000_000_000)
        #expect(try await probe.fetch(server.url("/next")).bytes == Array("next".utf8))
    }

    @Test(
        "Bytes of another place are an error",
        arguments: ["0-1999/50000", "999-2998/50000", "1000-3000/50000", "1000-2998/50000", "*/50000"])
    func wrongMiddle(range: String) async throws {
        let server = try ScriptedServer { _ in
            .answer(206, Array(Self.whole.bytes.prefix(2_000)), headers: ["Content-Range: bytes \(range)"])
        }
        guard case .malformed? = await Probe().failure(middle(server.url("/"))) else {
            Issue.record("it was accepted, or another error")
            return
        }
    }

    @Test("A resource that ends before the wanted bytes has none of them")
    func beyond() async throws {
        let server = try ScriptedServer { _ in
            .answer(416, "no range", headers: ["Content-Range: bytes */500"])
        }
        let outcome = try await Probe().fetch(middle(server.url("/")))
        #expect(outcome.response?.status == 416 && outcome.bytes.isEmpty)
    }

    @Test("Bytes from the middle of a local file are read", arguments: [0, 1_000, 1_001, 50_000])
    func middleOfFile(count: Int) async throws {
        let folder = TestFolder()
        let path = folder.write("photo", Array(Self.whole.bytes.prefix(count)))
        let outcome = try await Probe().fetch(middle("file://" + path))
        #expect(outcome.response?.length == ByteCount(count))
        #expect(outcome.bytes == Array(Self.whole.bytes.prefix(count).dropFirst(1_000).prefix(2_000)))
    }
}
