import Cells
import Foundation
import Logging
import TestSupport
import Testing

@testable import UI

@MainActor @Suite(.unlessItHangs) struct LogScreenTests {
    private let screens: TestScreens

    init() throws {
        screens = try TestScreens()
        screens.log.clear()
    }

    private func log(_ range: ClosedRange<Int>) {
        for number in range { screens.log.info(.sync, "entry \(number).") }
    }

    private func until(shows text: String) async throws {
        try await screens.until { screens.text.contains(text) }
        #expect(screens.text.contains(text))
    }

    @Test("BEHAVIOURS 6.4: the log is live and scrolls to the newest entry")
    func live() async throws {
        screens.press("L")
        #expect(screens.title.hasPrefix(" Log") && screens.title.hasSuffix("0 entries"))
        log(1...1)
        try await until(shows: "sync entry 1.")
        #expect(screens.title.hasSuffix("1 entry"))
        log(2...100)
        try await until(shows: "entry 100.")
        #expect(!screens.text.contains("entry 79.") && screens.text.contains("entry 80."))
        #expect(screens.status.hasPrefix(" Newest below"))
        // YYYY-MM-DD HH:MM:SS.mmm subsystem message
        #expect(screens.rowBesideBar(22).contains(#/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} sync entry 100\.$/#))
    }

    @Test("BEHAVIOURS 6.4: the visible entries stay in place while new ones arrive")
    func reading() async throws {
        log(1...100)
        screens.press("L")
        screens.press("g")
        #expect(screens.rowBesideBar(2).hasSuffix("entry 1."))
        #expect(screens.status.hasPrefix(" 21 of 100"))
        log(101...102)
        try await screens.until { screens.title.hasSuffix("102 entries") }
        #expect(screens.rowBesideBar(2).hasSuffix("entry 1."))
        // This also holds when new entries replace the oldest.
        screens.press("G", "k", "k")
        let first = screens.rowBesideBar(2)
        #expect(first.hasSuffix("entry 80."))
        log(103...1_010)
        try await screens.until { screens.title.hasSuffix("1000 entries") }
        #expect(screens.rowBesideBar(2) == first)
        screens.press("G")
        #expect(screens.text.contains("entry 1010.") && screens.status.hasPrefix(" Newest below"))
    }

    @Test(
        "BEHAVIOURS 6.4: the log follows new entries after a key that does not scroll up",
        arguments: ["y", "s", "c", "h", "l", "G"] as [Character])
    func followsAfterKeys(key: Character) async throws {
        let count = { [screens] in screens.root.children.last?.heading.detail }
        log(1...100)
        screens.press("L")
        _ = screens.frame()
        // More entries arrive before the next frame, and the user presses a key.
        log(101...120)
        try await screens.until { count() == "120 entries" }
        screens.press(.character(key))
        log(121...140)
        try await screens.until { count() == "140 entries" }
        #expect(screens.text.contains("entry 140."))
    }

    @Test("BEHAVIOURS 6.4: each subsystem has a switch that applies at once")
    func switches() async throws {
        screens.press("L")
        for (number, subsystem) in LogSubsystem.allCases.enumerated() {
            let (on, off) = ("\(number + 1)✓\(subsystem.name)", "\(number + 1)·\(subsystem.name)")
            #expect(screens.text.contains(on))
            screens.press(.character(Character("\(number + 1)")))
            #expect(!screens.log.isEnabled(subsystem) && screens.text.contains(off) && !screens.text.contains(on))
            screens.log.info(subsystem, "not heard")
            #expect(screens.log.entries.isEmpty)
            screens.press(.character(Character("\(number + 1)")))
            #expect(screens.log.isEnabled(subsystem) && screens.text.contains(on))
        }
    }

    @Test("BEHAVIOURS 6.4: clearing is confirmed", arguments: ["n", "q", "Y", "y"] as [Character])
    func clears(answer: Character) async throws {
        log(1...3)
        screens.press("L", "c")
        #expect(screens.status == " Clear the log? (y/n)")
        screens.press(.character(answer))
        let isYes = "yY".contains(answer)
        #expect(screens.log.entries.isEmpty == isYes)
        try await screens.until { screens.text.contains("entry 3.") != isYes }
        #expect(screens.title.hasPrefix(" Log") && !screens.status.contains("(y/n)"))
    }

    @Test("BEHAVIOURS 6.4: after clearing, the log follows new entries again")
    func clearedAndFollowing() async throws {
        log(1...100)
        screens.press("L", "g", "c", "y")
        try await screens.until { screens.title.hasSuffix("  0 entries") }
        log(101...200)
        try await screens.until { screens.title.contains("  100 entries") && screens.text.contains("entry 200.") }
        #expect(screens.text.contains("entry 200."))
    }

    @Test("BEHAVIOURS 6.4: the log can be copied")
    func copies() {
        log(1...3)
        screens.press("L", "y")
        #expect(screens.copied == [screens.log.entries.map { $0.line + "\n" }.joined()])
        #expect(screens.status == " Sent the log to the clipboard.")
    }

    @Test("BEHAVIOURS 6.4: of a log that the clipboard does not take, the last entries are copied whole")
    func copiesTheEnd() throws {
        for number in 1...60 { screens.log.info(.sync, "\(number) " + String(repeating: "x", count: 1_000)) }
        screens.press("L", "y")
        let copied = try #require(screens.copied.first)
        let lines = screens.log.entries.map { $0.line + "\n" }
        let sent = copied.split(separator: "\n").count
        #expect(sent < lines.count && copied == lines.suffix(sent).joined())
        #expect(copied.utf8.count <= Capabilities.clipboardLimit)
        #expect(screens.status == " Sent the last \(sent) of 60 entries to the clipboard.")
    }

    @Test("BEHAVIOURS 6.4: an empty log leaves the clipboard as it is")
    func copiesNothing() {
        screens.press("L", "y")
        #expect(screens.copied.isEmpty && screens.status == " The log is empty.")
    }

    @Test("BEHAVIOURS 6.4: a terminal without a clipboard gets no log")
    func copiesNowhere() {
        log(1...3)
        screens.root.adopt(Capabilities(clipboard: false))
        screens.press("L", "y")
        #expect(screens.copied.isEmpty && screens.status == " " + ClipboardText.unavailable)
    }

    @Test("BEHAVIOURS 6.4: the log can be saved")
    func saves() async throws {
        log(1...3)
        screens.press("L", "s")
        #expect(screens.status.hasPrefix(" Save the log to:"))
        screens.press(Key(.enter))
        try await screens.until { screens.text.contains(" Log saved to") }
        let state = ".local/state/vitrine"
        let names = screens.folder.entries(state)
        #expect(names.count == 1 && names[0].hasPrefix("log-") && names[0].hasSuffix(".txt"))
        let text = try String(contentsOfFile: screens.folder.path("\(state)/\(names[0])"), encoding: .utf8)
        #expect(text == screens.log.entries.map { $0.line + "\n" }.joined())
    }

    @Test("BEHAVIOURS 6.4: a log whose file's name ends in .gz is compressed")
    func savesCompressed() async throws {
        log(1...500)
        screens.press("L", "s", .control("u"))
        screens.type("~/logs/a.log.gz")
        screens.press(Key(.enter))
        try await screens.until { screens.text.contains(" Log saved to") }
        let path = screens.folder.path("logs/a.log.gz")
        let gzip = try Command("/bin/gzip", ["-dc", path])
        #expect(gzip.status == 0 && gzip.text == screens.log.entries.map { $0.line + "\n" }.joined())
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? .max
        #expect(size * 4 < gzip.text.utf8.count)
    }

    @Test("BEHAVIOURS 6.4: saving the log replaces no file", arguments: ["notes.txt", "notes.txt.gz"])
    func savesOverNothing(name: String) async throws {
        screens.folder.write(name, "mine")
        screens.size = Size(columns: 160, rows: 24)
        screens.press("L", "s", .control("u"))
        screens.type("~/\(name)")
        screens.press(Key(.enter))
        try await screens.until { screens.status.contains("the file already exists") }
        #expect(try String(contentsOfFile: screens.folder.path(name), encoding: .utf8) == "mine")
    }

    @Test("BEHAVIOURS 6.4: a failure to save the log is reported")
    func savingFails() async throws {
        screens.folder.write(".local/state", "a file in the way")
        screens.size = Size(columns: 160, rows: 24)
        screens.press("L", "s", Key(.enter))
        try await screens.until { screens.status.contains("Not a directory") }
        #expect(screens.status.contains(screens.folder.path))
    }

    @Test func longLinesScroll() async throws {
        screens.log.info(.sync, String(repeating: "x", count: 70) + "\u{1B}[2Jend")
        screens.press("L")
        #expect(screens.rowBesideBar(2).hasSuffix("x…"))
        screens.press("l", "l", Key(.right))
        #expect(screens.rowBesideBar(2).hasSuffix("x␛[2Jend"))
        for _ in 0..<20 { screens.press(Key(.right)) }
        #expect(!screens.frame().text(inRow: 2).isEmpty)
        for _ in 0..<20 { screens.press(Key(.left)) }
        #expect(screens.frame().text(inRow: 2).hasPrefix("20"))
    }

    @Test func wideCharactersScrollByColumns() {
        screens.log.info(.sync, String(repeating: "日", count: 60) + "end")
        screens.press("L")
        for _ in 0..<20 { screens.press("l") }
        // The line has 29 columns before the message, and 152 in all. The last 16 columns begin with half a character.
        #expect(screens.rowBesideBar(2) == " " + String(repeating: "日", count: 6) + "end")
    }

    @Test("BEHAVIOURS 6.4: long entries can be wrapped")
    func wraps() async throws {
        log(1...40)
        screens.log.info(.sync, String(repeating: "word ", count: 30) + "end")
        screens.press("L")
        #expect(!screens.text.contains("end"))
        screens.press("w")
        #expect(screens.text.contains("word end") && screens.status.hasPrefix(" Newest below"))
        #expect(screens.frame().text(inRow: 22).hasPrefix("  word"))
        // New entries arrive below, and the reader's rows stay.
        screens.press("g")
        log(41...41)
        try await screens.until { screens.title.hasSuffix("42 entries") }
        #expect(screens.rowBesideBar(2).hasSuffix("entry 1."))
        screens.press("G", "k", "k", "k", "k")
        let first = screens.rowBesideBar(2)
        screens.press("w")
        #expect(screens.rowBesideBar(2) == first && !screens.text.contains("word end"))
        // Where all entries fit, a wrapped log looks the same.
        screens.size = Size(columns: 250, rows: 60)
        let cut = screens.frame()
        screens.press("w")
        let wrapped = screens.frame()
        for row in 2..<44 { #expect(wrapped.text(inRow: row) == cut.text(inRow: row)) }
    }

    @Test(arguments: [Size(columns: 40, rows: 12), Size(columns: 20, rows: 5)]) func smallScreens(size: Size)
        async throws
    {
        log(1...50)
        screens.size = size
        screens.press("L")
        // Small screens show time and message, without the date, and all switches.
        #expect(
            screens.rowBesideBar(size.rows - 2).contains(
                size.columns == 20 ? #/^\d\d:\d\d:\d\d\.\d{3} sync …$/# : #/^\d\d:\d\d:\d\d\.\d{3} sync entry 50\.$/#))
        #expect(screens.frame().text(inRow: 1) == " 1✓ 2✓ 3✓ 4✓ 5✓ 6✓")
        screens.press("1", "c")
        #expect(screens.text.contains(" Clear the log?") && screens.status.hasSuffix("(y/n)"))
    }
}
