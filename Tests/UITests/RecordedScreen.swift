import Cells
import Foundation

/// What a screen looks like at four sizes, as text in a file beside the tests: `Recorded/photos.txt`.
///
/// Where a picture is drawn there is a `▒`, whatever it shows: how pictures are drawn is tested elsewhere.
struct RecordedScreen {
    /// The file.
    let path: String

    init(_ name: String) {
        path = Self.folder + "/\(name).txt"
    }

    /// The folder of all of them.
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Recorded")
        .path
    /// Where screens are left with their colours when they are recorded, for `Scripts/render-screen`.
    static let pictures = URL(fileURLWithPath: folder).appendingPathComponent("../../../.build/screens").standardized
        .path

    /// Whether what is seen is to be written down, and not compared.
    static var isWritten: Bool { ProcessInfo.processInfo.environment["VITRINE_RECORD"] != nil }

    /// What was recorded; nil if nothing was.
    var text: String? { try? String(contentsOfFile: path, encoding: .utf8) }

    /// Records what is seen.
    func write(_ text: String) throws {
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    /// Leaves a screen as a terminal would be sent it.
    static func leave(_ surface: Surface, _ name: String) throws {
        try FileManager.default.createDirectory(atPath: pictures, withIntermediateDirectories: true)
        try surface.coloured.write(
            toFile: "\(pictures)/\(name)-\(surface.size.columns)x\(surface.size.rows).ansi", atomically: true,
            encoding: .utf8)
    }

    /// A screen below its size.
    static func text(_ surface: Surface) -> String {
        let rows = (0..<surface.size.rows).map { row in
            let text = surface.row(row).map { $0.isTrueColour ? "▒" : $0.text }.joined()
            return text.replacing(#/ +$/#, with: "")
        }
        return (["# \(surface.size.columns) × \(surface.size.rows)"] + rows).joined(separator: "\n") + "\n"
    }
}

extension Surface {
    /// All rows, with the sequences that colour them.
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
