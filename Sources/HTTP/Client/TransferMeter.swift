import Numbers
import Synchronization

/// What can be read off a transfer while it runs, by the one who decides how many run at once.
///
///     let meter = TransferMeter { controller.lookAgain() }
///     let transfer = client.transfer(HTTPRequest(url: …, destination: .stream, limit: 1 << 20, meter: meter))
///     meter.reading.bytes
///
/// One meter a transfer. It calls when a connection stands, when the head of an answer is there, and when the
/// transfer has ended; a transfer that is redirected goes through the first two again. Bytes make no news: they are read
/// when somebody wants to know. The call comes on the thread that transfers run on, so it is to be short, and must not
/// wait for anything.
public final class TransferMeter: Sendable {
    /// How a transfer ended.
    public enum Outcome: Sendable {
        /// The answer came to its end, whatever it said.
        case succeeded
        /// It broke off.
        case failed
        /// Nobody wanted it any more.
        case cancelled
    }

    /// The versions of the protocol.
    public enum Version: Sendable {
        /// One request at a time over a connection.
        case http1
        /// Many at once.
        case http2
    }

    /// Packets that came over a connection, of this transfer and of others.
    public struct Packets: Hashable, Sendable {
        /// How many came.
        public var received: Int
        /// How many of them came before one that had been sent earlier. That one was lost, as a rule.
        public var disordered: Int
        /// Seconds from a packet to its acknowledgement of late, with all queues on the way; nil where it is a proxy that
        /// acknowledges them: how far the host is that does not tell.
        public var roundTrip: Double?

        /// With those that came over other connections before.
        func added(to others: Packets?) -> Packets {
            guard let others else { return self }
            return Packets(
                received: received + others.received, disordered: disordered + others.disordered, roundTrip: roundTrip)
        }
    }

    /// What a meter shows.
    public struct Reading: Hashable, Sendable {
        /// Bytes of body that have come over the network so far: before any decompression, and those of redirects and of
        /// unwanted answers too. It never goes down.
        public internal(set) var bytes: ByteCount = 0
        /// Bytes that were asked for, of what comes in pieces; nil for what was asked for in one.
        public internal(set) var asked: ByteCount?
        /// What ``bytes`` will be in the end, where the server has said how long the body is.
        public internal(set) var length: ByteCount?
        /// Seconds that TCP took to connect; nil until then, where an old connection was used, and where a proxy is on the way:
        /// how far that is says nothing of the host.
        public internal(set) var connect: Double?
        /// Seconds between the request and the first byte of its answer; nil until then.
        public internal(set) var wait: Double?
        /// The version that the server answered in; nil before it has, and for a file of this machine.
        public internal(set) var version: Version?
        /// Packets that came over its connection since the last transfer over that one ended; nil until it has ended itself,
        /// where it broke off, and where the system does not say.
        public internal(set) var packets: Packets?
        /// How it ended; nil while it runs.
        public internal(set) var outcome: Outcome?
    }

    /// Apart from the rest, since it changes with every piece of a body.
    private let bytes = Atomic(0)
    /// All the rest; its own count of bytes is not used.
    private let facts = Mutex(Reading())
    private let onNews: @Sendable () -> Void

    /// Makes a meter for one transfer.
    public init(onNews: @escaping @Sendable () -> Void = {}) {
        self.onNews = onNews
    }

    /// What it shows now.
    public var reading: Reading {
        var reading = facts.withLock { $0 }
        reading.bytes = ByteCount(bytes.load(ordering: .relaxed))
        return reading
    }

    func note(bytes count: ByteCount) {
        bytes.store(count.int, ordering: .relaxed)
    }

    func note(length: ByteCount) {
        facts.withLock { $0.length = length }
    }

    func note(asked count: ByteCount?) {
        facts.withLock { $0.asked = count }
    }

    /// Notes that a connection stands.
    ///
    /// - Parameter connect: the seconds it took; nil for one that stood before, and for one to a proxy.
    func noteConnected(_ connect: Double?) {
        facts.withLock { facts in
            facts.connect = connect
            facts.wait = nil
        }
        onNews()
    }

    func noteAnswered(after wait: Double, version: Version?) {
        facts.withLock { facts in
            facts.wait = wait
            facts.version = version
        }
        onNews()
    }

    func note(packets: Packets?) {
        facts.withLock { $0.packets = packets }
    }

    /// Notes the end. The first counts.
    func noteEnd(_ result: Result<HTTPMetrics, any Error>) {
        let isFirst = facts.withLock { facts in
            guard facts.outcome == nil else { return false }
            facts.outcome =
                switch result {
                case .success: .succeeded
                case .failure(let error): error is CancellationError ? .cancelled : .failed
                }
            return true
        }
        if isFirst { onNews() }
    }
}
