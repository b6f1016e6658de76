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
