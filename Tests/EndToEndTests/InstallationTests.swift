import Foundation
import TestSupport
import Testing

/// The files that `make install` installs.
@Suite(.ownThread) struct InstallationTests {
    private let home = Household()

    @Test func installationIsComplete() throws {
        let repository = URL(fileURLWithPath: Built.testGallery).deletingLastPathComponent().path
        let make = try Command(
            "/usr/bin/make",
            [
                "-C", repository, "install", "BUILT=\(Built.folder)", "DESTDIR=\(home.folder.path("root"))",
                "PREFIX=/usr",
            ])
        #expect(make.status == 0)
        let usr = home.folder.path("root/usr")
        for path in [
            "bin/vitrine", "libexec/vitrine/vitrine-decoder", "share/vitrine/TestGallery/index.xml",
            "share/man/man1/vitrine.1", "share/bash-completion/completions/vitrine",
            "share/zsh/site-functions/_vitrine",
            "share/fish/vendor_completions.d/vitrine.fish",
        ] {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(usr)/\(path)")
            #expect(try #require(attributes[.posixPermissions] as? Int) & 0o444 == 0o444, "\(path)")
            #expect(try #require(attributes[.size] as? Int) > 0, "\(path)")
        }
        // The program finds the installed decoder.
        let show = try Command(
            "\(usr)/bin/vitrine", ["show", "--size", "10x5", "\(usr)/share/vitrine/TestGallery/images/owl.jpg"],
            environment: home.environment())
        #expect(show.status == 0 && show.lines.count == 5)
        let page = try Command("\(usr)/bin/vitrine", ["man"], environment: home.environment())
        #expect(Array(FileManager.default.contents(atPath: "\(usr)/share/man/man1/vitrine.1") ?? Data()) == page.output)
        let installed =
            FileManager.default.contents(atPath: "\(usr)/share/bash-completion/completions/vitrine") ?? Data()
        #expect(try home.vitrine("completions", "bash").output == Array(installed))
    }
}
