import Glibc
import Pixels
import Sandbox

/// A server that starts once, and then forks a process for each picture.
///
///     PictureServer(requests: PacketSocket(adopting: STDIN_FILENO)) { request in decode(request) }.run()
///
/// The server reads no picture itself, so no picture can affect the server or the next picture. Its single thread waits
/// for requests, ended processes and closed connections. `DecoderService` describes the protocol.
public struct PictureServer {
    /// A picture that a forked process is decoding.
    private struct Work {
        let process: ForkedProcess
        /// The connection to the client.
        let client: PacketSocket
        /// Whether the server has killed the process, because the client closed the connection.
        var isAbandoned = false
    }

    private let requests: PacketSocket
    private let decode: ([UInt8]) -> Never
    private var works: [Work] = []
    private var isOpen = true

    /// Creates a server that accepts requests from this socket.
    ///
    /// - Parameter decode: gets the request packet, and decodes the picture in the forked process. Descriptor 0 is the
    ///   picture, and descriptor 1 is the memory for the answer. Only standard error is also open.
    public init(requests: PacketSocket, decode: @escaping ([UInt8]) -> Never) {
        self.requests = requests
        self.decode = decode
    }

    /// Serves requests until the socket is closed and the last process has ended.
    public consuming func run() {
        while isOpen || !works.isEmpty { serve() }
    }

    // MARK: -

    private mutating func serve() {
        // `poll` skips a descriptor of -1: closed connections and a closed request socket.
        var entries = [Self.entry(isOpen ? requests.descriptor : -1)]
        for work in works {
            entries.append(Self.entry(work.process.descriptor))
            entries.append(Self.entry(work.isAbandoned ? -1 : work.client.descriptor))
        }
        guard poll(&entries, nfds_t(entries.count), -1) > 0 else { return }
        // The loop runs backwards, so removing an element does not move the elements that it has not visited yet.
        for index in works.indices.reversed() {
            if entries[1 + 2 * index].revents != 0 {
                let work = works.remove(at: index)
                Self.send(work.client, .ended(work.process.reap()))
            } else if entries[2 + 2 * index].revents != 0 {
                // Clients send nothing on this socket, so the client has closed it, at least for sending. If the client
                // still reads, it gets the result.
                works[index].process.end()
                works[index].isAbandoned = true
            }
        }
        if entries[0].revents != 0 { takeRequest() }
    }

    private mutating func takeRequest() {
        guard let packet = try? requests.receive(atMost: DecoderService.longestPacket), !packet.isEnd else {
            isOpen = false
            return
        }
        guard packet.descriptors.count == 3 else { return packet.descriptors.forEach { close($0) } }
        let (input, output) = (packet.descriptors[0], packet.descriptors[1])
        let client = PacketSocket(adopting: packet.descriptors[2])
        do throws(ForkedProcess.Failure) {
            let process = try ForkedProcess { [decode] in
                dup2(input, STDIN_FILENO)
                dup2(output, STDOUT_FILENO)
                // Close other clients' connections before the process reads the picture's first bytes.
                guard SandboxRules.closeAllButThree() else { _exit(1) }
                decode(packet.bytes)
            }
            works.append(Work(process: process, client: client))
        } catch {
            Self.send(client, .notBegun(error.code))
        }
        close(input)
        close(output)
    }

    private static func entry(_ descriptor: CInt) -> pollfd {
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    }

    /// Sends the result to the client, if it is still connected.
    private static func send(_ client: PacketSocket, _ end: DecoderService.End) {
        try? client.send(end.bytes)
    }
}

/// A server that decodes small pictures one after the other in this process.
///
///     SmallPictureServer(socket: STDIN_FILENO) { request, picture in
///         Decoder.decodeSmall(picture, request).map(DecodeOutcome.picture)
///     }.run()
///
/// Since all pictures share the process, the decoding code must be memory-safe. The server waits in `read`, which the
/// sandbox permits, and stops when the socket's other end is closed. `SmallPictureService` describes the protocol.
public struct SmallPictureServer {
    private let socket: CInt
    private let decode: (DecodeRequest, [UInt8]) -> DecodeOutcome?

    /// Creates a server that reads requests from this socket. The caller owns the socket.
    ///
    /// - Parameter decode: decodes a picture. A result of nil means that the client must use a separate process.
    public init(socket: CInt, decode: @escaping (DecodeRequest, [UInt8]) -> DecodeOutcome?) {
        self.socket = socket
        self.decode = decode
    }

    /// Serves requests until the socket is closed.
    public func run() {
        var buffer = [UInt8](repeating: 0, count: SmallPictureService.longestPacket)
        while true {
            let count = buffer.withUnsafeMutableBytes { read(socket, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            // The client sends only suitable requests, so an unsuitable request has another sender.
            guard let order = SmallPictureService.order(buffer[..<count]) else { return }
            let outcome = decode(order.request, order.picture)
            guard send(SmallPictureService.answer(order.number, outcome)) else { return }
        }
    }

    private func send(_ packet: [UInt8]) -> Bool {
        while true {
            if write(socket, packet, packet.count) == packet.count { return true }
            guard errno == EINTR else { return false }
        }
    }
}
