import Glibc
import Pixels

/// Replaces the decoder of small pictures and misbehaves as its name says.
struct BrokenSmallDecoder {
    let name: String

    func run() -> Never {
        var count: UInt8 = 0
        while let order = take() {
            count += 1
            let right = answer(order.number, order.request, grey: count)
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
                // A correct answer to another request.
                var other = order.request
                other.box = PixelSize(width: order.request.box.width + 1, height: order.request.box.height)
                send(answer(order.number, other, grey: count))
            case "small-passes-descriptors":
                try? PacketSocket(adopting: dup(STDIN_FILENO)).send(right, passing: [0, 1, 2])
            case "small-leaves-all": send(SmallPictureService.answer(order.number, nil))
            case "small-refuses": send(SmallPictureService.answer(order.number, .failure(.notAPicture)))
            default: send(right)
            }
        }
        exit(0)
    }

    /// Returns a picture in a grey that no other decoder uses.
    private func answer(_ number: UInt32, _ request: DecodeRequest, grey: UInt8) -> [UInt8] {
        let pixels = PixelBuffer(
            size: request.box, rows: [], background: PixelColor(red: grey, green: grey, blue: grey))
        let reply = DecodeReply(
            to: request, sourceSize: request.box, format: "JPEG", orientation: .upright, isComplete: true,
            metadata: PictureMetadata(), pixels: pixels)
        return SmallPictureService.answer(number, .picture(reply))
    }

    private func take() -> (number: UInt32, request: DecodeRequest, picture: [UInt8])? {
        var room = [UInt8](repeating: 0, count: SmallPictureService.longestPacket)
        let count = read(STDIN_FILENO, &room, room.count)
        return count > 0 ? SmallPictureService.order(room[..<count]) : nil
    }

    private func send(_ packet: [UInt8]) {
        _ = write(STDIN_FILENO, packet, packet.count)
    }
}
