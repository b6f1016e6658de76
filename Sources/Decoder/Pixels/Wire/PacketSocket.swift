import CPackets
import Glibc

/// One end of a local connection that transfers packets and file descriptors.
///
///     let (ours, theirs) = try PacketSocket.pair()
///     try ours.send([1], passing: [file])
///
/// No call blocks; callers poll the descriptor. The descriptor closes on exec and when the object is released.
public final class PacketSocket: Sendable {
    /// A received packet. The receiver must close its descriptors.
    public struct Packet: Sendable {
        /// The packet's bytes.
        public let bytes: [UInt8]
        /// The descriptors that came with the packet.
        public let descriptors: [CInt]
        /// Whether the packet is empty, because the other end has closed the connection.
        public var isEnd: Bool { bytes.isEmpty && descriptors.isEmpty }
    }

    /// The socket's descriptor, which this object owns.
    public let descriptor: CInt

    /// Creates a socket that owns an existing descriptor.
    public init(adopting descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Creates a connection and returns both ends.
    public static func pair() throws(PixelsError) -> (PacketSocket, PacketSocket) {
        var ends: [CInt] = [-1, -1]
        guard cpackets_socket_pair(&ends) == 0 else { throw .system(call: "socketpair", code: errno) }
        return (PacketSocket(adopting: ends[0]), PacketSocket(adopting: ends[1]))
    }

    /// Sends a packet. Throws if the buffer is full or the other end is closed.
    public func send(_ bytes: [UInt8], passing descriptors: [CInt] = []) throws(PixelsError) {
        guard cpackets_send(descriptor, bytes, bytes.count, descriptors, CInt(descriptors.count)) == 0 else {
            throw .system(call: "sendmsg", code: errno)
        }
    }

    /// Receives the next packet. Throws if no packet has arrived, or if the packet is longer than `limit`.
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

    /// Closes this end for sending. It can still receive packets.
    public func finish() {
        shutdown(descriptor, CInt(SHUT_WR))
    }

    /// Closes the connection in both directions, which wakes threads that wait at either end.
    public func end() {
        shutdown(descriptor, CInt(SHUT_RDWR))
    }
}

/// A pipe whose descriptors close on exec from the start.
///
/// If another thread starts a program at the same moment, that program cannot inherit the pipe.
public struct PrivatePipe: Sendable {
    /// The end to read from. The caller must close this descriptor.
    public let reading: CInt
    /// The end to write to. The caller must close this descriptor.
    public let writing: CInt

    /// Creates a pipe.
    public init() throws(PixelsError) {
        var ends: [CInt] = [-1, -1]
        guard cpackets_pipe(&ends) == 0 else { throw .system(call: "pipe2", code: errno) }
        (reading, writing) = (ends[0], ends[1])
    }
}
