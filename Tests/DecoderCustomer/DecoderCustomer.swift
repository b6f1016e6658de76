import Foundation

/// A program of its own that has pictures decoded, so that what this costs it can be counted: its memory, its descriptors, its
/// children. Tests that run beside each other in one process have no such things to themselves.
///
///     decoder-customer bomb DECODER GOOD BOMB
///     decoder-customer rounds DECODER GOOD COUNT BROKEN…
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
            guard let count = Int(arguments[4]), arguments.count > 5 else { exit(2) }
            try Rounds(decoder: arguments[2], good: good, broken: Array(arguments[5...])).run(count)
        default: exit(2)
        }
    }

    /// Prints what was counted.
    static func tell(_ name: String, _ value: some CustomStringConvertible) {
        print("\(name)\t\(value)")
    }
}
