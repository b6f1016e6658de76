import Glibc
import Pixels

/// Replaces the decoder that plays videos and misbehaves as its name says.
struct BrokenPlayer {
    let name: String
    let request: DecodeRequest

    func run() -> Never {
        var count = 0
        while let order = take() {
            count += 1
            switch name {
            case "play-crashes": abort()
            case "play-hangs": BrokenDecoder.hang()
            case "play-hangs-later" where count > 1: BrokenDecoder.hang()
            case "play-lets-go":
                close(STDERR_FILENO)
                BrokenDecoder.hang()
            case "play-talks-nonsense": send(Array("picture".utf8))
            case "play-answers-too-long": send(right(order).packet + [0])
            case "play-answers-for-another":
                send(right(VideoService.Order(number: order.number &+ 1, microseconds: 0)).packet)
            case "play-passes-descriptors":
                try? PacketSocket(adopting: dup(STDERR_FILENO)).send(right(order).packet, passing: [0, 1, 2])
            case "play-claims-much":
                send(VideoService.Answer(number: order.number, kind: .picture, count: Int(UInt32.max)).packet)
            case "play-shows-nothing":
                send(VideoService.Answer(number: order.number, kind: .picture, count: 100).packet)
            case "play-repeats-nothing": send(VideoService.Answer(number: order.number, kind: .same).packet)
            case "play-lies-about-sizes":
                // A correct answer to another request.
                var other = request
                other.box = PixelSize(width: request.box.width * 2, height: request.box.height * 2)
                send(answer(order, BrokenDecoder.right(other)).packet)
            default: send(right(order).packet)
            }
        }
        exit(0)
    }

    private func right(_ order: VideoService.Order) -> VideoService.Answer {
        answer(order, BrokenDecoder.right(request))
    }

    private func answer(_ order: VideoService.Order, _ outcome: DecodeOutcome) -> VideoService.Answer {
        let memory = SealedMemory(adopting: dup(STDOUT_FILENO))
        return VideoService.Answer(
            number: order.number, kind: .picture, count: (try? outcome.write(over: memory)) ?? 0,
            microseconds: order.microseconds)
    }

    private func take() -> VideoService.Order? {
        var room = [UInt8](repeating: 0, count: VideoService.Order.length)
        let count = read(STDERR_FILENO, &room, room.count)
        return count > 0 ? try? VideoService.Order(packet: room) : nil
    }

    private func send(_ packet: [UInt8]) {
        _ = write(STDERR_FILENO, packet, packet.count)
    }
}
