import Foundation
import TestSupport
import Testing

/// An unwritable or missing home does not prevent browsing.
@Suite(.ownThread, .serialized, .enabled(if: Mounting.isPossible)) struct UnwritableHomeTests {
    private let home = Household()
    private let runtime = TestFolder()

    /// Homes that keep nothing: read-only, missing, or below a file.
    enum Kind: CaseIterable { case readOnly, missing, nonsense, unset }

    private static let notice = "Lost when Vitrine ends: fetched photos"
    /// Makes the folder `$0` read-only and continues.
    private static let script = #"mount -t tmpfs -o ro none "$0" && exec "$@""#

    private func environment(_ kind: Kind, _ more: [String: String] = [:]) -> [String: String] {
        var environment = home.environment(["XDG_RUNTIME_DIR": runtime.path]).merging(more) { $1 }
        switch kind {
        case .readOnly: break
        case .missing: environment["HOME"] = home.folder.path + "/no/such"
        case .nonsense: environment["HOME"] = "/dev/null/home"
        case .unset: environment["HOME"] = nil
        }
        return environment
    }

    private func folder(_ kind: Kind) -> String {
        kind == .unset ? String(cString: getpwuid(getuid()).pointee.pw_dir) : home.folder.path
    }

    private func vitrine(_ kind: Kind, _ arguments: String..., more: [String: String] = [:]) throws -> Command {
        try Command(
            Mounting.program, Mounting.arguments(Self.script, folder(kind)) + [Built.vitrine] + arguments,
            environment: environment(kind, more))
    }

    @Test("Commands work with an unwritable home and report it once", arguments: Kind.allCases)
    func commands(kind: Kind) throws {
        let out = TestFolder()
        let gallery = Built.testGallery
        let sync = try vitrine(kind, "sync", gallery)
        #expect(sync.status == 0 && sync.text.contains("28 photos"), "\(sync.errors)")
        let export = try vitrine(kind, "export", gallery, out.path("photos"), "owl")
        #expect(export.status == 0 && out.entries("photos").count == 1, "\(export.errors)")
        // The files of the previous run are gone.
        let list = try vitrine(kind, "list", gallery)
        #expect(list.status == 1 && list.errors.contains("has never fetched"))
        for command in [sync, export, list] {
            #expect(command.errors.components(separatedBy: Self.notice).count == 2, "\(command.errors)")
            #expect(command.errors.contains("places, typed commands, network history"))
            #expect(command.errors.contains("/.cache/vitrine, "), "\(command.errors)")
        }
        #expect(runtime.entries().isEmpty)
    }

    @Test("The screen opens with an unwritable home and reports it", arguments: Kind.allCases)
    func browsing(kind: Kind) throws {
        let words = Mounting.arguments(Self.script, folder(kind)) + [Built.vitrine, Built.testGallery]
        let tmux = try Tmux([Mounting.program] + words, columns: 200, rows: 30, environment: environment(kind))
        let shown = try tmux.until { $0.contains("of 28") && $0.contains(Self.notice) }
        #expect(shown.contains("Dawn over the ridge") && shown.contains(Self.notice))
        #expect(runtime.entries().count == 1)
        // The place and the typed command are not kept.
        try tmux.type("j")
        try tmux.type("Q")
        let end = try tmux.until(shows: "ended with")
        #expect(end.contains("ended with 0") && !end.contains("Read-only file system"), "\(end)")
        #expect(runtime.entries().isEmpty)
    }

    @Test("Vitrine uses the next temporary folder, and reports if there is none")
    func nowhere() throws {
        let temporary = TestFolder()
        let environment = ["XDG_RUNTIME_DIR": "/dev/null/none", "TMPDIR": temporary.path]
        let sync = try vitrine(.nonsense, "sync", Built.testGallery, more: environment)
        #expect(sync.status == 0 && temporary.entries().isEmpty)
        let all = try Command(
            Mounting.program,
            Mounting.arguments(Self.script, "/tmp", Built.vitrine, "sync", Built.testGallery),
            environment: self.environment(
                .nonsense, ["XDG_RUNTIME_DIR": "/dev/null/none", "TMPDIR": "/dev/null/temporary"]))
        #expect(all.status == 1 && all.errors.contains("cannot make a temporary folder"), "\(all.errors)")
        #expect(all.errors.contains("/dev/null/temporary: Not a directory") && all.errors.contains("--cache-dir"))
    }

    @Test("A read-only cache is shown, and a gallery that it lacks opens anyway")
    func older() throws {
        let other = TestFolder()
        other.write("gallery.xml", try String(contentsOfFile: Built.testGallery + "/changes-A.xml", encoding: .utf8))
        #expect(try home.vitrine("sync", Built.testGallery).status == 0)
        let script = #"mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@""#
        func vitrine(_ arguments: String...) throws -> Command {
            try Command(
                Mounting.program, Mounting.arguments(script, home.folder.path) + [Built.vitrine] + arguments,
                environment: environment(.readOnly))
        }
        let list = try vitrine("list", Built.testGallery)
        #expect(list.status == 0 && list.lines.count == 28 && list.errors.isEmpty, "\(list.errors)")
        let sync = try vitrine("sync", "--list-only", other.path)
        #expect(sync.text.contains("10 photos") && sync.errors.contains(Self.notice), "\(sync.errors)")
        let words = Mounting.arguments(script, home.folder.path) + [Built.vitrine]
        for (gallery, count) in [(Built.testGallery, "of 28"), (other.path, "of 10")] {
            let tmux = try Tmux(
                [Mounting.program] + words + [gallery], columns: 200, rows: 30, environment: environment(.readOnly))
            let shown = try tmux.until { $0.contains(count) && $0.contains("Lost when Vitrine ends") }
            #expect(shown.contains(count) && shown.contains("Lost when Vitrine ends"))
            try tmux.type("Q")
            #expect(try tmux.until(shows: "ended with").contains("ended with 0"))
        }
    }

    @Test("A named cache folder must be usable")
    func named() throws {
        let sync = try vitrine(.readOnly, "sync", "--cache-dir=/dev/null/cache", Built.testGallery)
        #expect(sync.status == 1 && sync.errors.contains("/dev/null/cache"), "\(sync.errors)")
    }

    @Test("The next program removes the files of a killed one", .unlessItHangs)
    func killed() throws {
        let gate = Gate()
        let server = try ScriptedServer { _ in [.hold(gate)] }
        defer { gate.open() }
        let (reading, writing) = try ChildProcess.makePipe()
        let sync = try ChildProcess(
            Mounting.program,
            Mounting.arguments(Self.script, home.folder.path, Built.vitrine, "sync", server.url("/index.xml")),
            environment: environment(.readOnly), errors: writing)
        close(writing)
        // The notice appears when the folder exists.
        var text = ""
        var byte: UInt8 = 0
        while !text.contains(Self.notice), read(reading, &byte, 1) == 1 { text.append(Character(UnicodeScalar(byte))) }
        close(reading)
        #expect(runtime.entries().count == 1)
        let kept = runtime.entries()
        #expect(try vitrine(.readOnly, "sync", Built.testGallery).status == 0)
        #expect(runtime.entries() == kept, "a living program's folder is left alone")
        sync.end(SIGKILL)
        #expect(runtime.entries() == kept)
        #expect(try vitrine(.readOnly, "sync", Built.testGallery).status == 0)
        #expect(runtime.entries().isEmpty)
    }
}
