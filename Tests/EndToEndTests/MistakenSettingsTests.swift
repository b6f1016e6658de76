import Foundation
import TestSupport
import Testing

/// The real program with mistakes in its settings file.
@Suite(.ownThread, .serialized) struct MistakenSettingsTests {
    private let home = Household()

    private var config: String { home.folder.path(".config/vitrine/config") }

    /// Opens the screen and returns its first text with the list of galleries.
    private func firstScreen() throws -> String {
        let tmux = try Tmux([Built.vitrine], columns: 100, environment: home.environment())
        let text = try tmux.until { $0.contains("built in") && $0.contains("config") }
        try tmux.type("Q")
        #expect(try tmux.until(shows: "ended with").contains("ended with 0"))
        return text
    }

    @Test func screenShowsMistakes() throws {
        let wrong = (1...20).map { "row-height = \($0 + 20)\n" }.joined()
        home.folder.write(".config/vitrine/config", wrong + "colours = 16\n")
        #expect(try firstScreen().contains("config:1: Invalid value “21” for “row-height”: use a number from 0 to 20."))
        let list = try home.vitrine("config", "list")
        #expect(list.status == 0 && list.errors.split(separator: "\n").count == 21)
        #expect(list.errors.hasSuffix(":21: Unknown option “colours”; did you mean “colors”?\n"))
    }

    @Test func folderInsteadOfFile() throws {
        home.folder.write(".config/vitrine/config/x", "")
        #expect(try firstScreen().contains("config: not a file. Vitrine ignores the file."))
    }

    @Test func pipeInsteadOfFile() throws {
        home.folder.write(".config/vitrine/galleries", "")
        #expect(mkfifo(config, 0o600) == 0)
        #expect(try firstScreen().contains("config: not a file. Vitrine ignores the file."))
    }

    @Test func programInsteadOfFile() throws {
        home.folder.write(".config/vitrine/galleries", "")
        try FileManager.default.copyItem(atPath: "/bin/true", toPath: config)
        #expect(try firstScreen().contains("config: not a text file. Vitrine ignores the file."))
    }

    // MARK: - vitrine config

    @Test func everyOptionIsListed() throws {
        home.folder.write(".config/vitrine/config", "row-height = 5\n")
        let list = try home.vitrine("config", "list", "--offline")
        let rows = list.lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }
        #expect(list.status == 0 && rows.allSatisfy { $0.count == 4 } && rows.count > 25)
        #expect(rows.first { $0[0] == "row-height" }?[1...2] == ["5", "0"])
        #expect(rows.first { $0[0] == "offline" }?[1...2] == ["yes", "no"])
        let json = try home.vitrine("config", "list", "--json", "--offline")
        let options = try #require(
            try JSONSerialization.jsonObject(with: Data(json.text.utf8)) as? [[String: String]])
        #expect(options.map { $0["name"] } == rows.map { $0[0] })
        #expect(options.map { $0["value"] } == rows.map { $0[1] })
    }

    @Test func whichFileItIs() throws {
        #expect(try home.vitrine("config", "path").lines == [config])
        #expect(try home.vitrine("config", "path", "-C", "/mine").lines == ["/mine"])
    }

    @Test func mistakesAreAReason() throws {
        #expect(try home.vitrine("config", "check").status == 0)
        let good = home.folder.write("good", "offline = yes\n")
        #expect(try home.vitrine("config", "check", good).text.isEmpty)
        let bad = home.folder.write("bad", "offline = yes\nmouse = off\n")
        let check = try home.vitrine("config", "check", bad)
        #expect(check.status == 2 && check.text == "\(bad):2: Invalid value “off” for “mouse”: use yes or no.\n")
        let json = try home.vitrine("config", "check", "--json", bad)
        let mistakes = try #require(try JSONSerialization.jsonObject(with: Data(json.text.utf8)) as? [[String: Any]])
        #expect(mistakes.count == 1 && mistakes[0]["line"] as? Int == 2 && mistakes[0]["file"] as? String == bad)
        #expect(try home.vitrine("config", "check", "/nothing").status == 2)
    }

    /// Without the files nothing is fetched; otherwise Vitrine would ask for a password instead.
    @Test func filesThatAreNamedForTheNetworkHaveToBeThere() throws {
        let bad = home.folder.write("bad", "ca-file = ~/nothing\n")
        let check = try home.vitrine("config", "check", bad)
        #expect(check.status == 2 && check.text.contains("\(home.folder.path("nothing"))"), "\(check.text)")
        let json = try home.vitrine("config", "check", "--json", bad)
        let mistakes = try #require(try JSONSerialization.jsonObject(with: Data(json.text.utf8)) as? [[String: Any]])
        #expect(mistakes.count == 1 && mistakes[0]["line"] is NSNull && mistakes[0]["file"] as? String == bad)
        home.folder.write("nothing", "")
        #expect(try home.vitrine("config", "check", bad).status == 0)
        #expect(
            try home.vitrine("config", "list", "-C", bad).text.contains("ca-file\t\(home.folder.path("nothing"))\t"))
    }
}
