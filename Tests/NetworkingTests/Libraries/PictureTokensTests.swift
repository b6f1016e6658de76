import HTTP
import Logging
import Model
import Synchronization
import TestSupport
import Testing

@testable import Networking

/// The tokens of PhotoPrism's pictures.
@Suite(.ownThread, .unlessItHangs) struct PictureTokensTests {
    private let client = HTTPClient(log: Log())

    @Test("A picture that the server refuses with valid tokens does not cost new tokens each time")
    func forbidden() async throws {
        let server = try ScriptedServer { request in
            request.path.hasPrefix("/api/v1/photos")
                ? .answer(200, "[]", headers: ["X-Preview-Token: prev", "X-Download-Token: d0wn"]) : .answer(403, "")
        }
        let clock = ManualClock()
        let tokens = PictureTokens(clock)
        func ask() async throws -> Int {
            let before = server.requests.count
            var plan = FetchPlan(
                address: try Address(server.url("/api/v1/t/0abc/-/fit_720")), limit: 1_000, addressPolicy: .anywhere)
            plan.tokens = tokens
            await #expect(throws: RequestError.status(403, retryAfter: nil)) {
                _ = try await plan.answer(over: client, with: TransferPermit())
            }
            return server.requests.count - before
        }
        // The first picture fetches tokens, and once more after the refusal.
        #expect(try await ask() == 4)
        #expect(try await ask() == 1)
        #expect(try await ask() == 1)
        // The server may have started again meanwhile.
        clock.advance(to: .seconds(60))
        #expect(try await ask() == 3)
    }

    @Test("A cancelled picture stops waiting for tokens, and the request for them serves the next picture")
    func cancelled() async throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try ScriptedServer { request in
            guard request.path.hasPrefix("/api/v1/photos") else { return .answer(200, "picture") }
            return [.hold(gate)] + .answer(200, "[]", headers: ["X-Preview-Token: prev", "X-Download-Token: d0wn"])
        }
        var picture = FetchPlan(
            address: try Address(server.url("/api/v1/t/0abc/-/fit_720")), limit: 1_000, addressPolicy: .anywhere)
        picture.tokens = PictureTokens(ManualClock())
        let fetch = Task { [client, picture] in _ = try await picture.answer(over: client, with: TransferPermit()) }
        fetch.cancel()
        await #expect(throws: CancellationError.self) { try await fetch.value }
        #expect(!gate.isOpen)
        gate.open()
        _ = try await picture.answer(over: client, with: TransferPermit())
        #expect(server.requests.count { $0.path.hasPrefix("/api/v1/photos") } == 1)
    }

    @Test("The failure of a request for tokens that no picture awaits does not reach the next picture")
    func abandoned() async throws {
        let gate = Gate()
        defer { gate.open() }
        let times = Mutex(0)
        let server = try ScriptedServer { request in
            guard request.path.hasPrefix("/api/v1/photos") else { return .answer(200, "picture") }
            let isFirst = times.withLock { count in
                count += 1
                return count == 1
            }
            guard !isFirst else { return [.hold(gate)] + .answer(503) }
            return .answer(200, "[]", headers: ["X-Preview-Token: prev", "X-Download-Token: d0wn"])
        }
        let tokens = PictureTokens(ManualClock())
        var picture = FetchPlan(
            address: try Address(server.url("/api/v1/t/0abc/-/fit_720")), limit: 1_000, addressPolicy: .anywhere)
        picture.tokens = tokens
        let fetch = Task { [client, picture] in _ = try await picture.answer(over: client, with: TransferPermit()) }
        fetch.cancel()
        await #expect(throws: CancellationError.self) { try await fetch.value }
        gate.open()
        while await !tokens.isEmpty { await Task.yield() }
        _ = try await picture.answer(over: client, with: TransferPermit())
        #expect(server.requests.count { $0.path.hasPrefix("/api/v1/photos") } == 2)
    }

    @Test("A token goes into the address of the picture, also if the server’s own path looks like its place")
    func tokenPlaces() throws {
        let pair = PictureTokens.Pair(preview: "prev", download: "d0wn")
        for (picture, expected) in [
            ("https://p.test/api/v1/t/0abc/-/fit_720", "https://p.test/api/v1/t/0abc/prev/fit_720"),
            ("https://p.test/-/x/api/v1/t/0abc/-/fit_720", "https://p.test/-/x/api/v1/t/0abc/prev/fit_720"),
            ("https://p.test/api/v1/dl/0abc", "https://p.test/api/v1/dl/0abc?t=d0wn"),
        ] {
            #expect(try PhotoPrismRules.address(of: Address(picture), with: pair).text == expected)
        }
    }
}
