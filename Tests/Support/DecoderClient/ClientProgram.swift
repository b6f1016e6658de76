import Foundation
import Pictures
import Pixels

/// A separate client process whose memory, descriptors and children can be counted. Tests share one process, where
/// that is impossible.
///
///     decoder-client bomb DECODER GOOD BOMB
///     decoder-client rounds DECODER GOOD COUNT ORIGIN HANGING… -- BROKEN…
///     decoder-client turns DECODER GOOD COUNT
///     decoder-client leave DECODER GOOD FILE
///
/// ORIGIN is `program` or `server`, the source of decoder processes. Hanging decoders get a short time limit, because
/// all of it is waited for; the others the usual one, because the machine may be slow. `turns` decodes the good picture
/// COUNT times with one server. `leave` exits as if killed while its server is working.
///
/// It prints a line for each count: a name, a tab, and a number or sentence.
@main
enum ClientProgram {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 4 else { exit(2) }
        let good = [UInt8](try Data(contentsOf: URL(fileURLWithPath: arguments[3])))
        switch arguments[1] {
        case "bomb": try Bomb(decoder: arguments[2], good: good).meet(arguments[4])
        case "rounds":
            guard let count = Int(arguments[4]), arguments.count > 6 else { exit(2) }
            let origin = arguments[5] == "server" ? DecoderClient.Origin.server : .program
            let broken = arguments[6...].split(separator: "--", omittingEmptySubsequences: false)
            guard broken.count == 2 else { exit(2) }
            try Rounds.run(
                count, decoder: arguments[2], good: good, broken: BrokenPrograms(hanging: broken[0], others: broken[1]),
                from: origin)
        case "turns":
            guard let count = Int(arguments[4]) else { exit(2) }
            let client = DecoderClient(path: arguments[2], from: .server)
            let request = DecodeRequest(box: PixelSize(width: 16, height: 12))
            tell("good", (0..<count).count { _ in (try? client.decode(.bytes(good), request))?.isComplete == true })
        case "leave":
            let client = DecoderClient(path: arguments[2], from: .server)
            _ = try client.decode(.bytes(good), DecodeRequest(box: PixelSize(width: 16, height: 12)))
            withExtendedLifetime(client) { _ = kill(getpid(), SIGKILL) }
        default: exit(2)
        }
    }

    /// Prints a count.
    static func tell(_ name: String, _ value: some CustomStringConvertible) {
        print("\(name)\t\(value)")
    }
}
