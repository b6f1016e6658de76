import Foundation
import TestSupport
import Testing

/// A new user who has never seen Vitrine and presses the keys that the screen shows.
///
/// With `VITRINE_RECORD=1` it saves pictures in `.build/screens` for the tour.
final class Newcomer {
    /// The installation and the home. Their paths have fixed lengths, so that pictures do not change.
    private let prefix = try! Newcomer.makeFolder()
    private let home = try! Newcomer.makeFolder()
    private let environment: [String: String]
    private(set) var tmux: Tmux
    /// The hints that led the way.
    private(set) var hints: [String] = []
    /// The names of the pictures taken.
    private(set) var pictures: [String] = []

    private static let names = (prefix: "/usr/local", home: "/home/anna")

    /// - Parameter proxy: the proxy that knows all servers of the test's network.
    init(columns: Int = 80, rows: Int = 24, arguments: [String] = [], proxy: String) throws {
        let repository = URL(fileURLWithPath: Built.testGallery).deletingLastPathComponent().path
        let make = try Command(
            "/usr/bin/make", ["-C", repository, "install", "BUILT=\(Built.folder)", "DESTDIR=", "PREFIX=\(prefix)"])
        #expect(make.status == 0, "\(make.errors)")
        // The desktop's file of user folders.
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

    /// Returns the content of a file in the home.
    func file(_ name: String) -> Data? { FileManager.default.contents(atPath: "\(home)/\(name)") }

    /// Waits until all of these texts are on the screen.
    func sees(_ texts: String..., sourceLocation: SourceLocation = #_sourceLocation) throws {
        let screen = try tmux.until { screen in texts.allSatisfy(screen.contains) }
        for text in texts where !screen.contains(text) {
            Issue.record("“\(text)” is not on the screen:\n\(screen)", sourceLocation: sourceLocation)
        }
    }

    /// Presses a key or types text after checking the hint for it.
    func presses(_ keys: String..., since hint: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try sees(hint, sourceLocation: sourceLocation)
        hints.append(hint)
        for key in keys { try tmux.type(key) }
    }

    /// Waits for the pictures on the screen and records it.
    ///
    /// - Parameter blocks: the minimum number of cells with parts of photos.
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
