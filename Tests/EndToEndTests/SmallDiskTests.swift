import Foundation
import TestSupport
import Testing

/// Full and read-only disks: cached photos stay usable, one notice appears, and nothing is lost.
@Suite(.ownThread, .enabled(if: Mounting.isPossible, "Nothing can be mounted here.")) struct SmallDiskTests {
    private let home = Household()
    private let linked: LinkedTestGallery
    private var gallery: String { linked.path + "/index.xml" }
    init() throws { linked = try LinkedTestGallery() }

    private static let everything = "28 photos, 28 thumbnails, 28 photos cached"
    private static let fullNotice = "The disk is full: nothing new can be stored."
    private static let readOnlyNotice = "The cache is read-only: nothing new can be stored."

    private static func mount(_ options: String) -> String {
        "mkdir -p \"$HOME/.cache\" && mount -t tmpfs -o mode=700,\(options) none \"$HOME/.cache\"\n"
    }

    private func run(_ script: String) throws -> Command {
        try Command(
            Mounting.program, Mounting.arguments(script, Built.vitrine, gallery), environment: home.environment())
    }

    private func browse(_ script: String) throws -> TerminalSession {
        try TerminalSession(
            Mounting.program, arguments: Mounting.arguments(script + "exec \"$0\" \"$1\"", Built.vitrine, gallery),
            environment: home.environment())
    }

    @Test(
        "BEHAVIOURS 4.4: an update on a full disk reports it, loses nothing, and resumes when there is space",
        arguments: [
            "size=32k", "size=160k", "size=512k", "size=2m", "size=64m,nr_inodes=4", "size=64m,nr_inodes=8",
            "size=64m,nr_inodes=11", "size=64m,nr_inodes=13", "size=64m,nr_inodes=20",
        ])
    func updates(options: String) throws {
        let command = try run(
            Self.mount(options) + """
                "$0" sync --photos "$1"; echo "first $?"
                "$0" sync --photos "$1"; echo "again $?"
                mount -o remount,size=64m,nr_inodes=1000 "$HOME/.cache"
                "$0" sync --photos "$1"; echo "then $?"
                "$0" cache check "$1"
                """)
        #expect(command.text.contains("first 1\n") && command.text.contains("again 1\n"), "\(command.text)")
        #expect(command.text.contains("then 0\n") && command.text.contains(Self.everything), "\(command.text)")
        #expect(command.text.hasSuffix("good, 28 photos\n"), "\(command.text)")
        let complaints = command.errors.split(separator: "\n")
        #expect(complaints.allSatisfy { $0.hasPrefix("vitrine: ") && $0.contains("disk is full") }, "\(complaints)")
        #expect((2...4).contains(complaints.count), "\(complaints)")
    }

    @Test("BEHAVIOURS 4.2: cleaning works on a full disk")
    func roomIsMade() throws {
        let command = try run(
            Self.mount("size=64m") + """
                big="${1%/*}/index-big.xml"
                "$0" sync --photos "$big" >/dev/null && "$0" sync --photos "$1" >/dev/null
                "$0" list "$big" | grep -c "photo$"
                # Who writes takes these away when it closes; who only reads leaves them.
                rm -f "$HOME"/.cache/vitrine/galleries/*/gallery.sqlite-*
                head -c 70000000 /dev/zero >"$HOME/.cache/ballast" 2>/dev/null
                "$0" sync --list-only --cache-limit 20M "$1" >/dev/null 2>&1; echo "sync $?"
                "$0" list "$big" | grep -c "photo$"
                "$0" cache check "$big"; echo "check $?"
                """)
        let lines = command.lines
        try #require(lines.count == 5 && lines[1] == "sync 1", "\(command.text)\(command.errors)")
        let (before, after) = (Int(lines[0]) ?? 0, Int(lines[2]) ?? 0)
        #expect(before == 110 && 0 < after && after < before, "\(before) became \(after)")
        // The rows are correct although files went first.
        #expect(lines[3].hasSuffix("good, \(after) photos") && lines[4] == "check 0", "\(command.text)")
    }

    @Test("BEHAVIOURS 4.1: a read-only cache can be browsed")
    func readOnly() throws {
        let command = try run(
            Self.mount("size=64m") + """
                "$0" sync --photos "$1" >/dev/null
                mount -o remount,ro "$HOME/.cache"
                "$0" list "$1"; echo "list $?"
                "$0" cache info "$1"
                "$0" sync --photos "$1"; echo "sync $?"
                mount -o remount,rw "$HOME/.cache"
                "$0" sync --photos "$1"; echo "then $?"
                """)
        #expect(
            command.lines.count { $0.hasSuffix("\tthumbnail,photo") || $0.contains("Z\t") } >= 28, "\(command.text)")
        #expect(command.text.contains("list 0\n") && command.text.contains("sync 1\n"), "\(command.text)")
        #expect(command.errors.contains("read-only"), "\(command.errors)")
        #expect(command.text.contains(Self.everything) && command.text.hasSuffix("then 0\n"), "\(command.text)")
    }

    @Test("BEHAVIOURS 4.1: browsing continues on a full disk, with one notice")
    func browsingWithoutRoom() throws {
        // The list takes at most 230 KB, and the visible thumbnails 400 KB if they share their writes, as on a busy machine.
        let session = try browse(Self.mount("size=330k"))
        try #require(session.until(shows: Self.fullNotice), "\(session.screen.text)")
        session.type("j")
        #expect(session.until { $0.text.contains("2 of 28") && !$0.text.contains(Self.fullNotice) })
        // More thumbnails and a photo find no space either.
        session.type("G")
        #expect(session.until(shows: "28 of 28"))
        session.untilQuiet()
        session.type("\r")
        #expect(session.until(shows: "Load failed: "))
        #expect(!session.screen.text.contains(Self.fullNotice))
        session.type("q")
        #expect(session.until { $0.text.contains("28 of 28") && $0.text.contains("Updated: ") })
        // A new request reports it again.
        session.type("r")
        #expect(session.until(shows: Self.fullNotice) || session.screen.text.contains("disk is full"))
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test("BEHAVIOURS 4.1: a photo that a read-only cache lacks does not seem to load")
    func opensAMissingPhoto() throws {
        let session = try browse(
            Self.mount("size=64m") + "\"$0\" sync \"$1\" >/dev/null\nmount -o remount,ro \"$HOME/.cache\"\n")
        try #require(session.until(shows: Self.readOnlyNotice), "\(session.screen.text)")
        session.type("\r")
        #expect(session.until(shows: "Load failed: "), "\(session.screen.text)")
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test(
        "BEHAVIOURS 4.1: a cache opens on a full or read-only disk",
        arguments: [
            ("head -c 70000000 /dev/zero >\"$HOME/.cache/ballast\" 2>/dev/null\n", fullNotice),
            ("mount -o remount,ro \"$HOME/.cache\"\n", readOnlyNotice),
        ])
    func browsesTheCache(spoil: String, notice: String) throws {
        let session = try browse(Self.mount("size=64m") + "\"$0\" sync --photos \"$1\" >/dev/null\n" + spoil)
        // The notice appears once, and everything is visible.
        try #require(session.until(shows: notice), "\(session.screen.text)")
        #expect(session.until { $0.text.contains("1 of 28") && $0[1, 1].text == "▀" && $0[1, 19].text == "▀" })
        session.type("jj\r")
        #expect(session.until { $0.text.contains("3 of 28 · fit") && $0.text.filter { $0 == "▀" }.count > 500 })
        session.untilQuiet()
        #expect(!session.screen.text.contains(notice))
        session.type("Q")
        #expect(session.wait() == 0)
    }
}
