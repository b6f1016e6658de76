import Glibc
import Pixels
import DecoderServer

/// Replaces the decoder and misbehaves as its name says. It is started through a link with that name, with a decoder's
/// arguments and descriptors, and is not restricted.
///
/// As a server it works correctly but its processes are broken. Names with `server-` are broken servers. Names with
/// `small-` are broken decoders of small pictures that otherwise decode correctly. Names with `play-` are broken players.
@main
enum BrokenDecoder {
    static func main() throws {
        let name = CommandLine.arguments[0].split(separator: "/").last.map(String.init) ?? ""
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments == [SmallPictureService.argument] { BrokenSmallDecoder(name: name).run() }
        if arguments.first == VideoService.argument {
            BrokenPlayer(name: name, request: try DecodeRequest(arguments: arguments.dropFirst())).run()
        }
        guard arguments == [DecoderService.argument] else {
            return try decode(DecodeRequest(arguments: arguments), name)
        }
        if name.hasPrefix("server-") { try BrokenServer(name: name).run() }
        PictureServer(requests: PacketSocket(adopting: STDIN_FILENO)) { packet in
            // The server ensures that no other connection is held open.
            for descriptor in 3..<Int32(64) where fcntl(descriptor, F_GETFD) >= 0 { exit(5) }
            do { try decode(DecodeRequest(packet: packet), name) } catch { exit(4) }
            exit(0)
        }.run()
    }

    private static func decode(_ request: DecodeRequest, _ name: String) throws {
        let answer = SealedMemory(adopting: STDOUT_FILENO)
        switch name {
        case "hangs": hang()
        case "spins": while true { _ = getpid() }
        case "crashes": abort()
        case "floods-standard-error": flood(STDERR_FILENO)
        case "does-not-seal": copy(try bytes(of: right(request)))
        case "may-shrink-later":
            copy(try bytes(of: right(request)))
            guard seal(SealBits.all & ~SealBits.shrink) else { exit(3) }
        case "shrinks":
            // Cut in half before sealing, so a block claims more bytes than there are.
            let whole = try bytes(of: right(request))
            try answer.fill(with: [Array(whole.prefix(whole.count / 2))])
        case "grows": try answer.fill(with: [try bytes(of: right(request)), Array(repeating: 0, count: 100)])
        case "lies-about-sizes":
            // A correct answer to another request.
            var other = request
            other.box = PixelSize(width: request.box.width * 2, height: request.box.height * 2)
            try right(other).write(to: answer)
        case "claims-a-terabyte":
            guard ftruncate(STDOUT_FILENO, 1 << 40) == 0, seal(SealBits.all) else { exit(3) }
        case "claims-long-texts":
            // A failure with a text whose length exceeds the reply.
            try answer.fill(with: [try bytes(of: right(request)).prefix(6) + [1, 4, 0xFF, 0xFF]])
        case "answers-and-hangs":
            try right(request).write(to: answer)
            hang()
        case "answers-and-crashes":
            try right(request).write(to: answer)
            abort()
        case "answers-lets-go-and-hangs":
            try right(request).write(to: answer)
            close(STDERR_FILENO)
            hang()
        case "lacks-a-library":
            let failure = DecodeFailure.missingLibrary(format: "HEIC", library: "libheif", package: "libheif1")
            try DecodeOutcome.failure(failure).write(to: answer)
        case "hangs-on-large-ones":
            if request.box.width > 1_000 { hang() }
            try right(request).write(to: answer)
        default:
            guard name.hasPrefix("server-") || name.hasPrefix("small-") else { exit(2) }
            try right(request).write(to: answer)
        }
    }

    /// Returns a correct answer: a grey picture that fills the box.
    static func right(_ request: DecodeRequest) -> DecodeOutcome {
        let pixels = PixelBuffer(size: request.box, rows: [], background: PixelColor(red: 128, green: 128, blue: 128))
        return .picture(
            DecodeReply(
                to: request, sourceSize: request.box, format: "PNG", orientation: .upright, isComplete: true,
                metadata: PictureMetadata(), pixels: request.product == .pixels ? pixels : nil))
    }

    private static func bytes(of outcome: DecodeOutcome) throws -> [UInt8] {
        let block = try SealedMemory()
        try outcome.write(to: block)
        return try block.withBytes(atMost: 1 << 30) { Array($0) }
    }

    private static func copy(_ bytes: [UInt8]) {
        guard write(STDOUT_FILENO, bytes, bytes.count) == bytes.count else { exit(3) }
    }

    /// F_SEAL_SHRINK, and all seals but F_SEAL_SEAL.
    private enum SealBits {
        static let shrink: Int32 = 2
        static let all: Int32 = 2 | 4 | 8
    }

    private static func seal(_ seals: Int32) -> Bool {
        // F_ADD_SEALS
        fcntl(STDOUT_FILENO, 1033, seals) == 0
    }

    static func hang() -> Never {
        while true { pause() }
    }

    static func flood(_ descriptor: Int32) -> Never {
        let words = [UInt8](repeating: 0x78, count: 4_096)
        while true { _ = write(descriptor, words, words.count) }
    }
}
