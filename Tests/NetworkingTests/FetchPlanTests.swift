import HTTP
import Cache
import Logging
import Model
import Numbers
import Session
import TestSupport
import Testing

@testable import Networking

/// Plans with other methods, and plans for the first bytes.
@Suite(.ownThread) struct FetchPlanTests {
    private let client = HTTPClient(HTTPConfiguration(connectTimeout: 60, stallTimeout: 60), log: Log())

    private func answer(to plan: FetchPlan) async throws -> Response {
        try await Response.to(plan, over: client, with: TransferPermit())
    }

    private func failure(_ plan: FetchPlan) async -> RequestError? {
        do {
            _ = try await answer(to: plan)
            return nil
        } catch {
            return RequestError(error)
        }
    }

    @Test("A plan sends its method, headers, validators and body")
    func propfind() async throws {
        let server = try ScriptedServer { request in
            switch request.path {
            case "/a": .answer(301, headers: ["Location: /a/"])
            case "/same/": .answer(304)
            default: .answer(207, "list", headers: ["ETag: \"2\"", "X-Kind: x"])
            }
        }
        var plan = FetchPlan(
            address: try Address(server.url("/a")), method: .propfind, headers: [("Depth", "1")], body: [1, 0, 255],
            validators: Validators(etag: "\"1\""), limit: 1 << 20)
        var response = try await answer(to: plan)
        #expect(try await response.allBytes() == Array("list".utf8) && response.head.status == 207)
        #expect(response.address.text == server.url("/a/") && response.head.headers["x-kind"] == "x")
        #expect(response.validators.etag == "\"2\"" && !response.isUnchanged)
        plan.address = try Address(server.url("/same/"))
        #expect(try await answer(to: plan).isUnchanged)
        for sent in server.requests {
            #expect(sent.method == "PROPFIND" && sent.body == [1, 0, 255] && sent.headers["depth"] == "1")
            #expect(sent.headers["if-none-match"] == "\"1\"")
        }
        plan.method = .get
        plan.address = try Address(server.url("/a/"))
        #expect(await failure(plan) == .status(207, retryAfter: nil))
    }

    @Test("A limit that is set after the beginning of a body counts all its bytes")
    func laterLimit() async throws {
        // More bytes than a transfer passes on at once, so the limit meets a later piece.
        let server = try ScriptedServer { _ in .answer(200, String(repeating: "x", count: 300_000)) }
        let plan = FetchPlan(address: try Address(server.url("/")), limit: 1 << 20)
        for limit in [299_999, 300_000] as [ByteCount] {
            var response = try await answer(to: plan)
            response.putBack(try await response.beginning())
            response.limit(to: limit)
            if limit < 300_000 {
                await #expect(throws: HTTPError.tooLarge(limit: limit)) { _ = try await response.allBytes() }
            } else {
                #expect(try await response.allBytes().count == 300_000)
            }
        }
    }

    @Test("Each method has its statuses of success")
    func statuses() async throws {
        let server = try ScriptedServer { .answer(Int($0.path.dropFirst()) ?? 0, headers: ["DAV: 1"]) }
        let expected: [(HTTPRequest.Method, [Int])] = [
            (.get, [200]), (.propfind, [200, 207]), (.options, [200, 201, 204, 206, 207]), (.post, [200, 201, 204]),
        ]
        for (method, statuses) in expected {
            for status in [200, 201, 204, 206, 207, 404, 416] {
                let plan = FetchPlan(address: try Address(server.url("/\(status)")), method: method, limit: 1 << 20)
                let isExpected = statuses.contains(status)
                #expect(await failure(plan) == (isExpected ? nil : .status(status, retryAfter: nil)), "\(method)")
                if isExpected { #expect(try await answer(to: plan).head.headers["dav"] == "1") }
            }
        }
    }

    @Test("Nextcloud’s name for Basic leads to the question for a password")
    func question() async throws {
        let server = try ScriptedServer { _ in .answer(401, headers: ["WWW-Authenticate: DummyBasic realm=\"x\""]) }
        let plan = FetchPlan(address: try Address(server.url("/")), method: .propfind, limit: 1 << 20)
        guard case .signIn(let question)? = await failure(plan) else {
            Issue.record("no question")
            return
        }
        #expect(question.schemes == ["basic"] && question.realm == "x")
    }

    @Test("A plan gets the first bytes, from servers with and without ranges")
    func firstBytes() async throws {
        let server = try ScriptedServer { request in
            switch request.path {
            case "/206": .answer(206, "0123", headers: ["Content-Range: bytes 0-3/10"])
            case "/200":
                [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"), .sendForever([0x30, 0x31, 0x32, 0x33])]
            case "/full": .answer(416, "x", headers: ["Content-Range: bytes */10"])
            default: .answer(416, "x", headers: ["Content-Range: bytes */0"])
            }
        }
        for (path, text, length) in [("/206", "0123", 10), ("/200", "0123", 10), ("/empty", "", 0)] {
            let plan = FetchPlan(address: try Address(server.url(path)), wantedBytes: 0..<4, limit: 4)
            var response = try await answer(to: plan)
            #expect(try await response.allBytes() == Array(text.utf8) && response.head.length == ByteCount(length))
            #expect(path == "/empty" || "/\(response.head.status)" == path)
        }
        let full = FetchPlan(address: try Address(server.url("/full")), wantedBytes: 0..<4, limit: 4)
        #expect(await failure(full) == .status(416, retryAfter: nil))
        let unasked = FetchPlan(address: try Address(server.url("/206")), limit: 4)
        #expect(await failure(unasked) == .status(206, retryAfter: nil))
        #expect(server.requests.map { $0.headers["range"] } == Array(repeating: "bytes=0-3", count: 4) + [nil])
    }
}
