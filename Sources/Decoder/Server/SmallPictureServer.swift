import Glibc
import Pixels

/// Decodes one small picture after the other, as `SmallPictureService` says, with nothing of one left when the next one comes.
///
///     SmallPictureServer(socket: STDIN_FILENO) { request, picture in
///         Decoder.decodeSmall(picture, request).map(DecodeOutcome.picture)
///     }.run()
///
/// All pictures are looked at by this process itself, so whatever decodes them here has to be such that no picture can do
/// anything to it. It waits in `read`, which a decoder is allowed anyway; who closes the other end ends it.
public struct SmallPictureServer {
    private let socket: CInt
    private let decode: (DecodeRequest, [UInt8]) -> DecodeOutcome?

    /// A server on this socket, which it does not close.
    ///
    /// - Parameter decode: what comes of a picture; nil if it is left to a process of its own.
    public init(socket: CInt, decode: @escaping (DecodeRequest, [UInt8]) -> DecodeOutcome?) {
        self.socket = socket
        self.decode = decode
    }

    /// Serves until the socket is closed.
    public func run() {
        var room = [UInt8](repeating: 0, count: SmallPictureService.longestPacket)
        while true {
            let count = room.withUnsafeMutableBytes { read(socket, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            // Who asks for what it would not take is none of those that it serves.
            guard let order = SmallPictureService.order(room[..<count]) else { return }
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
