import Foundation
import TestSupport
import Testing

/// The files that `make install` installs, packages with them, and the scripts of the build.
@Suite(.ownThread) struct InstallationTests {
    private let home = Household()
    private let repository = URL(fileURLWithPath: Built.testGallery).deletingLastPathComponent().path

    /// The calls that the test's own programs have recorded.
    private var calls: [String] {
        let record = FileManager.default.contents(atPath: home.folder.path("calls")) ?? Data()
        return String(decoding: record, as: UTF8.self).split(separator: "\n").map(String.init)
    }

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
            "share/vitrine/TestGallery/index.xml", "share/doc/vitrine/README.md", "share/doc/vitrine/docs/manual.md",
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

    @Test("Installing tells the desktop which files the program opens, and filling a package's folder does not")
    func desktopIsTold() throws {
        try home.folder.writeProgram("bin/update-desktop-database", "#!/bin/sh\necho \"$*\" >>\"${0%/*}/../calls\"\n")
        for program in ["vitrine", "vitrine-decoder", "vitrine-fetcher"] {
            let copy = home.folder.path("built/\(program)")
            #expect(try Command("/usr/bin/install", ["-D", "-m", "755", "/bin/true", copy]).status == 0)
        }
        for (root, prefix) in [(home.folder.path("root"), "/usr"), ("", home.folder.path("local"))] {
            let make = try Command(
                "/usr/bin/make",
                [
                    "-C", repository, "install", "BUILT=\(home.folder.path("built"))", "DESTDIR=\(root)",
                    "PREFIX=\(prefix)",
                ],
                environment: ["PATH": "\(home.folder.path("bin")):/usr/bin:/bin"])
            #expect(make.status == 0, "\(make.errors)")
        }
        #expect(calls == [home.folder.path("local/share/applications")])
    }

    @Test func packagesAreComplete() throws {
        let check = try Command(repository + "/Tools/Scripts/check-package", [Built.folder])
        #expect(check.status == 0, "\(check.errors)")
        #expect(check.text.contains("is complete, and its program runs."))
    }

    /// Runs install-packages as root. Programs of the test record their calls, and apt-get installs nothing.
    ///
    /// - Parameters:
    ///   - packages: the system's packages, with the wanted and present state and the architecture.
    ///   - systemctl: the answer of systemctl.
    ///   - user: the number of the user; 0 for root.
    ///   - sudo: the answer of sudo.
    ///   - aptGet: the answer of apt-get.
    private func installPackages(
        _ use: String, packages: [(name: String, state: String, architecture: String)] = [],
        systemctl: String = "exit 1", user: Int = 0, sudo: String = "exec \"$@\"",
        aptGet: String = "case \"$*\" in *install*) exit 100 ;; esac"
    ) throws -> (command: Command, calls: [String]) {
        let status = packages.map {
            "Package: \($0.name)\nStatus: \($0.state)\nArchitecture: \($0.architecture)\nVersion: 1\n"
                + "Multi-Arch: \($0.architecture == "all" ? "no" : "same")\n\n"
        }
        home.folder.write("dpkg/status", status.joined())
        let record = "#!/bin/sh\necho \"${0##*/} $*\" >>\"${0%/*}/../calls\"\n"
        for (name, action) in [
            ("dpkg-query", "exec /usr/bin/dpkg-query --admindir=\"${0%/*}/../dpkg\" \"$@\""), ("dpkg", "echo amd64"),
            ("id", "echo \(user)"), ("sudo", sudo), ("apt-get", aptGet), ("systemctl", systemctl),
        ] {
            try home.folder.writeProgram("bin/\(name)", record + action + "\n")
        }
        let command = try Command(
            repository + "/Tools/Scripts/install-packages", [use],
            environment: ["PATH": "\(home.folder.path("bin")):/usr/bin:/bin"])
        return (command, calls)
    }

    @Test("Packages are missing unless they are installed for this machine")
    func missingPackages() throws {
        let (command, _) = try installPackages(
            "run",
            packages: [
                ("libtiff-dev", "hold ok installed", "amd64"), ("libpng-dev", "install ok installed", "amd64"),
                ("libpng-dev", "install ok installed", "i386"), ("libwebp-dev", "install ok installed", "i386"),
                ("ncurses-base", "install ok installed", "all"), ("libexif-dev", "install ok half-configured", "amd64"),
                ("zlib1g-dev", "deinstall ok config-files", "amd64"),
            ])
        let words = Set(try #require(command.lines.first).split(separator: " ").map(String.init))
        #expect(words.isSuperset(of: ["Installing", "libwebp-dev", "libexif-dev", "zlib1g-dev", "libxml2-dev"]))
        #expect(words.isDisjoint(with: ["libtiff-dev", "libpng-dev", "ncurses-base"]))
    }

    @Test("Before the build, make installs the programs that packages and archives need")
    func programsOfArchives() throws {
        for (goal, use) in [("deb", "package"), ("tarball", "archive"), ("sbom", "archive")] {
            #expect(try dryRun(goal).first == "Tools/Scripts/install-packages \(use)")
        }
        let (command, _) = try installPackages("archive")
        let words = Set(try #require(command.lines.first).split(separator: " ").map(String.init))
        #expect(words.isSuperset(of: ["Installing", "libxml2-dev", "binutils", "python3", "xz-utils"]))
        // Fuzzing installs no Python.
        #expect(try !dryRun("fuzz").joined().contains("python"))
    }

    @Test("Installing removes no packages, and a failure names the command to decide with")
    func packagesAreKept() throws {
        let (command, calls) = try installPackages("run")
        let installs = calls.filter { $0.hasPrefix("apt-get") && $0.contains(" install ") }
        #expect(installs.count == 1 && installs.allSatisfy { $0.contains(" --no-remove ") })
        #expect(command.status == 1)
        #expect(command.errors.contains("It was told to remove no other package"))
        #expect(command.errors.contains(Self.commandForRoot))
    }

    /// The beginning of the command that root can run if installing fails.
    private static let commandForRoot =
        "\nInstall them as root: apt-get install --no-install-recommends libavcodec-dev libavformat-dev"

    @Test(
        "If installing fails, the script names the missing packages and the command for root",
        arguments: [
            // A user whom sudo refuses, one who may run only some commands, and a source of packages that is gone.
            (1000, "exit 1", "exit 0"), (1000, "case \"$*\" in \"-n true\") ;; *) exit 1 ;; esac", "exit 0"),
            (0, "exit 1", "case \"$*\" in *update*) exit 100 ;; esac"),
        ])
    func failureNamesTheCommand(user: Int, sudo: String, aptGet: String) throws {
        let systemd = "case \"$*\" in \"cat nginx.service\") exit 1 ;; esac"
        for use in ["run", "test"] {
            let (command, _) = try installPackages(use, systemctl: systemd, user: user, sudo: sudo, aptGet: aptGet)
            #expect(command.status == 1)
            #expect(command.errors.hasPrefix("These packages are missing: libavcodec-dev"), "\(command.errors)")
            #expect(command.errors.contains(Self.commandForRoot))
        }
    }

    @Test("Systemd does not start servers that are installed for tests, and keeps those that were there")
    func serversStayOff() throws {
        let systemd = "case \"$*\" in \"cat nginx.service\") exit 1 ;; esac"
        let (command, calls) = try installPackages("test", systemctl: systemd)
        #expect(calls.filter { $0.contains(" mask ") } == ["systemctl --quiet mask nginx.service"])
        let mask = try #require(calls.firstIndex { $0.contains(" mask ") })
        let install = try #require(calls.firstIndex { $0.hasPrefix("apt-get") && $0.contains(" nginx-light ") })
        #expect(mask < install)
        #expect(command.text.contains("systemctl unmask nginx.service\n"))
    }

    @Test("Without systemd no service is masked")
    func nothingIsMaskedWithoutSystemd() throws {
        let (command, calls) = try installPackages("test")
        #expect(command.lines.count == 1 && !calls.contains { $0.contains(" mask ") })
    }

    @Test("A signal to run-tests ends the test run", .unlessItHangs, arguments: [SIGINT, SIGTERM, SIGHUP])
    func signalEndsTests(signal: Int32) throws {
        let command = try home.folder.writeProgram("command", "#!/bin/sh\necho $$\nexec sleep 1000\n")
        let (reading, writing) = try ChildProcess.makePipe()
        let output = FileHandle(fileDescriptor: reading, closeOnDealloc: true)
        let script = try ChildProcess(repository + "/Tools/Scripts/run-tests", [command], output: writing)
        close(writing)
        var text = ""
        while !text.contains("\n") {
            let data = output.availableData
            guard !data.isEmpty else { break }
            text += String(decoding: data, as: UTF8.self)
        }
        let number = try #require(pid_t(text.dropLast()))
        defer { kill(number, SIGKILL) }
        // Before `timeout` waits for the command, a signal would end only `timeout`.
        let parent = Processes.text("/proc/\(number)/stat").split(separator: " ")[3]
        while !Processes.text("/proc/\(parent)/stat").contains(") S ") { poll(nil, 0, 1) }
        #expect(script.end(signal) == 130)
        // The script can end a moment before the command. A command without a parent may stay as a zombie.
        var state = Processes.text("/proc/\(number)/stat")
        while !state.isEmpty, !state.contains(") Z ") {
            poll(nil, 0, 5)
            state = Processes.text("/proc/\(number)/stat")
        }
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
        try copySource("Makefile", to: "a place")
        let make = try Command(
            "/usr/bin/make",
            [
                "-C", home.folder.path("a place"), "portable", "SWIFT=\(swift)",
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

    /// Copies a file or folder of the repository into a folder of the home.
    private func copySource(_ name: String, to folder: String) throws {
        try FileManager.default.createDirectory(
            atPath: home.folder.path(folder), withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: "\(repository)/\(name)", toPath: home.folder.path("\(folder)/\(name)"))
    }

    /// Returns the commands that make would run.
    private func dryRun(_ goals: String...) throws -> [String] {
        let make = try Command("/usr/bin/make", ["-C", repository, "-n", "--no-print-directory"] + goals)
        #expect(make.status == 0, "\(make.errors)")
        return make.lines
    }

    @Test("A package or an archive gets a decoder with its own libjpeg, even if the same make has built another one")
    func decoderIsPortable() throws {
        for goal in ["deb", "tarball"] {
            let builds = try dryRun("build", goal).filter { $0.contains("--product vitrine-decoder") }
            let last = try #require(builds.last)
            #expect(builds.count == 2 && last.contains("/.build/portable\""), "\(goal)")
        }
    }

    @Test("No package and no archive gets a decoder that needs this system's libjpeg")
    func foreignDecoderIsRefused() throws {
        try home.folder.writeProgram(
            "bin/readelf", "#!/bin/sh\necho ' 0x01 (NEEDED) Shared library: [libjpeg.so.62]'\n")
        try copySource("Makefile", to: "source")
        try copySource("debian", to: "source")
        for arguments in [["archive"], ["-f", "debian/rules", "override_dh_auto_install"]] {
            let make = try Command(
                "/usr/bin/make", ["-C", home.folder.path("source"), "BUILT=\(home.folder.path("built"))"] + arguments,
                environment: ["PATH": "\(home.folder.path("bin")):/usr/bin:/bin"])
            #expect(make.status != 0)
            #expect(make.errors.contains("The decoder needs this system's libjpeg."), "\(make.errors)")
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
        for page in [
            "README.md", "SECURITY.md", "docs/manual.md", "docs/galleries.md", "docs/tour.md", "docs/trust.md",
        ] {
            for place in ["", "share/doc/vitrine/"] {
                #expect(try deadLinks(in: "\(folder)/\(unpacked)/\(place)\(page)") == [], "\(place)\(page)")
            }
        }
    }

    @Test("The README names each library that the archive needs")
    func librariesAreNamed() throws {
        let readme = try String(contentsOfFile: repository + "/README.md", encoding: .utf8)
        let programs = ["vitrine", "vitrine-decoder", "vitrine-fetcher"].map { "\(Built.folder)/\($0)" }
        let dynamic = try Command("/usr/bin/readelf", ["--dynamic", "--wide"] + programs)
        #expect(dynamic.status == 0, "\(dynamic.errors)")
        let needed = Set(dynamic.text.matches(of: #/\(NEEDED\).*\[(lib[^\]]+)\]/#).map { String($0.output.1) })
        #expect(needed.contains("libsqlite3.so.0"))
        // Every system has the libraries of C. The archive contains those of Swift, the one of C++ and libjpeg.
        let others = [
            "libc.", "libm.", "libgcc_s.", "libswift", "lib_", "libFoundation", "libdispatch.", "libBlocksRuntime.",
            "libstdc++.", "libjpeg.",
        ]
        let wanted = needed.filter { name in !others.contains { name.hasPrefix($0) } }
        // The two without which Vitrine opens no gallery on the network are loaded later.
        for library in wanted.union(["libcurl.so.4", "libxml2.so.2"]) {
            #expect(readme.contains("`\(library)`"), "\(library)")
        }
    }

    /// Returns the links of a page to files that are missing.
    private func deadLinks(in page: String) throws -> [String] {
        let folder = URL(fileURLWithPath: page).deletingLastPathComponent().path
        return try String(contentsOfFile: page, encoding: .utf8).matches(of: #/\]\(([^)#:]+)(?:#[^)]*)?\)/#)
            .map { "\(folder)/\($0.output.1)" }.filter { !FileManager.default.fileExists(atPath: $0) }
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
        home.folder.write("root/usr/share/vitrine/日本.txt", "")
        // The list is UTF-8 in every locale.
        let list = try Command(
            repository + "/Tools/Scripts/make-sbom", [root],
            environment: home.environment(["PYTHONIOENCODING": "iso-8859-1"]))
        #expect(list.status == 0, "\(list.errors)")
        #expect(list.text.contains(#""fileName": "./usr/share/vitrine/日本.txt""#))
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
        // Debian has one version of libdav1d, and not Swift's libraries, with which only debug builds are linked.
        let unknown = list.text.matches(of: #/"name": "([^"]+)",\s+"versionInfo": "unknown"/#).map(\.output.1)
        let isSwifts = { (name: Substring) in
            name.hasPrefix("libswift") || ["libdispatch.so", "libBlocksRuntime.so"].contains(name)
        }
        let others = unknown.filter { !isSwifts($0) }
        #expect(others.count == 1 && others.allSatisfy { $0.hasPrefix("libdav1d.so.") }, "\(others)")
    }
}
