import Foundation
import Logging
import Numbers
import Synchronization
import TestSupport
import Testing

@testable import HTTP

/// Transfers in pieces. Each waits for a test server's answer and never for a time.
@Suite(.ownThread) struct PiecedTransferTests {
    private let client = HTTPClient(log: Log())
    private let folder = TestFolder()

    private struct Outcome {
        var response: HTTPResponse?
        var written: [ByteCount] = []
        var metrics: HTTPMetrics?
        var error: HTTPError?
        var contents: [UInt8] = []
    }

    private static let pieces = HTTPRequest.Pieces(size: 10_000, window: 40_000, most: 24)

    private func fetch(
        _ url: String, there: [UInt8] = [], validator: String? = nil, limit: ByteCount = 1 << 20,
        meter: TransferMeter? = nil,
        pieces: HTTPRequest.Pieces = PiecedTransferTests.pieces,
        onTransfer: (HTTPTransfer) -> Void = { _ in }, onWritten: (HTTPTransfer, ByteCount) -> Void = { _, _ in }
    ) async throws -> Outcome {
        let path = folder.path + "/" + UUID().uuidString
        try Data(there).write(to: URL(fileURLWithPath: path))
        let descriptor = open(path, O_RDWR)
        defer { close(descriptor) }
        var outcome = Outcome()
        let transfer = client.transfer(
            HTTPRequest(
                url: url, destination: .file(try BodyFile(duplicating: descriptor)),
                resumption: validator.map { .init(offset: ByteCount(there.count), validator: $0) }, limit: limit,
                pieces: pieces, meter: meter))
        onTransfer(transfer)
        do {
            for try await event in transfer {
                switch event {
                case .response(let response): outcome.response = response
                case .written(let count):
                    outcome.written.append(count)
                    onWritten(transfer, count)
                case .end(let metrics): outcome.metrics = metrics
                case .bytes: Issue.record("it goes into a file")
                }
            }
        } catch {
            outcome.error = error as? HTTPError
        }
        outcome.contents = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        return outcome
    }

    @Test("BEHAVIOURS 5.9: a large file comes in pieces over several connections and is assembled in order")
    func inPieces() async throws {
        let whole = Whole(95_000)
        // The second piece waits for a request on another connection.
        let gate = Gate()
        let server = try ScriptedServer { request in
            switch Whole.part(request)?.first {
            case 10_000: [.hold(gate)] + whole.answer(request)
            case 20_000: [.open(gate)] + whole.answer(request)
            default: whole.answer(request)
            }
        }
        let meter = TransferMeter()
        let outcome = try await fetch(server.url("/photo"), meter: meter)
        #expect(outcome.error == nil && outcome.contents == whole.bytes)
        #expect(outcome.response?.status == 200 && outcome.response?.length == 95_000 && outcome.response?.begin == 0)
        #expect(outcome.written == outcome.written.sorted() && outcome.written.last == 95_000)
        #expect(outcome.metrics?.bytes == 95_000)
        let parts = Set(server.requests.compactMap { Whole.part($0)?.first }).sorted()
        #expect(parts == Array(stride(from: 0, to: 95_000, by: 10_000)) && server.connectionCount > 1)
        let reading = meter.reading
        #expect(reading.bytes == 95_000 && reading.length == 95_000 && reading.asked == 95_000)
        #expect(reading.wait != nil && reading.version == .http1)
        if case .succeeded? = reading.outcome {} else { Issue.record("\(String(describing: reading.outcome))") }
    }

    /// A reader of the file sees the beginning of a picture without holes.
    @Test func earlyPiecesWaitForTheirTurn() async throws {
        let whole = Whole(40_000)
        let gate = Gate()
        let others = Mutex(0)
        let server = try ScriptedServer { request in
            let first = Whole.part(request)?.first
            // The third and fourth come before the second.
            if first == 20_000 || first == 30_000,
                others.withLock({
                    $0 += 1; return $0 == 2
                })
            {
                return whole.answer(request) + [.deliver, .open(gate)]
            }
            return (first == 10_000 ? [.hold(gate)] : []) + whole.answer(request)
        }
        let outcome = try await fetch(server.url("/photo"))
        #expect(outcome.error == nil && outcome.contents == whole.bytes)
    }

    @Test func aServerWithoutRangesIsRemembered() async throws {
        let whole = Whole(50_000)
        let server = try ScriptedServer { _ in whole.all }
        for _ in 0..<2 {
            let outcome = try await fetch(server.url("/photo"))
            #expect(outcome.error == nil && outcome.contents == whole.bytes && outcome.response?.status == 200)
        }
        #expect(server.requests.map { $0.headers["range"] } == ["bytes=0-9999", nil])
    }

    @Test("BEHAVIOURS 5.9: parts without a strong validator are not combined", arguments: [nil, "W/\"a\""])
    func withoutValidator(tag: String?) async throws {
        var whole = Whole(50_000)
        whole.tag = tag
        let server = try ScriptedServer { [whole] in whole.answer($0) }
        let outcome = try await fetch(server.url("/photo"))
        #expect(outcome.error == nil && outcome.contents == whole.bytes)
        #expect(server.requests.map { $0.headers["range"] } == ["bytes=0-9999", nil])
    }

    @Test("BEHAVIOURS 5.9: a piece of another version is not combined with the others", arguments: [true, false])
    func anotherEdition(isGone: Bool) async throws {
        let (whole, other) = (
            Whole(50_000),
            {
                var other = Whole(50_000, seed: 2); other.tag = "\"b\""; return other
            }()
        )
        let server = try ScriptedServer { request in
            let first = Whole.part(request)?.first
            let isNew = request.headers["if-range"] == nil ? first == 20_000 : isGone
            return isNew ? other.answer(request) : whole.answer(request)
        }
        let outcome = try await fetch(server.url("/photo"))
        // The rest is requested at once. If it is of the other version too, the transfer fails.
        #expect(server.requests.contains { $0.headers["if-range"] == "\"a\"" })
        if isGone {
            #expect(outcome.error == .wrongRange("the file has changed"))
        } else {
            #expect(outcome.error == nil && outcome.contents == whole.bytes)
        }
    }

    @Test(
        "BEHAVIOURS 5.9: after a failed piece the rest is requested at once", arguments: [503, 404, 200, 0])
    func aPieceThatDoesNotCome(status: Int) async throws {
        let whole = Whole(60_000)
        let server = try ScriptedServer { request in
            guard Whole.part(request)?.first == 30_000, request.headers["if-range"] == nil else {
                return whole.answer(request)
            }
            return status == 0 ? [.reset] : status == 200 ? whole.all : .answer(status, "no")
        }
        let outcome = try await fetch(server.url("/photo"))
        #expect(outcome.error == nil && outcome.contents == whole.bytes)
        #expect(outcome.written == outcome.written.sorted())
        _ = try await fetch(server.url("/next"))
        // A server that refuses ranges is not asked for them again. A broken transfer proves nothing. It may break before the
        // request for the first piece is sent, so any piece counts.
        let isAskedForPieces = server.requests.contains { $0.path == "/next" && $0.headers["range"] != nil }
        #expect(isAskedForPieces == (status == 0))
    }

    @Test("A transfer in pieces ends if the server has too many requests")
    func tooManyRequests() async throws {
        let whole = Whole(60_000)
        let server = try ScriptedServer { request in
            guard Whole.part(request)?.first == 30_000 else { return whole.answer(request) }
            return .answer(429, "", headers: ["Retry-After: 30"])
        }
        let outcome = try await fetch(server.url("/photo"))
        #expect(outcome.error == .refused(status: 429, retryAfter: "30"))
        #expect(outcome.contents == Array(whole.bytes.prefix(outcome.contents.count)))
        #expect(!server.requests.contains { $0.headers["if-range"] != nil })
    }

    @Test("If a busy server refuses the rest, the error has its status", arguments: [429, 503])
    func refusedRest(status: Int) async throws {
        let whole = Whole(60_000)
        let gate = Gate()
        let server = try ScriptedServer { request in
            if request.headers["if-range"] != nil { return .answer(status, "", headers: ["Retry-After: 30"]) }
            return Whole.part(request)?.first == 30_000 ? [.hold(gate), .reset] : whole.answer(request)
        }
        // The request for the rest states a version only if the file has a beginning.
        let outcome = try await fetch(server.url("/photo"), onWritten: { _, _ in gate.open() })
        #expect(outcome.error == .refused(status: status, retryAfter: "30"))
    }

    @Test("BEHAVIOURS 5.9: a partial file is resumed in pieces", arguments: ["\"a\"", "\"old\""])
    func resumed(validator: String) async throws {
        let whole = Whole(60_000)
        let server = try ScriptedServer { whole.answer($0) }
        let outcome = try await fetch(
            server.url("/photo"), there: Array(whole.bytes.prefix(25_000)), validator: validator)
        #expect(outcome.error == nil && outcome.contents == whole.bytes)
        #expect(server.requests[0].headers["range"] == "bytes=25000-34999")
        #expect(server.requests[0].headers["if-range"] == validator)
        let isUsed = validator == whole.tag
        #expect(
            outcome.response?.begin == (isUsed ? 25_000 : 0) && outcome.metrics?.bytes == (isUsed ? 35_000 : 60_000))
        #expect(Set(server.requests.compactMap { $0.headers["range"] }).count == (isUsed ? 4 : 1))
    }

    /// A photo fetched for later while another is shown.
    @Test func anEmptyWindowPausesTheRequests() async throws {
        let whole = Whole(60_000)
        let server = try ScriptedServer { whole.answer($0) }
        let asked = Mutex<[Int]>([])
        let outcome = try await fetch(
            server.url("/photo"), pieces: HTTPRequest.Pieces(size: 10_000, window: 0, most: 24),
            onWritten: { transfer, place in
                asked.withLock { $0.append(server.requests.count) }
                if place == 10_000 { transfer.setPieces(HTTPRequest.Pieces(size: 25_000, window: 50_000, most: 24)) }
            })
        #expect(outcome.error == nil && outcome.contents == whole.bytes)
        #expect(asked.withLock { $0.first } == 1)
        #expect(Set(server.requests.compactMap { $0.headers["range"] }).count == 3)
    }

    @Test("BEHAVIOURS 5.9: a redirected file comes in one transfer")
    func redirected() async throws {
        let whole = Whole(50_000)
        let server = try ScriptedServer { request in
            request.path == "/photo" ? .answer(302, "", headers: ["Location: /there"]) : whole.answer(request)
        }
        let outcome = try await fetch(server.url("/photo"))
        #expect(outcome.error == nil && outcome.contents == whole.bytes)
        #expect(outcome.response?.url == server.url("/there") && outcome.metrics?.redirects == 1)
    }

    /// Answers come on several threads at once, and one of them decides.
    @Test func oneOfManyFirstAnswersDecides() async throws {
        let whole = Whole(60_000)
        let server = try ScriptedServer { whole.answer($0) }
        for round in 0..<40 {
            // A server that refuses a piece is remembered, so each case uses another server.
            let other = try ScriptedServer { request in
                let isRefused = (Whole.part(request)?.first ?? 0) >= 20_000 && request.headers["if-range"] == nil
                return isRefused ? .answer(503, "no") : whole.answer(request)
            }
            for url in [server.url("/\(round)"), other.url("/\(round)")] {
                let outcome = try await fetch(url, pieces: HTTPRequest.Pieces(size: 3_000, window: 60_000, most: 24))
                #expect(outcome.error == nil && outcome.contents == whole.bytes && outcome.response?.status == 200)
                #expect(outcome.written == outcome.written.sorted() && outcome.written.last == 60_000)
            }
            other.stop()
        }
    }

    @Test("BEHAVIOURS 5.9: a hanging piece is requested again over another connection")
    func hanging() async throws {
        let whole = Whole(100_000)
        let gate = Gate()
        let times = Mutex(0)
        let server = try ScriptedServer { request in
            let hangs =
                Whole.part(request)?.first == 10_000
                && times.withLock {
                    $0 += 1; return $0 == 1
                }
            return (hangs ? [.hold(gate)] : []) + whole.answer(request)
        }
        let outcome = try await fetch(
            server.url("/photo"), pieces: HTTPRequest.Pieces(size: 1_000, window: 10_000, most: 24))
        gate.open()
        #expect(outcome.error == nil && outcome.contents == whole.bytes && outcome.metrics?.bytes == 100_000)
        #expect(times.withLock { $0 } >= 2)
    }

    @Test("If the server has too many requests for a duplicate, the transfer goes on with the original")
    func refusedDuplicate() async throws {
        let whole = Whole(100_000)
        let gate = Gate()
        let times = Mutex(0)
        let server = try ScriptedServer { request in
            guard Whole.part(request)?.first == 10_000 else { return whole.answer(request) }
            let isFirst = times.withLock { count in
                count += 1
                return count == 1
            }
            guard !isFirst else { return [.hold(gate)] + whole.answer(request) }
            // The original comes after the refusal.
            let refusal: [ScriptedServer.Step] = .answer(429, "", headers: ["Retry-After: 30"])
            return refusal + [.deliver, .open(gate)]
        }
        let outcome = try await fetch(
            server.url("/photo"), pieces: HTTPRequest.Pieces(size: 1_000, window: 10_000, most: 24))
        gate.open()
        #expect(outcome.error == nil && outcome.contents == whole.bytes)
        #expect(times.withLock { $0 } == 2)
    }

    /// A shared connection could be the one on which the piece hangs.
    @Test func aDuplicateUsesAConnectionOfItsOwn() async throws {
        let whole = Whole(100_000)
        let gate = Gate()
        let server = try ScriptedServer { request in
            let isFirst = Whole.part(request)?.first == 10_000 && request.headers["x-first"] != nil
            return (isFirst ? [.hold(gate)] : []) + whole.answer(request)
        }
        let path = folder.write("photo", [])
        let descriptor = open(path, O_RDWR)
        defer { close(descriptor) }
        let request = HTTPRequest(
            url: server.url("/photo"), destination: .file(try BodyFile(duplicating: descriptor)), limit: 1 << 20,
            connection: .few, pieces: HTTPRequest.Pieces(size: 1_000, window: 10_000, most: 24))
        let asked = Mutex<[HTTPRequest.Connection: Int]>([:])
        let pieced = PiecedTransfer(request, RangeMemory()) { [client] part in
            asked.withLock { $0[part.connection, default: 0] += 1 }
            var part = part
            part.headers = part.connection == .few ? [("X-First", "yes")] : []
            return client.transfer(part)
        }
        let transfer = try #require(pieced)
        let handle = transfer.handle
        transfer.start()
        for try await _ in handle {}
        gate.open()
        #expect(FileManager.default.contents(atPath: path) == Data(whole.bytes))
        #expect(asked.withLock { $0[.few] } == 100 && asked.withLock { $0[.unshared] ?? 0 } >= 1)
    }

    @Test(arguments: [404, 416, 429, 503]) func refusals(status: Int) async throws {
        let server = try ScriptedServer { _ in .answer(status, "no") }
        let outcome = try await fetch(server.url("/photo"))
        #expect(outcome.error == nil && outcome.response?.status == status && outcome.contents.isEmpty)
        #expect(server.requests.count == 1)
    }

    @Test func tooLarge() async throws {
        let whole = Whole(50_000)
        let server = try ScriptedServer { whole.answer($0) }
        #expect(try await fetch(server.url("/photo"), limit: 49_999).error == .tooLarge(limit: 49_999))
    }

    @Test func aServerWithRangesGetsSeveralRequestsAtOnce() async throws {
        let whole = Whole(30_000)
        let gate = Gate()
        let server = try ScriptedServer { request in
            guard request.path == "/photo" else {
                return .answer(200, "small", headers: ["ETag: \"b\"", "Accept-Ranges: bytes"])
            }
            // The first piece comes after the last.
            let isLast = Whole.part(request)?.first == 20_000
            return (Whole.part(request)?.first == 0 ? [.hold(gate)] : []) + whole.answer(request)
                + (isLast ? [.deliver, .open(gate)] : [])
        }
        for try await _ in client.transfer(HTTPRequest(url: server.url("/small"), destination: .stream, limit: 100)) {}
        let outcome = try await fetch(server.url("/photo"))
        #expect(outcome.error == nil && outcome.contents == whole.bytes)
    }

    /// The server is known to send ranges, so more are requested than exist.
    @Test func requestsBeyondTheEndAreHarmless() async throws {
        let (large, small) = (Whole(50_000), Whole(15_000))
        let gate = Gate()
        let server = try ScriptedServer { request in
            guard request.path == "/small" else { return large.answer(request) }
            // The held part comes after the missing one.
            guard let first = Whole.part(request)?.first, first >= 20_000 else {
                return [.hold(gate)] + small.answer(request)
            }
            return small.answer(request) + (first == 30_000 ? [.deliver, .open(gate)] : [])
        }
        _ = try await fetch(server.url("/large"))
        let outcome = try await fetch(server.url("/small"))
        #expect(outcome.error == nil && outcome.contents == small.bytes)
    }

    @Test("BEHAVIOURS 5.9: a cancelled transfer in pieces writes nothing more")
    func cancelled() async throws {
        let whole = Whole(60_000)
        let gate = Gate()
        let server = try ScriptedServer { request in
            (Whole.part(request)?.first == 30_000 ? [.hold(gate)] : []) + whole.answer(request)
        }
        let meter = TransferMeter()
        let outcome = try await fetch(
            server.url("/photo"), meter: meter,
            onWritten: { transfer, place in if place == 30_000 { transfer.cancel() } })
        gate.open()
        #expect(outcome.contents == Array(whole.bytes.prefix(30_000)) && outcome.metrics == nil)
        if case .cancelled? = meter.reading.outcome {} else { Issue.record("\(String(describing: meter.reading))") }
    }
}
