import CPackets
import Glibc

/// One end of a connection within this machine that keeps packets apart, and passes descriptors.
///
///     let (ours, theirs) = try PacketSocket.pair()
///     try ours.send([1], passing: [file])
///
/// Nothing here waits: who wants to, polls the descriptor. It closes on exec and at the end of the object's life.
public final class PacketSocket: Sendable {
    /// What came in one piece. The descriptors are the receiver's, to be closed by it.
    public struct Packet: Sendable {
        /// Its bytes.
        public let bytes: [UInt8]
        /// Its descriptors.
        public let descriptors: [CInt]
        /// Whether it is the connection's end, which comes as a packet of nothing.
        public var isEnd: Bool { bytes.isEmpty && descriptors.isEmpty }
    }

    /// The socket's descriptor, this object's own.
    public let descriptor: CInt

    /// Takes over a descriptor.
    public init(adopting descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Two ends of a new connection.
    public static func pair() throws(PixelsError) -> (PacketSocket, PacketSocket) {
        var ends: [CInt] = [-1, -1]
        guard cpackets_socket_pair(&ends) == 0 else { throw .system(call: "socketpair", code: errno) }
        return (PacketSocket(adopting: ends[0]), PacketSocket(adopting: ends[1]))
    }

    /// Sends a packet; an error where there is no room for it or nobody to read it.
    public func send(_ bytes: [UInt8], passing descriptors: [CInt] = []) throws(PixelsError) {
        guard cpackets_send(descriptor, bytes, bytes.count, descriptors, CInt(descriptors.count)) == 0 else {
            throw .system(call: "sendmsg", code: errno)
        }
    }

    /// Takes the packet that is there; an error where there is none, or one of more bytes.
    public func receive(atMost limit: Int) throws(PixelsError) -> Packet {
        var descriptors = [CInt](repeating: -1, count: Int(CPACKETS_MOST_DESCRIPTORS))
        var (count, code): (CInt, CInt) = (0, 0)
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, length in
            let received = cpackets_receive(descriptor, buffer.baseAddress, buffer.count, &descriptors, &count)
            if received < 0 { code = errno }
            length = max(0, received)
        }
        guard code == 0 else { throw .system(call: "recvmsg", code: code) }
        return Packet(bytes: bytes, descriptors: Array(descriptors.prefix(Int(count))))
    }

    /// Tells the other end that nothing more is sent from here. What it sends can still be read.
    public func finish() {
        shutdown(descriptor, CInt(SHUT_WR))
    }

    /// Ends the connection for both, and wakes whoever waits at either end.
    public func end() {
        shutdown(descriptor, CInt(SHUT_RDWR))
    }
}

/// Two ends of a pipe that no program gets by accident: they close on exec from the beginning, and not a moment later, in which
/// another thread may start one.
public struct PrivatePipe: Sendable {
    /// The end to read from, the holder's to close.
    public let reading: CInt
    /// The end to write to, the holder's to close.
    public let writing: CInt

    /// Makes one.
    public init() throws(PixelsError) {
        var ends: [CInt] = [-1, -1]
        guard cpackets_pipe(&ends) == 0 else { throw .system(call: "pipe2", code: errno) }
        (reading, writing) = (ends[0], ends[1])
    }
}
