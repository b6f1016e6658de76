import Logging
import Numbers
import Synchronization
import TestSupport
import Testing

@testable import HTTP

/// Meters of running transfers.
@Suite(.ownThread) struct TransferMeterTests {
    private let client = HTTPClient(log: Log())

    /// The readings at each event, in order.
    private final class Readings: Sendable {
        private let list = Mutex<[TransferMeter.Reading]>([])
        private let current = Mutex<TransferMeter?>(nil)
        let ended = Gate()

        var all: [TransferMeter.Reading] { list.withLock { $0 } }

        func makeMeter() -> TransferMeter {
            let meter = TransferMeter { [weak self] in
                guard let self, let reading = current.withLock({ $0 })?.reading else { return }
                list.withLock { $0.append(reading) }
                if reading.outcome != nil { ended.open() }
            }
            current.withLock { $0 = meter }
            return meter
        }
    }

    private func request(_ url: String, _ meter: TransferMeter) -> HTTPRequest {
        HTTPRequest(url: url, destination: .stream, limit: 1 << 24, meter: meter)
    }

    @Test func aMeterReportsItsEvents() async throws {
        let server = try ScriptedServer { _ in .answer(200, [UInt8](repeating: 1, count: 300_000)) }
        for isNew in [true, false] {
            let readings = Readings()
            for try await _ in client.transfer(request(server.url("/"), readings.makeMeter())) {}
            #expect(await Task.detached { readings.ended.wait() }.value)
            let all = readings.all
            try #require(all.count == 3)
            #expect((all[0].connect != nil) == isNew && all[0].wait == nil)
            #expect(all[1].wait != nil && all[1].version == .http1 && all[1].outcome == nil)
            #expect(all[1].length == 300_000, "how much is to come is known with the answer")
            #expect(all[2].outcome == .succeeded && all[2].bytes == 300_000 && all[2].length == 300_000)
        }
    }

    /// Bytes can be read during the transfer but cause no event.
    @Test func bytesAreReadOnDemand() async throws {
        let (gate, first) = (Gate(), [UInt8](repeating: 1, count: 100_000))
        let server = try ScriptedServer { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n"), .send(first), .hold(gate), .send(first)]
        }
        let readings = Readings()
        let meter = readings.makeMeter()
        var taken = 0
        for try await event in client.transfer(request(server.url("/"), meter)) {
            guard case .bytes(let bytes) = event else { continue }
            taken += bytes.count
            guard taken == 100_000 else { continue }
            // curl reports bytes after it has passed them on.
            while meter.reading.bytes < 100_000 { await Task.yield() }
            #expect(meter.reading.bytes == 100_000 && meter.reading.length == 200_000)
            #expect(meter.reading.outcome == nil)
            gate.open()
        }
        #expect(await Task.detached { readings.ended.wait() }.value)
        #expect(readings.all.count == 3 && meter.reading.bytes == 200_000)
        // Nothing is lost within one machine.
        let packets = try #require(meter.reading.packets)
        #expect((1...200).contains(packets.received) && packets.disordered == 0)
    }

    @Test func failureAndCancellation() async throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try ScriptedServer { request in request.path == "/held" ? [.hold(gate)] : [.reset] }
        let failed = Readings()
        await #expect(throws: HTTPError.self) {
            for try await _ in client.transfer(request(server.url("/"), failed.makeMeter())) {}
        }
        #expect(await Task.detached { failed.ended.wait() }.value)
        #expect(failed.all.last?.outcome == .failed)
        let cancelled = Readings()
        client.transfer(request(server.url("/held"), cancelled.makeMeter())).cancel()
        #expect(await Task.detached { cancelled.ended.wait() }.value)
        #expect(cancelled.all.last?.outcome == .cancelled)
    }

    @Test func localFilesHaveAMeter() async throws {
        let (folder, readings) = (TestFolder(), Readings())
        let path = folder.write("file", [UInt8](repeating: 1, count: 500_000))
        let meter = readings.makeMeter()
        var request = request("file://" + path, meter)
        request.allowsFiles = true
        for try await _ in client.transfer(request) {}
        #expect(await Task.detached { readings.ended.wait() }.value)
        #expect(meter.reading.bytes == 500_000 && meter.reading.length == 500_000)
        #expect(meter.reading.outcome == .succeeded && meter.reading.connect == nil && meter.reading.version == nil)
    }

    /// Sixty-four at once, twice. The second time all connections exist.
    @Test func connectionsStayWarm() async throws {
        let gates = (0..<2).map { _ in Gate() }
        let counts = Mutex([0, 0])
        let server = try ScriptedServer { request in
            let round = request.path == "/0" ? 0 : 1
            let count = counts.withLock { counts in
                counts[round] += 1
                return counts[round]
            }
            if count == 64 { gates[round].open() }
            return [.hold(gates[round])] + .answer(200, "x")
        }
        for round in 0..<2 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<64 {
                    group.addTask {
                        let url = server.url("/\(round)")
                        let request = HTTPRequest(url: url, destination: .stream, limit: 1 << 20)
                        for try await _ in client.transfer(request) {}
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(server.connectionCount == 64)
    }
}
