import Foundation
import PictureTestSupport
import Pictures
import Pixels

/// Thumbnails in letters, to be matched with their photos by eye.
///
/// Writes `thumbnails.png`, numbered, in an order that depends on the seed, `photos.png` with the photos' names, and
/// `answers.txt`.
struct Riddle {
    private static let count = 20
    private static let columns = 16
    private static let rows = 6

    static func write(_ paths: [String], seed: UInt64, to folder: String, _ masks: GlyphMasks) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var random = Random(state: seed)
        let chosen = Array(paths.shuffled(using: &random).prefix(count))
        var drawn: [String] = []
        for (number, path) in chosen.enumerated() {
            let photo = try Photo(path, in: folder, columns: columns, rows: rows)
            let picture = try Picture(try Contestant.vitrine(.ascii, .none).draw(photo), masks)
            let file = "\(folder)/\(number + 1).png"
            try Data(PNGFile(picture.pixels).bytes).write(to: URL(fileURLWithPath: file))
            drawn.append(file)
            try FileManager.default.removeItem(atPath: photo.file)
        }
        try montage(drawn, (1...drawn.count).map { "\($0)" }, "256x192", to: folder + "/thumbnails.png")
        let sorted = chosen.sorted()
        try montage(sorted, sorted.map(name), "256x192", to: folder + "/photos.png")
        let answers = chosen.enumerated().map { "\($0 + 1) \(name($1))" }.joined(separator: "\n")
        try Data((answers + "\n").utf8).write(to: URL(fileURLWithPath: folder + "/answers.txt"))
        for file in drawn { try FileManager.default.removeItem(atPath: file) }
    }

    private static func name(_ path: String) -> String {
        ((path as NSString).lastPathComponent as NSString).deletingPathExtension
    }

    private static func montage(_ files: [String], _ labels: [String], _ size: String, to file: String) throws {
        let pictures = zip(files, labels).flatMap { ["-label", $1, $0] }
        _ = try Tool.run(
            "/usr/bin/montage",
            ["-auto-orient", "-font", font, "-background", "grey25", "-fill", "white"] + pictures
                + ["-tile", "5x", "-geometry", "\(size)+6+6", file], input: [])
    }

    /// A generator whose numbers depend on a seed alone (SplitMix64).
    private struct Random: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}
