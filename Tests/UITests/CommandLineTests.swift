import Cells
import Session
import Commands
import Foundation
import Model
import Settings
import TestSupport
import Testing

@testable import UI

@MainActor @Suite(.unlessItHangs) struct CommandLineTests {
    private let screens: TestScreens

    init() throws {
        var settings = Settings()
        settings.syncOnOpen = false
        settings.rowHeight = 1
        screens = try TestScreens(settings)
    }

    private func open(_ count: Int) async throws {
        try await screens.sync((1...count).map { "\($0)" })
        screens.open(at: "1")
    }

    /// Types a command line and runs it.
    private func give(_ line: String) {
        screens.type(":" + line)
        screens.press(Key(.enter))
    }

    @Test func commandsWorkByTheirNames() async throws {
        try await open(40)
        give("goto 10")
        #expect(screens.selected == "Photo 10")
        give("12")
        #expect(screens.selected == "Photo 12")
        give("last")
        #expect(screens.selected == "Photo 40")
        give("transfers")
        #expect(screens.title.hasPrefix(" Transfers"))
        give("help")
        #expect(screens.title.hasPrefix(" Help"))
        screens.press(Key(.escape))
        give("back")
        #expect(screens.title.hasPrefix(" example.org"))
        give("open")
        #expect(screens.title.hasPrefix(" Photo 40"))
        give("goto 7")
        #expect(screens.title.hasPrefix(" Photo 7"))
        give("q")
        #expect(screens.quits == 1)
    }

    @Test func openTakesAnAddress() async throws {
        give("open example.org/other.xml")
        #expect(screens.title.hasPrefix(" example.org/other.xml"))
        give("open ftp://example.org/")
        #expect(screens.title.hasPrefix(" example.org/other.xml") && !screens.status.hasPrefix(" Not updated"))
    }

    @Test(":open with a photo's file opens the photo in the gallery of its folder")
    func openTakesAPhoto() async throws {
        let pictures = TestFolder()
        let path = pictures.write("album/b.jpg", "x")
        let local = try TestScreens(screens.context.settings, gallery: Address(filePath: pictures.path("album")))
        try await local.sync(["a.jpg", "b.jpg"])
        local.type(":open \(path)")
        local.press(Key(.enter))
        try await local.until { local.root.place.photo == "b.jpg" }
        #expect(local.root.place.gallery == local.cache.address && local.root.place.isPhotoOpen)
    }

    @Test func searchingFilteringSorting() async throws {
        try await open(12)
        give("search 12")
        try await screens.until { screens.selected == "Photo 12" }
        give("filter 3")
        try await screens.until { screens.title.hasSuffix("1 of 1") }
        #expect(screens.selected == "Photo 3")
        give("back")
        try await screens.until { screens.title.hasSuffix("of 12") }
        give("sort-by-date-reversed")
        try await screens.until { screens.title.hasSuffix("10 of 12") }
        give("first")
        #expect(screens.selected == "Photo 12")
    }

    @Test("Another search for the last text goes to its match again, or says that nothing matches")
    func repeatedSearch() async throws {
        try await open(12)
        give("search 12")
        try await screens.until { screens.selected == "Photo 12" }
        give("first")
        #expect(screens.selected == "Photo 1")
        give("search 12")
        #expect(screens.selected == "Photo 12")
        give("search zebra")
        try await screens.until { screens.title.contains("“zebra” 0 found") }
        give("search zebra")
        #expect(screens.status == " No match for “zebra”." && screens.selected == "Photo 12")
    }

    @Test func unknownCommandsAreReported() throws {
        give("serach x")
        #expect(
            screens.status == " Unknown command “serach”. Did you mean “search”?"
                || screens.status == " Unknown command “serach”.")
        give("zoom-in")
        #expect(screens.status == " The command “zoom-in” does not apply to this screen.")
        give("  ")
        #expect(screens.status.hasPrefix(" No gallery"))
    }

    @Test func theCommandLineCanBeCancelled() async throws {
        try await open(3)
        let before = screens.text
        for keys in [[Key(.escape)], [Key(.backspace)], [.control("c")], [Key(.enter)]] {
            screens.press(":")
            #expect(screens.status == ":")
            for key in keys { screens.press(key) }
            #expect(screens.text == before)
        }
    }

    @Test func namesAreCompleted() async throws {
        try await open(3)
        screens.type(":sea")
        #expect(screens.text.contains("search [TEXT]") && screens.text.contains("search names, metadata, dates"))
        screens.press(Key(.tab))
        #expect(screens.status == ":search")
        screens.press(Key(.tab))
        #expect(screens.status == ":search-next")
        screens.press(Key(.tab, .shift))
        #expect(screens.status == ":search")
        screens.press(Key(.tab, .shift))
        #expect(screens.status == ":search-previous")
        screens.type(" x")
        screens.press(Key(.tab))
        #expect(screens.status == ":search-previous x")
        screens.press(Key(.escape))
        screens.type(":got")
        screens.press(Key(.tab))
        screens.type("2")
        #expect(screens.status == ":goto 2")
        screens.press(Key(.enter))
        #expect(screens.selected == "Photo 2")
    }

    /// The command line offers the commands of the screen below it.
    @Test func everyMatchIsPerformed() async throws {
        try await open(3)
        for keys in ["", "T", "E", "L"] {
            screens.type(keys + ":")
            let prompt = try #require(screens.root.commandLine)
            let top = try #require(screens.root.children.last)
            let names = Set(CommandTable.entries.filter { top.commandScopes.contains($0.scope) }.map(\.usage))
            #expect(Set(prompt.choices.map(\.usage)) == names)
            screens.press(Key(.escape))
        }
    }

    @Test(arguments: [Size(columns: 80, rows: 24), Size(columns: 40, rows: 12), Size(columns: 20, rows: 5)])
    func theCommandLineFitsEveryScreen(size: Size) async throws {
        try await open(3)
        screens.size = size
        screens.type(":goto")
        #expect(screens.text.contains("goto N") && screens.status == ":goto")
        #expect(screens.frame().cursor == Point(column: 5, row: size.rows - 1))
        screens.type(String(repeating: "long ", count: 40))
        #expect(screens.frame().cursor?.row == size.rows - 1)
    }

    @Test func theArrowsRecallTheHistory() async throws {
        try await open(9)
        give("goto 3")
        give("goto 5")
        screens.type(":gone")
        screens.press(Key(.up))
        #expect(screens.status == ":goto 5")
        screens.press(Key(.up), Key(.up))
        #expect(screens.status == ":goto 3")
        screens.press(Key(.down), Key(.down))
        #expect(screens.status == ":gone")
        screens.press(Key(.up), Key(.up), Key(.enter))
        #expect(screens.selected == "Photo 3")
    }

    @Test func theHistoryIsSavedWithoutPasswords() async throws {
        give("goto 3")
        give("open http://me:s3cret@example.org/a.xml")
        give("log")
        #expect(await screens.root.finish() == nil)
        let path = screens.folder.path(".local/state/vitrine/commands")
        #expect(try PrivateFile.read(path) == "goto 3\nlog\n")
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        // Another process has written to the file.
        try PrivateFile.write("goto 9\n", to: path)
        give("errors")
        _ = await screens.root.finish()
        #expect(try PrivateFile.read(path) == "goto 9\nerrors\n")
        let next = RootScreen(screens.context)
        _ = await next.finish()
        next.handle(InputEvent.key(":"))
        next.handle(InputEvent.key(Key(.up)))
        #expect(next.frame(screens.size).text(inRow: 23) == ":errors")
    }

    @Test func noticesWaitBehindTheCommandLine() async throws {
        try await open(3)
        screens.press(":")
        screens.activity.postNotice("Something happened.")
        try await screens.until { screens.root.modals.notice == "Something happened." }
        screens.type("last")
        #expect(screens.status == ":last")
        screens.press(Key(.escape))
        #expect(screens.status == " Something happened.")
    }

    @Test("An action typed for a photo that an update removes does not work on the next photo")
    func actionsKeepTheirPhoto() async throws {
        func sync(_ letters: String) async throws {
            try await screens.sync(
                letters.map { try TestScreens.entry(String($0), date: Int64($0.asciiValue ?? 0)) })
        }
        try await sync("abcd")
        screens.open(at: "b")
        screens.type(":rate 5")
        try await sync("acd")
        try await screens.until { screens.selected == "Photo c" }
        screens.press(Key(.enter))
        #expect(screens.status == " The command “rate” does not apply to this screen.")
        // Other commands still work, and so do actions on marked photos.
        screens.type(":last")
        try await sync("ade")
        try await screens.until { screens.selected == "Photo d" }
        screens.press(Key(.enter))
        #expect(screens.selected == "Photo e")
        screens.press("g", " ")
        screens.type(":rate 5")
        try await sync("ae")
        try await screens.until { screens.selected == "Photo e" }
        screens.press(Key(.enter))
        try await screens.until { try screens.photo("a").rating.value == 5 }
    }

    @Test func theMouseIsIgnoredInTheCommandLine() async throws {
        try await open(9)
        screens.press(":")
        screens.use(.press(1), 3, 3)
        #expect(screens.status == ":" && screens.root.commandLine != nil)
        screens.press(Key(.escape))
        #expect(screens.selected == "Photo 1")
    }
}
