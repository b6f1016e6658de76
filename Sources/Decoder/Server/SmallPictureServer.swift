import Glibc
import Pixels

/// Decodes small pictures one after the other in this process.
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
    /// - Parameter decode: decodes a picture; nil means that the client must use a separate process.
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
            // The client sends suitable requests only, so this is not the client.
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
