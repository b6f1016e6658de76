import Foundation
import TestSupport
import Testing

/// Numbers and dates in the user's locale. The test makes the locales itself.
@Suite(.ownThread, .serialized) struct LocaleTests {
    private let home = Household()

    /// Returns the environment of a user with a locale.
    private func locale(_ name: String) throws -> [String: String] {
        let made = try Command(
            "/usr/bin/localedef", ["-i", name, "-f", "UTF-8", home.folder.path("\(name).UTF-8")])
        #expect(made.status == 0, "\(made.errors)")
        return ["LANG": "\(name).UTF-8", "LOCPATH": home.folder.path]
    }

    private func writeGallery() -> String {
        let photos = (1...1_204).map { number in
            "<photo id=\"\(number)\" name=\"Photo \(number)\" date=\"2006-07-30T17:47:17Z\">"
                + "<image kind=\"image\" srcURL=\"p/\(number).jpg\"/></photo>"
        }
        return home.folder.write("gallery.xml", "<album>\(photos.joined())</album>")
    }

    private func screen(_ environment: [String: String], _ gallery: String, shows text: String) throws -> String {
        let tmux = try Tmux(
            [Built.vitrine, "--offline", gallery], columns: 100, environment: home.environment(environment))
        return try tmux.until(shows: text)
    }

    @Test func screenUsesTheLocale() throws {
        let gallery = writeGallery()
        #expect(try home.vitrine("sync", "--list-only", gallery).status == 0)
        let german = try screen(try locale("de_DE"), gallery, shows: "1 of 1.204")
        #expect(german.contains("1 of 1.204") && german.contains("So 30 Jul 2006  17:47"))
        let american = try screen(try locale("en_US"), gallery, shows: "1 of 1,204")
        #expect(american.contains("1 of 1,204") && american.contains("Sun Jul 30, 2006  05:47 PM"))
        let swedish = try screen(try locale("sv_SE"), gallery, shows: "1 of 1\u{202F}204")
        #expect(swedish.contains("2006-07-30  17:47"))
    }

    @Test func programOutputIgnoresTheLocale() throws {
        let gallery = writeGallery()
        let german = try locale("de_DE")
        #expect(try home.vitrine("sync", "--list-only", gallery, environment: german).status == 0)
        for arguments in [
            ["list", gallery], ["list", "--json", gallery], ["cache", "info"], ["config", "list"],
            ["sync", "--list-only", gallery], ["info", Built.testGallery + "/images/owl.jpg"],
        ] {
            let plain = try Command(Built.vitrine, arguments, environment: home.environment())
            let local = try Command(Built.vitrine, arguments, environment: home.environment(german))
            #expect(plain.status == 0 && local.text == plain.text, "\(arguments)")
        }
    }

    @Test(
        "Odd values of the variables for zone and locale crash nothing",
        arguments: [
            ["TZ": ""], ["TZ": ":"], ["TZ": "Nowhere/None"], ["TZ": "/etc/passwd"], ["TZ": "UTC+99:99:99"],
            ["TZ": "<+0>-25"],
            ["TZ": String(repeating: "A", count: 4_000)], ["TZ": "A5B,M99.9.9/999,J400"],
            ["TZ": "../../../../dev/null"],
            ["LANG": ""], ["LANG": "xx_XX.UTF-8"], ["LC_ALL": "/"], ["LC_ALL": "C.ISO-8859-1"],
            ["LC_ALL": String(repeating: "z", count: 4_000)], ["LC_TIME": "../../etc"], ["LANG": "\u{1B}[31m"],
        ])
    func odd(environment: [String: String]) throws {
        let gallery = writeGallery()
        #expect(try home.vitrine("sync", "--list-only", gallery, environment: environment).status == 0)
        let list = try home.vitrine("list", gallery, environment: environment)
        #expect(list.status == 0 && list.lines.first?.contains("2006-07-30T17:47:17Z") == true)
        #expect(try screen(environment, gallery, shows: "Photo 1").contains("Photo 1"))
    }

    @Test("Dates follow a change of the system's time zone while Vitrine runs", .enabled(if: Mounting.isPossible))
    func zone() throws {
        let gallery = writeGallery()
        #expect(try home.vitrine("sync", "--list-only", gallery).status == 0)
        // A private /etc, in which the test replaces the link.
        let script = """
            mount -t tmpfs none /mnt && cp -a /etc/. /mnt && mount --bind /mnt /etc && rm -f /etc/localtime
            ln -s /usr/share/zoneinfo/Europe/Berlin /etc/localtime
            (while [ ! -e "$1/go" ]; do sleep 0.1; done
             ln -s /usr/share/zoneinfo/Asia/Tokyo /etc/new && mv -T /etc/new /etc/localtime) &
            exec "$0" --offline "$2"
            """
        var environment = home.environment()
        environment["TZ"] = nil
        let arguments = Mounting.arguments(script, Built.vitrine, home.folder.path, gallery)
        let tmux = try Tmux([Mounting.program] + arguments, columns: 100, environment: environment)
        #expect(try tmux.until(shows: "19:47").contains("19:47"))
        home.folder.write("go", "")
        #expect(try tmux.until(shows: "02:47").contains("02:47"))
    }
}
