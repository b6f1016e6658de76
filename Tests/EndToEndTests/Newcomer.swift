import Foundation
import TestSupport
import Testing

/// Somebody who has just installed Vitrine, and never seen it. He presses what the screen tells him to.
///
/// With `VITRINE_RECORD=1` he leaves pictures of his way in `.build/screens`, from which those of the manual are made.
final class Newcomer {
    /// Where it is installed, and where he lives. As long as what they are called in pictures, so that nothing moves.
    private let prefix = try! Newcomer.makeFolder()
    private let home = try! Newcomer.makeFolder()
    private let environment: [String: String]
    private(set) var tmux: Tmux
    /// What he was told on his way.
    private(set) var hints: [String] = []
    /// Pictures that he has taken.
    private(set) var pictures: [String] = []

    private static let names = (prefix: "/usr/local", home: "/home/anna")

    /// - Parameter proxy: who knows the servers of the network that he is in.
    init(columns: Int = 80, rows: Int = 24, arguments: [String] = [], proxy: String) throws {
        let repository = URL(fileURLWithPath: Built.testGallery).deletingLastPathComponent().path
        let make = try Command(
            "/usr/bin/make", ["-C", repository, "install", "BUILT=\(Built.folder)", "DESTDIR=", "PREFIX=\(prefix)"])
        #expect(make.status == 0, "\(make.errors)")
        // What desktops write there.
        for folder in ["/.config", "/Pictures"] {
            try FileManager.default.createDirectory(atPath: home + folder, withIntermediateDirectories: true)
        }
        try #"XDG_PICTURES_DIR="$HOME/Pictures""#.write(
            toFile: home + "/.config/user-dirs.dirs", atomically: true, encoding: .utf8)
        environment = Household().environment([
            "HOME": home, "COLORTERM": "truecolor", "PATH": "\(prefix)/bin:/usr/bin:/bin", "http_proxy": proxy,
        ])
        tmux = try Tmux(
            ["\(prefix)/bin/vitrine"] + arguments, columns: columns, rows: rows, environment: environment)
    }

    deinit {
        for folder in [prefix, home] { try? FileManager.default.removeItem(atPath: folder) }
    }

    private static func makeFolder() throws -> String {
        while true {
            let path = "/tmp/" + UUID().uuidString.prefix(5)
            if mkdir(path, 0o755) == 0 { return path }
            guard errno == EEXIST else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        }
    }

    /// A file that is his.
    func file(_ name: String) -> Data? { FileManager.default.contents(atPath: "\(home)/\(name)") }

    /// Waits until all of these are on the screen.
    func sees(_ texts: String..., sourceLocation: SourceLocation = #_sourceLocation) throws {
        let screen = try tmux.until { screen in texts.allSatisfy(screen.contains) }
        for text in texts where !screen.contains(text) {
            Issue.record("“\(text)” is not on the screen:\n\(screen)", sourceLocation: sourceLocation)
        }
    }

    /// Presses a key, or types something, because the screen says what it does.
    func presses(_ keys: String..., since hint: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try sees(hint, sourceLocation: sourceLocation)
        hints.append(hint)
        for key in keys { try tmux.type(key) }
    }

    /// Waits for what pictures there can be, and takes one of the screen.
    ///
    /// - Parameter blocks: how many cells of it show a part of a photo, at least.
    func takesPicture(_ name: String, blocks: Int = 0, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let screen = try tmux.until { $0.filter { $0 == "▀" }.count >= blocks }
        #expect(screen.filter { $0 == "▀" }.count >= blocks, sourceLocation: sourceLocation)
        pictures.append(name)
        guard ProcessInfo.processInfo.environment["VITRINE_RECORD"] != nil else { return }
        let folder = URL(fileURLWithPath: Built.testGallery).appendingPathComponent("../.build/screens").standardized
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let dump = try tmux.colouredText().replacingOccurrences(of: prefix, with: Self.names.prefix)
            .replacingOccurrences(of: home, with: Self.names.home)
        try dump.write(to: folder.appendingPathComponent("tour-\(name).ansi"), atomically: true, encoding: .utf8)
    }
}
