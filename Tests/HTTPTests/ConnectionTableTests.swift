import Dispatch
import Glibc
import Logging
import TestSupport
import Testing

@testable import HTTP

/// Telling connections apart.
@Suite struct ConnectionTableTests {
    /// Otherwise the server would keep sending while its data is on the way.
    @Test func cancelledConnectionsAreReset() async throws {
        let listener = try Socket.listening()
        let client = HTTPClient(log: Log(level: .error))
        let transfer = client.transfer(
            HTTPRequest(url: "http://127.0.0.1:\(listener.port)/", destination: .stream, limit: 1_000))
        async let end = answer(on: listener)
        var events = transfer.makeAsyncIterator()
        while let event = try await events.next() {
            if case .bytes = event { break }
        }
        transfer.cancel()
        #expect(await end == ECONNRESET)
    }

    /// Sends half of an answer and waits for the end of the connection. Returns its error.
    private func answer(on listener: Socket) async -> Int32 {
        await withCheckedContinuation { continuation in
            // A thread of its own, since it blocks.
            DispatchQueue(label: "server").async {
                let peer = listener.accepted()
                var request = [UInt8](repeating: 0, count: 4_096)
                #expect(recv(peer.number, &request, request.count, 0) > 0)
                let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf".utf8)
                #expect(send(peer.number, answer, answer.count, 0) == answer.count)
                // Nothing is in flight then, so a normal close causes no error.
                continuation.resume(returning: recv(peer.number, &request, 1, 0) < 0 ? errno : 0)
            }
        }
    }

    /// An idle connection proves nothing, and one in use may still get data.
    @Test func aStallAlsoEndsIdleConnectionsToTheHost() throws {
        let (table, place, other) = (ConnectionTable(), try Socket.listening(), try Socket.listening())
        var peers: [Socket] = []
        let sockets = try [place, place, place, other].map { listener in
            let socket = try Socket.connected(from: 0, to: listener)
            peers.append(listener.accepted())
            table.add(socket.number)
            return socket
        }
        let ends = try sockets.map { try #require(ConnectionEnds($0.number)) }
        func given() -> [Bool] {
            sockets.map { socket in
                var byte: UInt8 = 0
                return recv(socket.number, &byte, 1, Int32(MSG_DONTWAIT)) == 0
            }
        }
        table.giveUp(ends[0], after: 3_600, inUse: [ends[1]])
        #expect(given() == [false, false, false, false], "something has just come over it")
        table.giveUp(ends[0], after: 0, inUse: [ends[1]])
        #expect(given() == [true, false, true, false])
        withExtendedLifetime(peers) {}
    }

    /// Two connections from one port to two hosts, as Linux makes them.
    @Test func connectionsWithTheSameLocalPortDiffer() throws {
        let table = ConnectionTable()
        let listeners = try (0..<2).map { _ in try Socket.listening() }
        let first = try Socket.connected(from: 0, to: listeners[0])
        let second = try Socket.connected(from: first.port, to: listeners[1])
        #expect(first.port == second.port)
        for socket in [first, second] { table.add(socket.number) }
        let ends = try [first, second].map { try #require(ConnectionEnds($0.number)) }
        #expect(ends[0] != ends[1])
        // One gets a byte, the other nothing.
        let peers = listeners.map { $0.accepted() }
        #expect(send(peers[0].number, [1], 1, 0) == 1)
        var byte: UInt8 = 0
        #expect(recv(first.number, &byte, 1, 0) == 1)
        #expect(try #require(table.advance(ends[0])).received == 1)
        #expect(try #require(table.advance(ends[1])).received == 0)
        #expect(try #require(table.advance(ends[0])).received == 0, "it has been told of")
    }
}
