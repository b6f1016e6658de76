import Cells
import Foundation

/// A screen at four sizes, as text in a file beside the tests such as `Recorded/photos.txt`.
///
/// A `▒` stands for each cell of a picture, because other tests check how pictures are drawn.
struct RecordedScreen {
    /// The file.
    let path: String

    init(_ name: String) {
        path = Self.folder + "/\(name).txt"
    }

    /// The folder of all recordings.
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Recorded")
        .path
    /// The folder for recorded screens with their colours, for `Tools/Scripts/render-screen`.
    static let pictures = URL(fileURLWithPath: folder).appendingPathComponent("../../../.build/screens").standardized
        .path

    /// Whether to record screens instead of comparing them.
    static var isWritten: Bool { ProcessInfo.processInfo.environment["VITRINE_RECORD"] != nil }

    /// The recorded text; nil if there is none.
    var text: String? { try? String(contentsOfFile: path, encoding: .utf8) }

    /// Records a screen's text.
    func write(_ text: String) throws {
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    /// Writes a screen with its colours, as escape sequences.
    static func leave(_ surface: Surface, _ name: String) throws {
        try FileManager.default.createDirectory(atPath: pictures, withIntermediateDirectories: true)
        try surface.coloured.write(
            toFile: "\(pictures)/\(name)-\(surface.size.columns)x\(surface.size.rows).ansi", atomically: true,
            encoding: .utf8)
    }

    /// Returns a screen's text below its size.
    static func text(_ surface: Surface) -> String {
        let rows = (0..<surface.size.rows).map { row in
            let text = surface.row(row).map { $0.isTrueColour ? "▒" : $0.text }.joined()
            return text.replacing(#/ +$/#, with: "")
        }
        return (["# \(surface.size.columns) × \(surface.size.rows)"] + rows).joined(separator: "\n") + "\n"
    }
}

extension Surface {
    /// All rows, with their colour sequences.
    fileprivate var coloured: String {
        (0..<size.rows).map { row in
            self.row(row).map { $0.style.sequence + $0.text }.joined() + "\u{1B}[0m"
        }.joined(separator: "\n") + "\n"
    }
}

extension Style {
    fileprivate var sequence: String {
        let attributes: [(Attributes, Int)] = [(.bold, 1), (.dim, 2), (.underline, 4), (.reverse, 7)]
        let set = attributes.filter { self.attributes.contains($0.0) }.map { "\($0.1)" }
        let codes = ["0"] + set + foreground.codes(38) + background.codes(48)
        return "\u{1B}[\(codes.joined(separator: ";"))m"
    }
}

extension Colour {
    fileprivate func codes(_ code: Int) -> [String] {
        switch self {
        case .terminal: []
        case .palette(let number): ["\(code);5;\(number)"]
        case .rgb(let red, let green, let blue): ["\(code);2;\(red);\(green);\(blue)"]
        }
    }
}
