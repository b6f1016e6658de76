import Foundation
import Pictures
import Pixels

/// A program of its own that has pictures decoded, so that what this costs it can be counted: its memory, its descriptors, its
/// children. Tests that run beside each other in one process have no such things to themselves.
///
///     decoder-customer bomb DECODER GOOD BOMB
///     decoder-customer rounds DECODER GOOD COUNT ORIGIN BROKEN…
///     decoder-customer leave DECODER GOOD PLACE
///
/// ORIGIN is `program` or `server`: where processes that decode come from. Who leaves ends as if he had been killed, with a server
/// at work.
///
/// It prints a line for each thing that it counted: a name, a tab, and a number or a sentence.
@main
enum DecoderCustomer {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 4 else { exit(2) }
        let good = [UInt8](try Data(contentsOf: URL(fileURLWithPath: arguments[3])))
        switch arguments[1] {
        case "bomb": try Bomb(decoder: arguments[2], good: good).meet(arguments[4])
        case "rounds":
            guard let count = Int(arguments[4]), arguments.count > 6 else { exit(2) }
            let origin = arguments[5] == "server" ? DecoderClient.Origin.server : .program
            try Rounds.run(count, decoder: arguments[2], good: good, broken: Array(arguments[6...]), from: origin)
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
