#if FUZZING
    import Foundation

    /// Runs the target that the environment names. libFuzzer has its own `main`, which calls this function with each input.
    @_cdecl("LLVMFuzzerTestOneInput")
    public func runChosenTarget(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
        Chosen.target.run([UInt8](UnsafeBufferPointer(start: bytes, count: count)))
        return 0
    }

    private enum Chosen {
        static let target: FuzzTarget = {
            let name = ProcessInfo.processInfo.environment["TARGET"] ?? ""
            guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
                fatalError("TARGET=\(name) is none of \(FuzzTarget.all.map(\.name))")
            }
            return target
        }()
    }
#elseif DEBUG
    import Foundation
    import TestSupport

    /// Feeds changed inputs to the parsers of untrusted bytes. `make fuzz` builds another program, which coverage guides.
    ///
    ///     fuzz TARGET --mutations NUMBER FOLDER     changes the files of a folder at random
    ///     fuzz TARGET --replay FILE…                repeats findings
    ///     fuzz --list                               prints the targets
    ///
    /// A finding ends the program.
    @main
    enum Fuzz {
        static func main() throws {
            let arguments = Array(CommandLine.arguments.dropFirst())
            if arguments == ["--list"] { return FuzzTarget.all.forEach { print($0.name) } }
            guard arguments.count > 2, let target = FuzzTarget.all.first(where: { $0.name == arguments[0] }) else {
                return complain()
            }
            if arguments[1] == "--replay" {
                for path in arguments[2...] { target.run(try bytes(path)) }
            } else if arguments[1] == "--mutations", arguments.count == 4, let count = Int(arguments[2]) {
                try mutate(count, of: arguments[3], for: target)
            } else {
                complain()
            }
        }

        private static func complain() {
            let text = "usage: fuzz TARGET --mutations NUMBER FOLDER | fuzz TARGET --replay FILE… | fuzz --list\n"
            FileHandle.standardError.write(Data(text.utf8))
            exit(2)
        }

        private static func bytes(_ path: String) throws -> [UInt8] {
            [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        }

        /// Runs a folder's files and changed copies of them. The changes are always the same. Prints the names of the
        /// files that the parser refuses.
        private static func mutate(_ count: Int, of folder: String, for target: FuzzTarget) throws {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            let files = try names.map { try bytes("\(folder)/\($0)") }
            let refused = zip(names, files).filter { !target.run($0.1) }.map(\.0)
            for number in 0..<count {
                var mutation = Mutation(seed: UInt64(number))
                target.run(mutation.change(files))
            }
            print("\(target.name): \(files.count) files, \(count) changed copies")
            for name in refused { print("refused: \(name)") }
        }
    }

    /// Changes a file: bits, bytes, signs, pieces.
    private struct Mutation {
        private var numbers: SeededNumbers

        init(seed: UInt64) { numbers = SeededNumbers(seed: seed) }

        /// Returns one of the files, changed.
        mutating func change(_ files: [[UInt8]]) -> [UInt8] {
            guard var bytes = files.randomElement(using: &numbers), let other = files.randomElement(using: &numbers)
            else { return [] }
            for _ in 0..<Int.random(in: 1...6, using: &numbers) where !bytes.isEmpty {
                let start = Int.random(in: 0..<bytes.count, using: &numbers)
                let end = min(bytes.count, start + Int.random(in: 1...32, using: &numbers))
                switch Int.random(in: 0..<7, using: &numbers) {
                case 0: bytes[start] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
                case 1: bytes[start] = UInt8.random(in: 0...255, using: &numbers)
                case 2: bytes.insert(Self.signs.randomElement(using: &numbers) ?? 0, at: start)
                case 3: bytes.removeSubrange(start..<end)
                case 4: bytes.insert(contentsOf: bytes[start..<end], at: start)
                case 5:
                    let begin = Int.random(in: 0...other.count, using: &numbers)
                    bytes.insert(contentsOf: other[begin..<min(other.count, begin + 32)], at: start)
                default: bytes.removeSubrange(end...)
                }
            }
            return bytes
        }

        private static let signs: [UInt8] =
            Array("<>&\"'=/!-?;#[]{},:\\%.0123456789 \r\n\t".utf8) + [0, 0x1B, 0x7F, 0x80, 0xC3, 0xFF]
    }
#else
    /// The targets use parts of modules that other releases hide.
    @main
    enum Fuzz {
        static func main() { print("Build this program with “make fuzz”.") }
    }
#endif
