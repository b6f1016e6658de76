import Glibc
import Logging
import Synchronization
import TestSupport
import Testing

@testable import HTTP

/// Connections that no data crosses and that report no error.
@Suite(.ownThread) struct DeadConnectionTests {
    /// Fetches a page over HTTP/2 before and after an event. The server falls silent after the first answer.
    private func expectTwoConnections(after event: (Probe, String) async throws -> Void) async throws {
        let authority = try TestAuthority()
        let server = try FaultyServer.http2("falls-silent", authority.issue(.good))
        let probe = Probe(
            HTTPConfiguration(certificates: authority.certificate, connectTimeout: 60, stallTimeout: 3))
        #expect(try await probe.fetch(server.url("/")).response?.status == 200)
        try await event(probe, server.url("/"))
        #expect(try await probe.fetch(server.url("/")).response?.status == 200)
        #expect(server.end().count { $0 == "connection" } == 2)
    }

    @Test("BEHAVIOURS 5.3: after a stall the next request goes over another connection, over HTTP/2 too")
    func overHTTP2() async throws {
        try await expectTwoConnections { probe, url in #expect(await probe.failure(url) == .stalled) }
    }

    @Test func overHTTP1() async throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try ScriptedServer { $0.path == "/hangs" ? [.hold(gate)] : .answer(200, "x") }
        let probe = Probe(HTTPConfiguration(connectTimeout: 60, stallTimeout: 3))
        #expect(try await probe.fetch(server.url("/")).response?.status == 200)
        #expect(await probe.failure(server.url("/hangs")) == .stalled)
        #expect(try await probe.fetch(server.url("/")).response?.status == 200)
        #expect(server.requests.map(\.connection) == [1, 1, 2])
    }

    /// A dead route is dead for all connections.
    @Test func otherDeadConnectionsAreNotTriedOneByOne() async throws {
        let (all, gate) = (Gate(), Gate())
        defer { for gate in [all, gate] { gate.open() } }
        let count = Mutex(0)
        let server = try ScriptedServer { request in
            guard request.path != "/hangs" else { return [.hold(gate)] }
            let isLast = count.withLock { count in
                count += 1
                return count == 3
            }
            if isLast { all.open() }
            return [.hold(all)] + .answer(200, "x")
        }
        let probe = Probe(HTTPConfiguration(connectTimeout: 60, stallTimeout: 3))
        try await withThrowingTaskGroup { group in
            for _ in 0..<3 { group.addTask { _ = try await probe.fetch(server.url("/")) } }
            try await group.waitForAll()
        }
        #expect(await probe.failure(server.url("/hangs")) == .stalled && server.connectionCount == 3)
        #expect(try await probe.fetch(server.url("/")).response?.status == 200)
        #expect(server.connectionCount == 4)
    }

    /// Without the address, no packet arrives, and the system does not close the connection.
    @Test("Connections from an address that the machine has lost are not used any more, and their transfers end")
    func lostAddress() async throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try ScriptedServer { request in
            guard request.path == "/hangs" else { return .answer(200, "x") }
            return [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .hold(gate)]
        }
        let probe = Probe()
        #expect(try await probe.fetch(server.url("/")).response?.status == 200)
        probe.client.abandonConnections(from: ["192.0.2.1"])
        #expect(try await probe.fetch(server.url("/")).response?.status == 200)
        probe.client.abandonConnections(from: ["127.0.0.1"])
        #expect(try await probe.fetch(server.url("/")).response?.status == 200)
        let hanging = probe.client.transfer(probe.request(server.url("/hangs")))
        for try await event in hanging { if case .bytes = event { break } }
        probe.client.abandonConnections(from: ["127.0.0.1"])
        await #expect(throws: CancellationError.self) { for try await _ in hanging {} }
        #expect(try await probe.fetch(server.url("/")).response?.status == 200)
        #expect(server.requests.map(\.connection) == [1, 1, 2, 2, 3])
    }

    @Test("A connection from an address that the machine has lost is not used for HTTP/2 any more")
    func lostAddressOverHTTP2() async throws {
        try await expectTwoConnections { probe, _ in probe.client.abandonConnections(from: ["127.0.0.1"]) }
    }

    /// The server does not answer, but the route works.
    @Test func aConnectionWithOtherTrafficIsLeftAlone() async throws {
        let authority = try TestAuthority()
        let server = try FaultyServer.http2("first-hangs", authority.issue(.good))
        let probe = Probe(
            HTTPConfiguration(certificates: authority.certificate, connectTimeout: 60, stallTimeout: 3))
        let hanging = probe.client.transfer(probe.request(server.url("/")))
        // The second transfer ends when the server sees the end of the first.
        for try await event in hanging { if case .response = event { break } }
        let other = probe.client.transfer(probe.request(server.url("/")))
        async let count = Self.count(other)
        await #expect(throws: HTTPError.stalled) { for try await _ in hanging {} }
        #expect(try await count > 0)
        #expect(server.end().count { $0 == "connection" } == 1)
    }

    private static func count(_ transfer: HTTPTransfer) async throws -> Int {
        var count = 0
        for try await event in transfer { if case .bytes(let bytes) = event { count += bytes.count } }
        return count
    }

    /// tcp(7), TCP_USER_TIMEOUT: "the maximum amount of time in milliseconds that transmitted data may remain
    /// unacknowledged, or buffered data may remain untransmitted (due to zero window size) before TCP will forcibly
    /// close the corresponding connection".
    @Test func theSocketHasAnAcknowledgementTimeout() async throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try ScriptedServer { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .hold(gate)]
        }
        let probe = Probe(HTTPConfiguration(connectTimeout: 60, stallTimeout: 47))
        let transfer = probe.client.transfer(probe.request(server.url("/")))
        for try await event in transfer { if case .bytes = event { break } }
        #expect(Self.timeouts(to: server.port) == [47_000])
        transfer.cancel()
    }

    /// The time-outs of this process's sockets to a port.
    private static func timeouts(to port: Int) -> [Int32] {
        (0..<Int32(4_096)).compactMap { descriptor in
            var peer = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isConnected = withUnsafeMutablePointer(to: &peer) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) == 0 }
            }
            guard isConnected, Int(UInt16(bigEndian: peer.sin_port)) == port else { return nil }
            var (timeout, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
            guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &timeout, &size) == 0 else { return nil }
            return timeout
        }
    }
}
