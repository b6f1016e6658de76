import Numbers
import Synchronization

/// Shows the progress of a running transfer to the governor, which limits transfers.
///
///     let meter = TransferMeter { controller.look() }
///     let transfer = client.transfer(HTTPRequest(url: …, destination: .stream, limit: 1 << 20, meter: meter))
///     meter.reading.bytes
///
/// Each transfer has one meter. The meter calls back when a connection is established, when the head of an answer is
/// complete, and when the transfer has ended. After a redirect, the first two calls happen again. New bytes cause no
/// call. The callback runs on the network's thread, so it must be short and must not block.
public final class TransferMeter: Sendable {
    /// The way in which a transfer ended.
    public enum Outcome: Sendable {
        /// The answer was complete, with an HTTP status below 400.
        case succeeded
        /// The answer was complete, with an HTTP status of 400 or more.
        case refused
        /// The transfer failed.
        case failed
        /// The caller cancelled the transfer.
        case cancelled
    }

    /// The version of the HTTP protocol.
    public enum Version: Sendable {
        /// HTTP/1.1: one request at a time per connection.
        case http1
        /// HTTP/2: many requests at a time per connection.
        case http2
    }

    /// Counts of packets from a connection, including packets of other transfers.
    public struct Packets: Hashable, Sendable {
        /// The number of packets that arrived. For an upload, the number of packets sent.
        public var received: Int
        /// The number of packets that arrived before an earlier packet. Usually the earlier packet was lost. For an
        /// upload, the number of packets sent again.
        public var disordered: Int
        /// The recent round-trip time in seconds, including the time in queues. The value is nil behind a proxy, which
        /// acknowledges the packets itself.
        public var roundTrip: Double?

        /// Returns the sum of these counts and other counts. The round-trip time stays that of this value.
        func added(to others: Packets?) -> Packets {
            guard let others else { return self }
            return Packets(
                received: received + others.received, disordered: disordered + others.disordered, roundTrip: roundTrip)
        }
    }

    /// The values that a meter shows.
    public struct Reading: Hashable, Sendable {
        /// The number of received bytes of bodies, before decompression. The bodies of redirects and unwanted answers
        /// are included. For an upload, the number of bytes that the server's system has acknowledged. Never decreases.
        public internal(set) var bytes: ByteCount = 0
        /// The number of bytes requested so far in pieces; nil for a single request.
        public internal(set) var asked: ByteCount?
        /// The final value of ``bytes``, if the server has stated the length.
        public internal(set) var length: ByteCount?
        /// The seconds that TCP took to connect. The value is nil before the connection, for a reused connection, and
        /// behind a proxy, where the host's time is unknown.
        public internal(set) var connect: Double?
        /// The seconds from the request to the answer's first byte; nil before that byte. For an upload, the seconds
        /// from the last byte of the file to the answer.
        public internal(set) var wait: Double?
        /// The protocol version of the answer; nil before the answer, and for a local file.
        public internal(set) var version: Version?
        /// The packets since the last transfer over the same connection ended. The value is nil until the end, after a
        /// failure, and if the system does not count packets. For an upload, the packets sent so far.
        public internal(set) var packets: Packets?
        /// The way in which the transfer ended; nil while it runs.
        public internal(set) var outcome: Outcome?
    }

    /// The byte count. The count is separate from the other values, because it changes with every piece of a body.
    private let bytes = Atomic(0)
    /// All values of the meter, except for the byte count. The byte count in this reading is not used.
    private let facts = Mutex(Reading())
    private let onChange: @Sendable () -> Void

    /// Creates a meter for one transfer.
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

    /// Records that a connection is established.
    ///
    /// - Parameter connect: the seconds that connecting took; nil for a reused connection and for one to a proxy.
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

    /// Adds the packets that an upload has sent since the last call.
    func add(_ packets: Packets) {
        facts.withLock { $0.packets = packets.added(to: $0.packets) }
    }

    /// Records the end of the transfer. Only the first call counts.
    ///
    /// - Parameter isRefused: whether the answer's status is an error.
    func recordEnd(_ result: Result<HTTPMetrics, any Error>, isRefused: Bool = false) {
        let isFirst = facts.withLock { facts in
            guard facts.outcome == nil else { return false }
            facts.outcome =
                switch result {
                case .success: isRefused ? .refused : .succeeded
                case .failure(let error): error is CancellationError ? .cancelled : .failed
                }
            return true
        }
        if isFirst { onChange() }
    }
}
