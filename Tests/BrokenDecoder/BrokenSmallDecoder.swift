import Glibc
import Pixels

/// Stands in the place of a decoder of small pictures and does something wrong: what, its name says.
struct BrokenSmallDecoder {
    let name: String

    func run() -> Never {
        while let order = take() {
            let right = BrokenDecoder.right(order.request).block
            switch name {
            case "small-crashes": abort()
            case "small-hangs": BrokenDecoder.hang()
            case "small-spins": while true { _ = getpid() }
            case "small-lets-go":
                close(STDIN_FILENO)
                BrokenDecoder.hang()
            case "small-floods": while true { send(right) }
            case "small-says-nothing": continue
            case "small-talks-nonsense": send(Array("picture".utf8))
            case "small-answers-too-long": send(right + [UInt8](repeating: 0, count: 2_000))
            case "small-answers-too-short": send(Array(right.dropLast()))
            case "small-answers-twice": for _ in 0..<2 { send(right) }
            case "small-lies-about-sizes":
                // A right answer to somebody else.
                var other = order.request
                other.box = PixelSize(width: order.request.box.width + 1, height: order.request.box.height)
                send(BrokenDecoder.right(other).block)
            case "small-passes-descriptors":
                try? PacketSocket(adopting: dup(STDIN_FILENO)).send(right, passing: [0, 1, 2])
            case "small-leaves-all": send(SmallPictureService.elsewhere)
            default: send(right)
            }
        }
        exit(0)
    }

    private func take() -> (request: DecodeRequest, picture: [UInt8])? {
        var room = [UInt8](repeating: 0, count: SmallPictureService.longestPacket)
        let count = read(STDIN_FILENO, &room, room.count)
        return count > 0 ? SmallPictureService.order(room[..<count]) : nil
    }

    private func send(_ packet: [UInt8]) {
        _ = write(STDIN_FILENO, packet, packet.count)
    }
}
