import Numbers
import Synchronization

/// Shows how a transfer goes while it runs, for the governor.
///
///     let meter = TransferMeter { controller.look() }
///     let transfer = client.transfer(HTTPRequest(url: …, destination: .stream, limit: 1 << 20, meter: meter))
///     meter.reading.bytes
///
/// Each transfer has one meter. It calls back when a connection stands, when the head of an answer is there, and when
/// the transfer has ended; after a redirect the first two happen again. New bytes cause no call. The callback runs on
/// the network's thread, so it must be short and must not block.
public final class TransferMeter: Sendable {
    /// How a transfer ended.
    public enum Outcome: Sendable {
        /// The answer was complete, whatever its status.
        case succeeded
        /// The transfer failed.
        case failed
        /// The caller cancelled it.
        case cancelled
    }

    /// The version of the protocol.
    public enum Version: Sendable {
        /// One request at a time per connection.
        case http1
        /// Many requests at a time per connection.
        case http2
    }

    /// Packets that arrived over a connection, including those of other transfers.
    public struct Packets: Hashable, Sendable {
        /// The number of packets.
        public var received: Int
        /// The number of packets that arrived before an earlier one. Usually that one was lost.
        public var disordered: Int
        /// The recent round trip in seconds, queues included; nil behind a proxy, which acknowledges the packets
        /// itself.
        public var roundTrip: Double?

        /// Adds the packets of other connections.
        func added(to others: Packets?) -> Packets {
            guard let others else { return self }
            return Packets(
                received: received + others.received, disordered: disordered + others.disordered, roundTrip: roundTrip)
        }
    }

    /// The values of a meter.
    public struct Reading: Hashable, Sendable {
        /// Bytes of body received, before decompression, including redirects and unwanted answers. Never decreases.
        public internal(set) var bytes: ByteCount = 0
        /// Bytes requested so far in pieces; nil for a single request.
        public internal(set) var asked: ByteCount?
        /// The final value of ``bytes``, if the server has stated the length.
        public internal(set) var length: ByteCount?
        /// Seconds that TCP took to connect; nil before, for a reused connection, and behind a proxy, where it does not
        /// measure the host.
        public internal(set) var connect: Double?
        /// Seconds from the request to the first byte of the answer; nil before.
        public internal(set) var wait: Double?
        /// The protocol version of the answer; nil before, and for a local file.
        public internal(set) var version: Version?
        /// Packets that came over the connection since the last transfer on it ended; nil until the end, after a
        /// failure, and where the system does not tell.
        public internal(set) var packets: Packets?
        /// How the transfer ended; nil while it runs.
        public internal(set) var outcome: Outcome?
    }

    /// Separate from the other values, since it changes with every piece of a body.
    private let bytes = Atomic(0)
    /// The other values. Their own byte count is not used.
    private let facts = Mutex(Reading())
    private let onChange: @Sendable () -> Void

    /// Makes a meter for one transfer.
    public init(onChange: @escaping @Sendable () -> Void = {}) {
        self.onChange = onChange
    }

    /// The current values.
    public var reading: Reading {
        var reading = facts.withLock { $0 }
        reading.bytes = ByteCount(bytes.load(ordering: .relaxed))
        return reading
    }

    func set(bytes count: ByteCount) {
        bytes.store(count.int, ordering: .relaxed)
    }

    func set(length: ByteCount) {
        facts.withLock { $0.length = length }
    }

    func set(asked count: ByteCount?) {
        facts.withLock { $0.asked = count }
    }

    /// Records that a connection stands.
    ///
    /// - Parameter connect: seconds it took; nil for a reused connection and for one to a proxy.
    func recordConnection(_ connect: Double?) {
        facts.withLock { facts in
            facts.connect = connect
            facts.wait = nil
        }
        onChange()
    }

    func recordAnswer(after wait: Double, version: Version?) {
        facts.withLock { facts in
            facts.wait = wait
            facts.version = version
        }
        onChange()
    }

    func set(packets: Packets?) {
        facts.withLock { $0.packets = packets }
    }

    /// Records the end. Only the first counts.
    func recordEnd(_ result: Result<HTTPMetrics, any Error>) {
        let isFirst = facts.withLock { facts in
            guard facts.outcome == nil else { return false }
            facts.outcome =
                switch result {
                case .success: .succeeded
                case .failure(let error): error is CancellationError ? .cancelled : .failed
                }
            return true
        }
        if isFirst { onChange() }
    }
}
