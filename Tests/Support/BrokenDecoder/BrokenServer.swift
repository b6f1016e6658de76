import Glibc
import Pixels

/// Replaces the decoder's server and misbehaves as its name says.
struct BrokenServer {
    let name: String

    /// A requested picture.
    private struct Order {
        let request: DecodeRequest
        let output: SealedMemory
        let client: PacketSocket
    }

    private let requests = PacketSocket(adopting: STDIN_FILENO)

    init(name: String) {
        self.name = name
    }

    func run() throws -> Never {
        switch name {
        case "server-crashes": abort()
        case "server-ends": exit(0)
        case "server-hangs": BrokenDecoder.hang()
        case "server-crashes-when-asked":
            _ = try take()
            abort()
        case "server-lets-go":
            // The process exists but has closed all descriptors.
            _ = try take()
            for descriptor in 0..<Int32(64) { close(descriptor) }
            BrokenDecoder.hang()
        case "server-floods":
            let order = try take()
            while true {
                for socket in [order.client, requests] { try? socket.send([UInt8](repeating: 0x78, count: 4_096)) }
            }
        case "server-floods-with-descriptors":
            let order = try take()
            while true { try? order.client.send([1], passing: [0, 1, 2]) }
        case "server-talks-nonsense": try answer { try $0.client.send(Array("picture".utf8)) }
        case "server-answers-twice":
            try answer { order in
                try BrokenDecoder.right(order.request).write(to: order.output)
                for _ in 0..<2 { try order.client.send(DecoderService.End.ended(0).bytes) }
            }
        case "server-says-done": try answer { try $0.client.send(DecoderService.End.ended(0).bytes) }
        case "server-has-no-processes": try answer { try $0.client.send(DecoderService.End.notBegun(EAGAIN).bytes) }
        case "server-answers-for-another": try answerForAnother()
        default: exit(2)
        }
    }

    /// Waits for a request and returns it.
    private func take() throws -> Order {
        var entry = pollfd(fd: requests.descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&entry, 1, -1) <= 0 {}
        let packet = try requests.receive(atMost: DecoderService.longestPacket)
        guard packet.descriptors.count == 3 else { exit(0) }
        close(packet.descriptors[0])
        return Order(
            request: try DecodeRequest(packet: packet.bytes),
            output: SealedMemory(adopting: packet.descriptors[1]),
            client: PacketSocket(adopting: packet.descriptors[2]))
    }

    private func answer(_ body: (Order) throws -> Void) throws -> Never {
        while true { try body(try take()) }
    }

    /// Takes two requests and swaps their answers.
    private func answerForAnother() throws -> Never {
        while true {
            let (one, other) = (try take(), try take())
            for (asked, given) in [(one, other), (other, one)] {
                try BrokenDecoder.right(asked.request).write(to: given.output)
                try given.client.send(DecoderService.End.ended(0).bytes)
            }
        }
    }
}
