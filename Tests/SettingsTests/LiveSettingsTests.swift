import Foundation
import TestSupport
import Testing

@testable import Settings

/// Settings that the user changes while Vitrine runs, and keeps in the file.
@Suite("BEHAVIOURS 6.6: changed settings") struct LiveSettingsTests {
    private let folder = TestFolder()
    private var path: String { folder.path(".config/vitrine/config") }

    private func live(_ arguments: String...) throws -> LiveSettings {
        try LiveSettings(try Invocation(arguments), Locations { [folder] in $0 == "HOME" ? folder.path : nil })
    }

    private func text() throws -> String? { try PrivateFile.read(path) }

    private func option(_ name: String) throws -> SettingsOption { try #require(SettingsTable.option(named: name)) }

    @Test("Each setting changes at once, or a sentence says why not")
    func everyOption() throws {
        for option in SettingsTable.options {
            let value = try #require(SettingsTableTests.values[option.name])
            let live = LiveSettings()
            let sentence = try live.set(option.name, to: value)
            switch option.effect {
            case .atOnce: #expect(option.text(in: live.settings) == value && sentence == nil, "\(option.name)")
            case .fromNowOn:
                #expect(option.text(in: live.settings) == value, "\(option.name)")
                #expect(sentence?.hasSuffix(" from now on.") == true, "\(option.name)")
            case .atNextStart(let reason):
                #expect(option.text(in: live.settings) == option.defaultValue, "\(option.name)")
                #expect(sentence?.contains(reason) == true, "\(option.name)")
            }
            try live.set(option.name, to: nil)
            #expect(live.settings == Settings(), "\(option.name)")
        }
    }

    @Test("Listeners go while another thread changes settings", .unlessItHangs)
    func listenersGo() async {
        let live = LiveSettings()
        let (end, ended) = (Gate(), Gate())
        Thread.detachNewThread {
            var isDark = false
            while !end.isOpen {
                isDark.toggle()
                _ = try? live.set("theme", to: isDark ? "dark" : "light")
            }
            ended.open()
        }
        for _ in 0..<5_000 {
            let listening = Task { for await _ in live.changes() {} }
            await Task.yield()
            listening.cancel()
        }
        end.open()
        #expect(ended.wait())
    }

    @Test func eachPlaceIsKnown() throws {
        folder.write(".config/vitrine/config", "# mine\ntheme = dark\nplain = yes\n")
        let live = try live("--plain=no", "--ascii")
        func origin(_ name: String) throws -> SettingsInForce.Origin { live.origin(of: try option(name)) }
        #expect(try origin("theme") == .file(path: path, line: 2))
        #expect(try origin("plain") == .commandLine && origin("ascii") == .commandLine && origin("mouse") == .standard)
        try live.set("mouse", to: "no")
        #expect(try origin("mouse") == .session && live.settings.mouse == false)
        try live.set("mouse", to: nil)
        #expect(try origin("mouse") == .session && live.settings.mouse)
    }

    @Test func reloadingKeepsTheUsersChanges() throws {
        let live = try live()
        try live.set("theme", to: "mono")
        folder.write(".config/vitrine/config", "theme = dark\nrow-height = 4\n")
        try live.reload()
        #expect(live.settings.theme == .mono && live.settings.rowHeight == 4)
    }

    @Test func keptSettingsAreInTheFile() throws {
        folder.write(".config/vitrine/config", "# mine\ntheme = dark\n")
        chmod(path, 0o640)
        let live = try live("--sort=name")
        #expect(try live.keep("theme", "mono") == nil)
        #expect(try live.origin(of: option("theme")) == .file(path: path, line: 2) && live.settings.theme == .mono)
        // The edit keeps the lines that another program has added.
        folder.write(".config/vitrine/config", "# mine\ntheme = mono\n# another\nplain = yes\n")
        chmod(path, 0o640)
        try live.keep("sort", "size")
        #expect(try text() == "# mine\ntheme = mono\n# another\nplain = yes\nsort = size\n")
        // The command line overrides the file, but not the user.
        #expect(live.settings.order.criterion == .size && live.settings.plain)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o640)
        try live.keep("theme", nil)
        #expect(try text() == "# mine\n# another\nplain = yes\nsort = size\n" && live.settings.theme == .auto)
    }

    @Test("Saving a value that comes from the file leaves the file as it is")
    func aLineKeepsItsText() throws {
        let lines = "# mine\nexport-folder = ~/Pictures\ncache-limit = 2048M\n"
        folder.write(".config/vitrine/config", lines)
        let live = try live()
        for name in ["export-folder", "cache-limit"] { try live.keep(name, live.textToKeep(of: option(name))) }
        #expect(try text() == lines && live.settings.exportFolder == folder.path("Pictures"))
        // A value of the command line is saved as it is in force.
        let given = try self.live("--export-folder=~/Photos")
        #expect(try given.textToKeep(of: option("export-folder")) == folder.path("Photos"))
    }

    @Test func aSettingForTheNextStartIsKept() throws {
        let live = try live()
        #expect(try live.set("cache-dir", to: "/c")?.contains("Save it with “:set! cache-dir") == true)
        let sentence = try live.keep("cache-dir", "~/c")
        #expect(sentence == "“cache-dir” takes effect at the next start, because the cache folder is already open.")
        #expect(try live.nextValue(of: option("cache-dir")) == folder.path("c") && live.settings.cacheFolder == nil)
        #expect(try text() == "cache-dir = ~/c\n")
    }

    @Test func aLinkStaysALink() throws {
        folder.write("dotfiles/config", "plain = yes\n")
        folder.write(".config/vitrine/galleries", "")
        symlink(folder.path("dotfiles/config"), path)
        try live().keep("theme", "mono")
        #expect(try PrivateFile.read(folder.path("dotfiles/config")) == "plain = yes\ntheme = mono\n")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == folder.path("dotfiles/config"))
    }

    @Test func filesThatVitrineMustNotChangeStay() throws {
        func failure(_ live: LiveSettings) -> String? {
            let error = #expect(throws: SettingsError.self) { try live.keep("theme", "mono") }
            return error?.description
        }
        folder.write(".config/vitrine/config", "plain = yes\n")
        let live = try live()
        chmod(path, 0o444)
        #expect(failure(live) == "\(path): the file is read-only.")
        chmod(path, 0o600)
        try Data([0x23, 0xFF, 0x0A]).write(to: URL(fileURLWithPath: path))
        #expect(failure(live) == "\(path): not a UTF-8 text file.")
        try FileManager.default.removeItem(atPath: path)
        symlink(folder.path("nothing"), path)
        #expect(failure(live) == "\(path): the link points to a missing file.")
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(failure(live) == "\(path): not a file.")
        #expect(live.settings.theme == .auto)
    }

    @Test func changesArriveAtTheirFollowers() async throws {
        let live = LiveSettings()
        var changes = live.changes().makeAsyncIterator()
        #expect(await changes.next() == Settings())
        try live.set("debug-delay", to: "250")
        #expect(await changes.next()?.debugDelay == 250)
    }
}
