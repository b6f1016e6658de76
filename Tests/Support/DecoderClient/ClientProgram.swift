import Foundation
import Pictures
import Pixels

/// A program of its own that has pictures decoded, so that what this costs it can be counted: its memory, its descriptors, its
/// children. Tests that run beside each other in one process have no such things to themselves.
///
///     decoder-client bomb DECODER GOOD BOMB
///     decoder-client rounds DECODER GOOD COUNT ORIGIN HANGING… -- BROKEN…
///     decoder-client leave DECODER GOOD PLACE
///
/// ORIGIN is `program` or `server`: where processes that decode come from. Those that hang get little time, for all of it is
/// waited for; the others as much as ever, for a machine may be slow. Who leaves ends as if he had been killed, with a server
/// at work.
///
/// It prints a line for each thing that it counted: a name, a tab, and a number or a sentence.
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
        case "leave":
            let client = DecoderClient(path: arguments[2], from: .server)
            _ = try client.decode(.bytes(good), DecodeRequest(box: PixelSize(width: 16, height: 12)))
            withExtendedLifetime(client) { _ = kill(getpid(), SIGKILL) }
        default: exit(2)
        }
    }

    /// Prints what was counted.
    static func tell(_ name: String, _ value: some CustomStringConvertible) {
        print("\(name)\t\(value)")
    }
}
