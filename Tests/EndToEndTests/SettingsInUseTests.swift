import Foundation
import TestSupport
import Testing

/// Settings with an effect on transfers and the cache.
@Suite(.ownThread, .serialized) struct SettingsInUseTests {
    private let home = Household()

    @Test("BEHAVIOURS 5.10: Vitrine uses the user's netrc if only the user can read it")
    func netrc() throws {
        let server = try Nginx(serving: Built.testGallery, users: ["me": "s3cret"])
        let usual = home.folder.write(".netrc", "machine 127.0.0.1 login me password s3cret\n")
        chmod(usual, 0o644)
        let open = try home.vitrine("sync", "--list-only", server.url("/index.xml"))
        #expect(
            open.status == 1
                && open.errors.contains("other users can read the file; run chmod 600. Vitrine ignores the file."))
        chmod(usual, 0o600)
        #expect(try home.vitrine("sync", "--list-only", server.url("/index.xml")).status == 0)
        // A named netrc replaces the default one and must exist.
        let other = home.folder.write("other", "machine 127.0.0.1 login me password wrong\n")
        chmod(other, 0o600)
        #expect(try home.vitrine("sync", "--netrc=\(other)", "--list-only", server.url("/index.xml")).status == 1)
        #expect(try home.vitrine("sync", "--netrc=/nothing", server.url("/index.xml")).status == 2)
    }

    @Test(arguments: ["ca-file", "client-certificate"]) func filesThatAreNamedHaveToBeThere(option: String) throws {
        let command = try home.vitrine("sync", "--\(option)=/nothing.pem", Built.testGallery)
        #expect(command.status == 2 && command.errors == "vitrine: /nothing.pem: No such file or directory.\n")
    }

    @Test("BEHAVIOURS 6.6: A connection setting takes effect after the user has corrected what it names")
    func corrected() throws {
        let authority = try TestAuthority()
        let list = """
            <album><photo id="1" name="Lake" date="2006-07-30T07:47:17Z"><image kind="image" srcURL="p.jpg"/></photo>
            </album>
            """
        let server = try LoopbackServer.nginx(authority.issue(.good), files: ["index.xml": Array(list.utf8)])
        let session = try TerminalSession(
            arguments: [server.url("/index.xml", scheme: "https")], columns: 250, environment: home.environment())
        #expect(session.until(shows: "The update failed"))
        let certificates = home.folder.path("authority.pem")
        home.folder.write(".config/vitrine/config", "ca-file = \(certificates)\n")
        let reload = "\u{1B}[15~"
        session.type(reload)
        #expect(session.until(shows: "Settings reloaded."))
        // Escape shows the next notice.
        session.type("\u{1B}")
        #expect(session.until(shows: "Vitrine keeps using the previous connection settings."))
        try FileManager.default.copyItem(atPath: authority.certificate, toPath: certificates)
        session.type(reload)
        // The former fetcher may still make the first of these updates.
        var updates = 0
        repeat {
            session.type("r")
            updates += 1
        } while !session.until(seconds: 2, shows: "Lake") && updates < 30
        #expect(session.screen.text.contains("Lake"))
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test("BEHAVIOURS 6.5: options clear setup and cache separately")
    func clearing() throws {
        let list = home.folder.write(".config/vitrine/galleries", "http://example.org/x.xml\n")
        let place = home.folder.write(".local/state/vitrine/place", "gallery=http://example.org/x.xml\n")
        let places = home.folder.write(".local/state/vitrine/places", "gallery=http://example.org/x.xml\n")
        #expect(try home.vitrine("sync", Built.testGallery).status == 0)
        #expect(try home.vitrine("list", "--clear-setup", Built.testGallery).lines.count == 28)
        #expect([list, place, places].allSatisfy { !FileManager.default.fileExists(atPath: $0) })
        // Clearing again succeeds although nothing is left.
        #expect(try home.vitrine("list", "--clear-setup", Built.testGallery).status == 0)
        #expect(try home.vitrine("list", "--clear-cache", Built.testGallery).status == 1)
        #expect(try home.vitrine("cache", "info").text.hasPrefix("0 galleries"))
    }
}
