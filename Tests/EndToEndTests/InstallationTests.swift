import Foundation
import TestSupport
import Testing

/// The files that `make install` installs, packages with them, and the scripts of the build.
@Suite(.ownThread) struct InstallationTests {
    private let home = Household()
    private let repository = URL(fileURLWithPath: Built.testGallery).deletingLastPathComponent().path

    @Test func installationIsComplete() throws {
        let make = try Command(
            "/usr/bin/make",
            [
                "-C", repository, "install", "BUILT=\(Built.folder)", "DESTDIR=\(home.folder.path("root"))",
                "PREFIX=/usr",
            ])
        #expect(make.status == 0)
        let usr = home.folder.path("root/usr")
        for path in [
            "bin/vitrine", "libexec/vitrine/vitrine-decoder", "libexec/vitrine/vitrine-fetcher",
            "share/vitrine/TestGallery/index.xml",
            "share/man/man1/vitrine.1", "share/bash-completion/completions/vitrine",
            "share/zsh/site-functions/_vitrine",
            "share/fish/vendor_completions.d/vitrine.fish", "share/applications/vitrine.desktop",
            "share/metainfo/example.vitrine.vitrine.metainfo.xml", "share/icons/hicolor/scalable/apps/vitrine.svg",
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

    @Test func fileManagersOfferItForEachPictureFormat() throws {
        let entry = try String(contentsOfFile: repository + "/Tools/Desktop/vitrine.desktop", encoding: .utf8)
        let types = try #require(entry.split(separator: "\n").first { $0.hasPrefix("MimeType=") })
        for format in ["jpeg", "png", "gif", "webp", "tiff", "heic", "avif"] {
            #expect(types.contains("image/\(format);"), "\(format)")
        }
        #expect(types.contains("inode/directory;"))
        // A folder or a picture is one argument.
        #expect(entry.contains("\nExec=vitrine %f\n") && entry.contains("\nTerminal=true\n"))
    }

    @Test func packagesAreComplete() throws {
        let check = try Command(repository + "/Tools/Scripts/check-package", [Built.folder])
        #expect(check.status == 0, "\(check.errors)")
        #expect(check.text.contains("is complete, and its program runs."))
    }

    @Test("Vitrine can be built in a folder with a space, and contains only libraries of this machine")
    func builtInAnyFolder() throws {
        let machine = try #require(try Command("/usr/bin/uname", ["-m"]).lines.first)
        let wanted = ["\(machine)-linux-gnu/libjpeg.a", "gcc/\(machine)-linux-gnu/12/libstdc++.a"]
        for file in wanted + ["z80-linux-gnu/libjpeg.a", "gcc/\(machine)-w64-mingw32/12/libstdc++.a"] {
            home.folder.write("lib/\(file)", "")
        }
        let swift = try home.folder.writeProgram("swift", "#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
        try home.folder.writeProgram("a place/Tools/Scripts/install-packages", "#!/bin/sh\n")
        let make = try Command(
            "/usr/bin/make",
            [
                "-C", home.folder.path("a place"), "-f", repository + "/Makefile", "portable", "SWIFT=\(swift)",
                "LIBRARIES=\(home.folder.path("lib"))",
            ])
        #expect(make.status == 0, "\(make.errors)")
        #expect(make.lines.contains { $0.hasPrefix("-L/") && $0.hasSuffix("/a place/.build/portable") })
        #expect(make.lines.contains { $0.hasPrefix("/") && $0.hasSuffix("/a place=.") })
        let links = home.folder.path("a place/.build/portable")
        #expect(home.folder.entries("a place/.build/portable") == ["libjpeg.a", "libstdc++.a"])
        for file in wanted {
            let link = "\(links)/\(file.split(separator: "/").last ?? "")"
            let target = try FileManager.default.destinationOfSymbolicLink(atPath: link)
            #expect(target == home.folder.path("lib/\(file)"))
        }
    }

    @Test func archiveRunsFromAnyFolder() throws {
        let folder = home.folder.path("any folder")
        let make = try Command(
            "/usr/bin/make",
            [
                "-C", repository, "archive", "BUILT=\(Built.folder)", "STAGE=\(home.folder.path("a stage"))",
                "ARCHIVE=\(home.folder.path("an archive.tar"))", "COMPRESSION=",
            ])
        #expect(make.status == 0, "\(make.errors)")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        #expect(try Command("/bin/tar", ["-C", folder, "-xf", home.folder.path("an archive.tar")]).status == 0)
        let unpacked = try #require(FileManager.default.contentsOfDirectory(atPath: folder).first)
        let show = try Command(
            "\(folder)/\(unpacked)/bin/vitrine",
            ["show", "--size", "10x5", "\(folder)/\(unpacked)/share/vitrine/TestGallery/images/owl.jpg"],
            environment: home.environment())
        #expect(show.status == 0 && show.lines.count == 5, "\(show.errors)")
    }

    /// Checks a list with the validator of the SPDX project, and prints the mistakes.
    private static let validator = """
        import json, sys
        from spdx_tools.spdx.parser.jsonlikedict.json_like_dict_parser import JsonLikeDictParser
        from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document
        for mistake in validate_full_spdx_document(JsonLikeDictParser().parse(json.load(open(sys.argv[1])))):
            print(mistake.validation_message)
        """

    @Test("The list of an installation's contents is valid SPDX, and names its files and libraries")
    func contents() throws {
        let root = home.folder.path("root")
        let make = try Command(
            "/usr/bin/make", ["-C", repository, "install", "BUILT=\(Built.folder)", "DESTDIR=\(root)", "PREFIX=/usr"])
        #expect(make.status == 0)
        let list = try Command(repository + "/Tools/Scripts/make-sbom", [root])
        #expect(list.status == 0, "\(list.errors)")
        func mistakes(_ text: String) throws -> String {
            let command = try Command(
                "/usr/bin/python3", ["-c", Self.validator, home.folder.write("list.json", text)],
                environment: ["PYTHONPATH": Built.testServers])
            #expect(command.status == 0, "\(command.errors)")
            return command.text
        }
        #expect(try mistakes(list.text) == "")
        #expect(try mistakes(list.text.replacing("CC0-1.0", with: "MIT")).contains("data_license"))
        #expect(list.text.contains(#""fileName": "./usr/bin/vitrine""#))
        for library in ["libsqlite3.so.0", "libpng16.so.16", "libcurl.so.4"] {
            #expect(list.text.contains(#""name": "\#(library)""#), "\(library)")
        }
    }
}
