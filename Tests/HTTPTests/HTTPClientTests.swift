import Foundation
import Logging
import Numbers
import TestSupport
import Testing

@testable import HTTP

@Suite(.ownThread) struct HTTPClientTests {
    private let client = HTTPClient(log: Log())
    private let folder = TestFolder()

    private struct Outcome {
        var response: HTTPResponse?
        var bytes: [UInt8] = []
        var written: ByteCount = 0
        var metrics: HTTPMetrics?
    }

    private func fetch(_ request: HTTPRequest, with client: HTTPClient? = nil) async throws -> Outcome {
        var outcome = Outcome()
        for try await event in (client ?? self.client).transfer(request) {
            switch event {
            case .response(let response): outcome.response = response
            case .bytes(let bytes): outcome.bytes += bytes
            case .written(let count): outcome.written = count
            case .end(let metrics): outcome.metrics = metrics
            }
        }
        return outcome
    }

    private func request(_ url: String, limit: ByteCount = 1 << 24) -> HTTPRequest {
        HTTPRequest(url: url, destination: .stream, limit: limit)
    }

    @Test func answerComesInOrder() async throws {
        let server = try ScriptedServer { _ in
            .answer(200, "hello", headers: ["ETag: \"1\"", "Content-Type: text/xml ; charset=utf-8"])
        }
        let outcome = try await fetch(request(server.url("/a?b=c")))
        #expect(outcome.response?.status == 200 && outcome.response?.length == 5)
        #expect(outcome.response?.headers["etag"] == "\"1\"")
        #expect(outcome.response?.headers["content-type"] == "text/xml ; charset=utf-8")
        #expect(outcome.bytes == Array("hello".utf8))
        #expect(outcome.metrics?.bytes == 5 && outcome.metrics?.redirects == 0)
        #expect(server.requests.map(\.path) == ["/a?b=c"])
        #expect(server.requests[0].headers["user-agent"] == "Vitrine/1.0")
    }

    @Test func connectionsAreReused() async throws {
        let server = try ScriptedServer { _ in .answer(200, "x") }
        for _ in 0..<5 { _ = try await fetch(request(server.url("/"))) }
        #expect(server.connectionCount == 1)
    }

    @Test func manyAtOnce() async throws {
        let server = try ScriptedServer { .answer(200, $0.path) }
        let bodies = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<50 {
                group.addTask {
                    String(decoding: try await fetch(request(server.url("/\(number)"))).bytes, as: UTF8.self)
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(bodies.count == 50)
    }

    @Test func headersAreSent() async throws {
        let server = try ScriptedServer { _ in .answer(304, headers: ["ETag: \"2\""]) }
        var request = request(server.url("/"))
        request.headers = [("If-None-Match", "\"1\"")]
        let outcome = try await fetch(request)
        #expect(outcome.response?.status == 304 && outcome.bytes.isEmpty)
        #expect(server.requests[0].headers["if-none-match"] == "\"1\"")
    }

    @Test("BEHAVIOURS 5.5: an error body never reaches a photo file")
    func errorBodies() async throws {
        let long = String(repeating: "error ", count: 100_000)
        let server = try ScriptedServer { $0.path == "/short" ? .answer(404, "not here") : .answer(500, long) }
        for (path, status) in [("/short", 404), ("/long", 500)] {
            let file = folder.write("file", "")
            let descriptor = open(file, O_WRONLY)
            defer { close(descriptor) }
            let outcome = try await fetch(
                HTTPRequest(
                    url: server.url(path), destination: .file(try BodyFile(duplicating: descriptor)), limit: 1 << 20))
            #expect(outcome.response?.status == status && outcome.written == 0)
            #expect(try Data(contentsOf: URL(fileURLWithPath: file)).isEmpty)
        }
    }

    @Test func bodyGoesIntoAFile() async throws {
        let body = (0..<500_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let server = try ScriptedServer { _ in .answer(200, body) }
        let file = folder.write("file", "")
        let descriptor = open(file, O_WRONLY)
        defer { close(descriptor) }
        let outcome = try await fetch(
            HTTPRequest(url: server.url("/"), destination: .file(try BodyFile(duplicating: descriptor)), limit: 1 << 20)
        )
        #expect(outcome.written == 500_000 && outcome.bytes.isEmpty)
        #expect(try Array(Data(contentsOf: URL(fileURLWithPath: file))) == body)
    }

    /// As when the user leaves a photo: the file is closed before the network's thread knows.
    @Test func aBodyGoesIntoNoOtherFile() async throws {
        let (begun, gate) = (Gate(), Gate())
        let server = try ScriptedServer { _ in
            begun.open()
            return [.hold(gate)] + .answer(200, "body")
        }
        let (path, other) = (folder.write("file", ""), folder.write("other", ""))
        let descriptor = open(path, O_WRONLY)
        let request = HTTPRequest(
            url: server.url("/"), destination: .file(try BodyFile(duplicating: descriptor)), limit: 1 << 20)
        let transfer = client.transfer(request)
        #expect(await Task.detached { begun.wait() }.value)
        // Its number now names the other file.
        let number = open(other, O_WRONLY)
        dup2(number, descriptor)
        gate.open()
        for try await _ in transfer {}
        close(descriptor)
        close(number)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "body")
        #expect(try String(contentsOfFile: other, encoding: .utf8).isEmpty)
    }

    @Test func aFullDiskIsReported() async throws {
        let server = try ScriptedServer { _ in .answer(200, [UInt8](repeating: 1, count: 100_000)) }
        let descriptor = open("/dev/full", O_WRONLY)
        defer { close(descriptor) }
        await #expect(throws: HTTPError.disk(code: ENOSPC)) {
            try await fetch(
                HTTPRequest(
                    url: server.url("/"), destination: .file(try BodyFile(duplicating: descriptor)), limit: 1 << 20))
        }
    }

    @Test("BEHAVIOURS 5.5: bytes are counted, whether announced or not", arguments: ["/said", "/chunked", "/gzip"])
    func tooLarge(path: String) async throws {
        let zeros = try Self.gzipped(Data(count: 10 << 20))
        let server = try ScriptedServer { request in
            switch request.path {
            case "/said": .answer(200, [UInt8](repeating: 0, count: 2 << 20))
            case "/chunked":
                [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")]
                    + (0..<40).map { _ in
                        .send(Array("10000\r\n".utf8) + [UInt8](repeating: 0, count: 0x10000) + Array("\r\n".utf8))
                    }
            default: .answer(200, zeros, headers: ["Content-Encoding: gzip"])
            }
        }
        var request = request(server.url(path), limit: 1 << 20)
        request.allowsCompression = true
        await #expect(throws: HTTPError.tooLarge(limit: 1 << 20)) { try await fetch(request) }
    }

    @Test("BEHAVIOURS 5.5: an announced excess is refused before the body")
    func saidToBeTooLarge() async throws {
        let gate = Gate()
        defer { gate.open() }
        for length in ["1025", "99999999999999999999999"] {
            let server = try ScriptedServer { _ in
                [.send("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n"), .hold(gate)]
            }
            await #expect(throws: HTTPError.tooLarge(limit: 1024)) {
                try await fetch(request(server.url("/"), limit: 1024))
            }
        }
        // A chunked body is counted, whatever length is stated.
        let chunked = try ScriptedServer { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 2048\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n")]
        }
        #expect(try await fetch(request(chunked.url("/"), limit: 1024)).bytes == Array("ab".utf8))
        // The stated length of a dropped body does not matter.
        let server = try ScriptedServer { _ in .answer(404, [UInt8](repeating: 0, count: 2048)) }
        #expect(try await fetch(request(server.url("/"), limit: 1024)).response?.status == 404)
    }

    private static func gzipped(_ data: Data) throws -> [UInt8] {
        let (input, output) = (try ChildProcess.makePipe(), try ChildProcess.makePipe())
        let process = try ChildProcess("/bin/gzip", [], input: input.reading, output: output.writing)
        defer { process.wait() }
        for end in [input.reading, output.writing] { close(end) }
        let source = FileHandle(fileDescriptor: input.writing, closeOnDealloc: true)
        Thread.detachNewThread {
            source.write(data)
            try? source.close()
        }
        return Array(FileHandle(fileDescriptor: output.reading, closeOnDealloc: true).readDataToEndOfFile())
    }

    @Test func slowListenerMakesTheServerWait() async throws {
        let gate = Gate()
        let size = 64 << 20
        let server = try ScriptedServer { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")]
                + (0..<64).map { _ in .send([UInt8](repeating: 7, count: 1 << 20)) } + [.hold(gate)]
        }
        var total = 0
        var largest = 0
        for try await event in client.transfer(request(server.url("/"), limit: 1 << 30)) {
            if case .bytes(let bytes) = event {
                total += bytes.count
                largest = max(largest, bytes.count)
                if total < 4 << 20 { for _ in 0..<200 { await Task.yield() } }
            }
        }
        gate.open()
        #expect(total == size)
        #expect(largest <= TransferMailbox.capacity + (1 << 17))
    }

    @Test func redirectsAreFollowedTenTimes() async throws {
        let server = try ScriptedServer { request in
            let number = Int(request.path.dropFirst()) ?? 0
            return number == 0 ? .answer(200, "end") : .answer(302, headers: ["Location: /\(number - 1)"])
        }
        let outcome = try await fetch(request(server.url("/10")))
        #expect(outcome.response?.url == server.url("/0") && outcome.metrics?.redirects == 10)
        #expect(outcome.bytes == Array("end".utf8))
        await #expect(throws: HTTPError.tooManyRedirects) { try await fetch(request(server.url("/11"))) }
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/x", "dict://127.0.0.1/x"])
    func redirectsElsewhereAreRefused(location: String) async throws {
        let server = try ScriptedServer { _ in .answer(302, headers: ["Location: \(location)"]) }
        var request = request(server.url("/"))
        request.allowsFiles = true
        await #expect(throws: HTTPError.self) { try await fetch(request) }
    }

    @Test func credentialsStayWithTheirHost() async throws {
        let other = try ScriptedServer { _ in .answer(200) }
        let server = try ScriptedServer { request in
            switch request.path {
            case "/asks" where request.headers["authorization"] == nil:
                .answer(401, headers: ["WWW-Authenticate: Basic realm=\"x\""])
            case "/asks": .answer(200, "in")
            // Another port is another origin.
            default: .answer(302, headers: ["Location: \(other.url("/elsewhere"))"])
            }
        }
        var request = request(server.url("/asks"))
        request.credentials = .init(user: "me", password: "secret")
        #expect(try await fetch(request).bytes == Array("in".utf8))
        request.url = server.url("/redirects")
        _ = try await fetch(request)
        #expect(other.requests.count == 1 && other.requests[0].headers["authorization"] == nil)
    }

    @Test func theServerNoticesACancellation() async throws {
        let (begun, gate) = (Gate(), Gate())
        let server = try ScriptedServer { _ in
            begun.open()
            return [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .hold(gate)]
        }
        let task = Task { try await fetch(request(server.url("/"))) }
        #expect(await Task.detached { begun.wait() }.value)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        gate.open()
        // The client still works.
        let next = try ScriptedServer { _ in .answer(200, "next") }
        #expect(try await fetch(request(next.url("/"))).bytes == Array("next".utf8))
    }

    @Test func releasingATransferCancelsIt() async throws {
        let (begun, gone) = (Gate(), Gate())
        let server = try ScriptedServer { _ in
            begun.open()
            return [.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")]
                + (0..<1_000).map { _ in .send([UInt8](repeating: 0, count: 1 << 20)) }
        }
        var transfer: HTTPTransfer? = client.transfer(request(server.url("/"), limit: 1 << 40))
        #expect(await Task.detached { begun.wait() }.value)
        _ = transfer
        transfer = nil
        // The only thread is free when the first transfer is gone, and then serves this one.
        let next = try ScriptedServer { _ in
            gone.open()
            return .answer(200)
        }
        _ = try await fetch(request(next.url("/")))
        #expect(gone.wait())
    }
}
