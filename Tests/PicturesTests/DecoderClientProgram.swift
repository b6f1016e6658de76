import Foundation
import PictureTestSupport
import TestSupport

/// Runs `decoder-client` and reads its counts.
struct DecoderClientProgram {
    /// The counts by name.
    let counts: [String: String]

    init(_ mode: String, _ arguments: [String], good bytes: [UInt8]? = nil, in folder: TestFolder) throws {
        let good = folder.write("good", bytes ?? PNGFile(.scene(width: 16, height: 12)).bytes)
        let command = try Command(
            Built.folder + "/decoder-client", [mode, try DecoderProcess.path, good] + arguments)
        guard command.status == 0 else { throw ToolError(path: "decoder-client", status: command.status) }
        let pairs = command.lines.map { $0.split(separator: "\t", maxSplits: 1).map(String.init) }
        counts = Dictionary(uniqueKeysWithValues: pairs.filter { $0.count == 2 }.map { ($0[0], $0[1]) })
    }

    /// Returns a count.
    subscript(_ name: String) -> Int? { counts[name].flatMap { Int($0) } }
}
