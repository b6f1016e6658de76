import Foundation
import SQLite
import TestSupport
import Testing

/// The commands without a screen, as scripts use them.
@Suite(.ownThread, .serialized) struct CommandTests {
    private let home = Household()

    @Test func syncFillsTheCache() throws {
        let server = try Nginx(serving: Built.testGallery)
        let list = try home.vitrine("sync", "--list-only", server.url("/index.xml"))
        #expect(list.status == 0 && list.text == "\(server.url("/index.xml"))\t28 photos\n")
        #expect(try server.paths() == ["/index.xml"])
        let thumbnails = try home.vitrine("sync", server.url("/index.xml"))
        #expect(thumbnails.status == 0 && thumbnails.text.hasSuffix("28 photos, 28 thumbnails\n"))
        #expect(try server.paths().count == 30)
        // An unchanged list costs one request.
        #expect(try home.vitrine("sync").status == 0)
        #expect(try server.paths().count == 31)
        let photos = try home.vitrine("sync", "--photos", "--all")
        #expect(photos.text.hasSuffix("28 photos, 28 thumbnails, 28 photos cached\n"))
        server.stop()
        let failed = try home.vitrine("sync")
        #expect(failed.status == 1 && failed.errors.contains("cannot be reached"))
        #expect(try home.vitrine("list", server.url("/index.xml")).lines.count == 28)
    }

    @Test("A gallery that is named twice is updated once")
    func repeatedGallery() throws {
        let twice = try home.vitrine("sync", "--list-only", Built.testGallery, Built.testGallery + "/")
        #expect(twice.status == 0 && twice.lines.count == 1 && twice.text.hasSuffix("\t28 photos\n"), "\(twice.text)")
    }

    @Test func listPrintsCachedPhotos() throws {
        let missing = Built.testGallery + "/missing.xml"
        #expect(try home.vitrine("sync", missing).status == 1)
        for arguments in [["list", Built.testGallery], ["list", missing], ["info", missing + "#owl"]] {
            let command = try Command(Built.vitrine, arguments, environment: home.environment())
            #expect(command.status == 1 && command.errors.contains("has never fetched"), "\(command.errors)")
        }
        _ = try home.vitrine("sync", "--list-only", Built.testGallery)
        let list = try home.vitrine("list", Built.testGallery)
        #expect(list.lines.first == "dawn-ridge\t2006-07-30T07:47:17Z\tDawn over the ridge\tnothing")
        #expect(list.lines.count == 28 && list.status == 0)
        let json = try home.vitrine("list", "--json", Built.testGallery)
        let photos = try #require(try JSONSerialization.jsonObject(with: Data(json.output)) as? [[String: Any]])
        #expect(photos.count == 28 && photos[0]["id"] as? String == "dawn-ridge")
        #expect(photos[0]["photo"] as? Bool == false && photos[0]["trouble"] is NSNull)
        #expect(photos[0]["kind"] as? String == "list" && photos[0]["folder"] == nil)
    }

    @Test(
        "BEHAVIOURS 1: every list of the TestGallery follows the rules",
        arguments: [
            ("index.xml", "28 photos", 0), ("index-big.xml", "110 photos", 0), ("index-empty.xml", "0 photos", 0),
            ("changes-A.xml", "10 photos", 0), ("changes-B.xml", "10 photos", 0),
            ("broken-xml.xml", "The gallery file has an error in line", 1), ("html.xml", "This is a web page", 1),
            ("text.xml", "This is a text file, not a gallery", 1), ("empty.xml", "The gallery file is empty", 1),
            ("missing.xml", "cannot be read", 1),
        ])
    func lists(name: String, says: String, status: Int) throws {
        let command = try home.vitrine("sync", "--list-only", "\(Built.testGallery)/\(name)")
        #expect(command.status == Int32(status) && (command.text + command.errors).contains(says))
    }

    @Test("A folder without photos is refused")
    func folderWithoutPhotos() throws {
        home.folder.write("papers/letter.txt", Array("Dear".utf8))
        let path = home.folder.path("papers")
        let papers = try home.vitrine(path)
        #expect(papers.status == 1)
        #expect(
            papers.errors == "vitrine: \(path) has no photos, and no gallery.xml or index.xml that lists photos.\n")
    }

    @Test("A folder of photos is a gallery, and so is the folder of a named photo")
    func folderOfPhotos() throws {
        home.folder.write("my holiday/day 1/a.jpg", [0xFF, 0xD8, 0xFF, 0xE0] + [UInt8](repeating: 0, count: 20))
        home.folder.write("my holiday/b.PNG", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        for name in ["my holiday", "my holiday/b.PNG"] {
            let path = home.folder.path(name)
            #expect(try home.vitrine("sync", path).text.contains("2 photos"))
            let names = try home.vitrine("list", path).lines.map { $0.split(separator: "\t")[0] }
            #expect(Set(names) == ["b.PNG", "day 1/a.jpg"])
        }
        #expect(home.folder.entries("my holiday") == ["b.PNG", "day 1"])
    }

    @Test func brokenPhotosAreLeftOutAlone() throws {
        let attributes = try home.vitrine("sync", "--list-only", Built.testGallery + "/broken-attributes.xml")
        #expect(attributes.status == 0 && attributes.text.contains("skipped"))
        let names = try home.vitrine("list", Built.testGallery + "/broken-attributes.xml").lines.map {
            $0.split(separator: "\t")[2]
        }
        #expect(
            names == [
                "Three pears", "Fraction of a second", "Two hours ahead", "Twice the mountain", "On the shelf",
                "Cup & saucer",
            ])
        let images = try home.vitrine("sync", Built.testGallery + "/broken-images.xml")
        #expect(images.status == 1 && images.text.contains("failed"))
    }

    @Test func oddballsAreDrawn() throws {
        let command = try home.vitrine("sync", "--photos", Built.testGallery + "/oddballs.xml")
        #expect(command.status == 0)
        // Missing thumbnails are made.
        #expect(
            command.text.split(separator: ",")[1].hasPrefix(
                " \(command.text.split(separator: "\t")[1].prefix { $0.isNumber }) "))
    }

    @Test func infoKnowsTheCamera() throws {
        let info = try home.vitrine("info", Built.testGallery + "/images/dawn-ridge.jpg")
        #expect(info.status == 0 && info.text.contains("Vitrine Procedural 1") && info.text.contains("1/125 s"))
        let json = try home.vitrine("info", "--json", Built.testGallery + "/images/dawn-ridge.jpg")
        let facts = try #require(try JSONSerialization.jsonObject(with: Data(json.output)) as? [String: Any])
        #expect(facts["width"] as? Int == 1600 && facts["iso"] as? Int == 100)
        #expect(try home.vitrine("info", Built.testGallery + "/index.xml").status == 1)
        #expect(try home.vitrine("info", Built.testGallery + "#dawn-ridge").status == 1)
        _ = try home.vitrine("sync", "--list-only", Built.testGallery)
        #expect(try home.vitrine("info", Built.testGallery + "#dawn-ridge").text.contains("Dawn over the ridge"))
        #expect(try home.vitrine("info", Built.testGallery + "#nobody").status == 1)
    }

    @Test(arguments: ["half", "ascii", "ramp", "quad", "sextant"]) func showDrawsOnly(symbols: String) throws {
        let command = try home.vitrine(
            "show", "--size", "40x20", "--symbols", symbols, "--colors", "none", Built.testGallery + "/images/owl.jpg")
        #expect(command.status == 0 && command.errors.isEmpty)
        #expect(command.lines.count == 20 && command.lines.allSatisfy { $0.count <= 40 })
        if symbols == "ascii" || symbols == "ramp" {
            #expect(command.output.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0A })
        }
        let several = try home.vitrine(
            "show", "--size", "10x5", Built.testGallery + "/images/owl.jpg", Built.testGallery + "/index.xml",
            Built.testGallery + "/images/moon.jpg")
        #expect(several.status == 1 && several.lines.count == 9 && several.errors.contains("not a picture"))
    }

    @Test func showDrawsTransparencyOverTheSetBackground() throws {
        func colours(_ arguments: String...) throws -> Set<String> {
            let command = try Command(
                Built.vitrine,
                ["show", "--size", "40x20", "--symbols", "half", "--colors", "full"] + arguments
                    + [Built.testGallery + "/images/alpha.png"],
                environment: home.environment())
            #expect(command.status == 0 && command.errors.isEmpty)
            return Set(command.text.matches(of: /[34]8;2;\d+;\d+;\d+/).map { String($0.output.dropFirst(5)) })
        }
        let greys: Set = ["153;153;153", "102;102;102"]
        #expect(try colours("--transparency=chequer").isSuperset(of: greys))
        #expect(try colours().isDisjoint(with: greys) && colours().contains("0;0;0"))
        home.folder.write(".config/vitrine/config", "transparency = chequer\n")
        #expect(try colours().isSuperset(of: greys))
    }

    @Test func showSendsPixels() throws {
        let owl = Built.testGallery + "/images/owl.jpg"
        for (language, introducer) in [
            ("sixel", "\u{1B}P0;1;0q\"1;1;300;400#"), ("kitty", "\u{1B}_Ga=T,f=100,c=30,r=20,"),
            ("iterm", "\u{1B}]1337;File=inline=1;"),
        ] {
            let command = try home.vitrine("show", "--size", "40x20", "--pixels", language, owl)
            #expect(command.status == 0 && command.errors.isEmpty)
            // The output makes space, moves up, draws the picture, and moves below it.
            let rows = command.text.prefix { $0 == "\n" }.count
            #expect((1...20).contains(rows))
            let picture = command.text.dropFirst(rows)
            #expect(picture.hasPrefix("\u{1B}[\(rows)A\u{1B}7\(introducer)"), "\(language)")
            #expect(picture.hasSuffix("\u{1B}8\u{1B}[\(rows)B\r"))
        }
        let none = try home.vitrine("show", "--size", "10x5", "--pixels", "none", owl)
        #expect(none.status == 0 && none.lines.count <= 5)
    }

    /// Files are drawn in order although they decode concurrently.
    @Test func showKeepsTheOrder() throws {
        let names = ["owl", "moon", "snow", "tulips", "jetty", "balloon", "no-such-picture", "owl", "moon", "snow"]
        let files = names.map { "\(Built.testGallery)/images/\($0).jpg" }
        let together = try Command(
            Built.vitrine, ["show", "--size", "12x6", "--colors", "full"] + files, environment: home.environment())
        let apart = try files.flatMap { try home.vitrine("show", "--size", "12x6", "--colors", "full", $0).lines }
        #expect(together.status == 1 && together.lines == apart && together.errors.contains("no-such-picture"))
    }

    @Test func cacheIsLookedAfter() throws {
        let linked = try LinkedTestGallery()
        _ = try home.vitrine("sync", "--photos", linked.path)
        let info = try home.vitrine("cache", "info")
        #expect(info.status == 0 && info.lines.count == 2 && info.text.contains("28 photos"))
        #expect(try home.vitrine("cache", "check").text.contains("good, 28 photos"))
        let photos = try #require(home.folder.entries(".cache/vitrine/galleries").first)
        let folder = ".cache/vitrine/galleries/\(photos)/photos"
        let file = try #require(home.folder.entries(folder).first)
        home.folder.write("\(folder)/\(file)", "broken")
        home.folder.write("\(folder)/orphan", "orphan")
        let check = try home.vitrine("cache", "check")
        #expect(check.text.contains("1 broken photo to fetch again; 1 unused file removed"))
        #expect(try home.vitrine("cache", "check").text.contains("good, 27 photos"))
        // An open browser keeps its cache.
        let session = try TerminalSession(arguments: [linked.path], environment: home.environment())
        #expect(session.until(shows: "Dawn over the ridge"))
        #expect(try home.vitrine("cache", "clear", "--all").status == 4)
        // Removing photos works while another program uses the cache.
        #expect(try home.vitrine("cache", "clear", "--photos", "--all").text == "27 photos removed\n")
        session.type("Q")
        #expect(session.wait() == 0)
        // The fetcher holds the cache until it has stored everything.
        #expect(home.waitForPrograms())
        #expect(try home.vitrine("cache", "clear", linked.path).status == 0)
        #expect(try home.vitrine("cache", "info").lines == ["0 galleries\t0 B"])
    }

    /// Metadata stays when the photo's file is removed.
    @Test func photosAloneAreCleared() throws {
        let linked = try LinkedTestGallery()
        _ = try home.vitrine("sync", "--photos", linked.path)
        let photo = linked.path + "#lighthouse"
        let whole = try facts("info", "--json", photo)
        #expect(whole["exif"] is [String: Any] && whole["file"] is String)
        let clear = try home.vitrine("cache", "clear", "--photos", linked.path)
        #expect(clear.status == 0 && clear.text == "28 photos removed\n")
        #expect(try home.vitrine("cache", "clear", "--photos", "--all").text == "0 photos removed\n")
        #expect(try home.vitrine("list", linked.path).lines.allSatisfy { $0.hasSuffix("\tthumbnail") })
        let info = try home.vitrine("info", photo)
        #expect(info.status == 0 && info.text.contains("Vitrine Procedural 1"))
        let rest = try facts("info", "--json", photo)
        var expected = whole
        for name in ["exif", "file", "bytes", "state"] { expected[name] = nil }
        #expect(rest.filter { $0.key != "state" } as NSDictionary == expected as NSDictionary)
        #expect(rest["latitude"] is Double && rest["taken"] is String && rest["orientation"] as? Int == 6)
        // Fetching the photo again brings its other fields back.
        _ = try home.vitrine("sync", "--photos", linked.path)
        let again = try facts("info", "--json", photo)
        #expect(again["exif"] as? NSDictionary == whole["exif"] as? NSDictionary)
    }

    /// A broken file is reported, and its stored metadata is printed.
    @Test func infoOfABrokenFilePrintsStoredMetadata() throws {
        let linked = try LinkedTestGallery()
        _ = try home.vitrine("sync", "--photos", linked.path)
        let file = try #require(try facts("info", "--json", linked.path + "#dawn-ridge")["file"] as? String)
        try Data("broken".utf8).write(to: URL(fileURLWithPath: file))
        let info = try home.vitrine("info", linked.path + "#dawn-ridge")
        #expect(info.status == 1 && info.text.contains("Vitrine Procedural 1") && !info.errors.isEmpty)
        #expect(!info.lines.contains { $0.hasPrefix("error ") })
        let broken = try facts("info", "--json", linked.path + "#dawn-ridge")
        #expect(broken["width"] is Int && broken["error"] is String)
    }

    private func facts(_ arguments: String...) throws -> [String: Any] {
        let command = try Command(Built.vitrine, arguments, environment: home.environment())
        return try #require(try JSONSerialization.jsonObject(with: Data(command.output)) as? [String: Any])
    }

    @Test func cacheInfoSaysWhatTakesTheRoom() throws {
        let linked = try LinkedTestGallery()
        _ = try home.vitrine("sync", "--photos", linked.path)
        let gallery = try #require(home.folder.entries(".cache/vitrine/galleries").first)
        let folder = ".cache/vitrine/galleries/\(gallery)"
        home.folder.write("\(folder)/gallery.sqlite.damaged-1", String(repeating: "x", count: 5_000))
        let path = home.folder.path("\(folder)/gallery.sqlite")
        try Connection(path: path, access: .readWrite).execute("UPDATE gallery SET is_kept = 1")
        let line = try #require(try home.vitrine("cache", "info").lines.first).components(separatedBy: "\t")
        #expect(line.count == 8 && line[1] == "28 photos" && line[6] == "kept" && line[7].hasPrefix("updated 20"))
        for (field, name) in zip(line[2...5], ["list ", "thumbnails ", "photos ", "set aside 5.0 KB"]) {
            #expect(field.hasPrefix(name) && field.hasSuffix("B") && !field.hasSuffix(" 0 B"), "\(field)")
        }
    }

    @Test func searchIndexIsCheckedAndRebuilt() throws {
        _ = try home.vitrine("sync", "--list-only", Built.testGallery)
        let gallery = try #require(home.folder.entries(".cache/vitrine/galleries").first)
        let path = home.folder.path(".cache/vitrine/galleries/\(gallery)/gallery.sqlite")
        try Connection(path: path, access: .readWrite).execute("UPDATE photo SET name = 'Nobody knows' WHERE key = 3")
        let check = try home.vitrine("cache", "check")
        #expect(check.status == 0 && check.text.contains("rebuilt the damaged search index"))
        #expect(try home.vitrine("cache", "check").text.contains("good, 0 photos"))
    }

    @Test func damagedCachesAreNotPassedOver() throws {
        let other = Built.testGallery + "/index-big.xml"
        for gallery in [Built.testGallery, other] { _ = try home.vitrine("sync", "--list-only", gallery) }
        for gallery in home.folder.entries(".cache/vitrine/galleries") {
            home.folder.write(".cache/vitrine/galleries/\(gallery)/gallery.sqlite", "no database at all")
        }
        let info = try home.vitrine("cache", "info")
        #expect(info.status == 1 && info.lines.count == 3 && info.errors.contains("is damaged"))
        let check = try home.vitrine("cache", "check", "--all")
        #expect(check.status == 1 && check.lines.count == 2 && check.lines.allSatisfy { $0.contains("is damaged") })
        // An unreadable cache does not know its gallery, so the command must name it.
        let mended = try home.vitrine("cache", "check", other)
        #expect(mended.status == 1 && mended.text.contains("set aside"))
        #expect(try home.vitrine("cache", "check", other).text.contains("good, 0 photos"))
        #expect(try home.vitrine("cache", "clear", "--all").text == "2 caches removed\n")
        #expect(home.folder.entries(".cache/vitrine/galleries").isEmpty)
    }

    /// Returns the path of the only cache's file with this name.
    private func file(_ name: String) throws -> String {
        let gallery = try #require(home.folder.entries(".cache/vitrine/galleries").first)
        return "\(home.caches)/galleries/\(gallery)/\(name)"
    }

    /// Holds the lock of a cache as another process does, while `body` runs.
    private func holding<Result>(_ lock: String, _ kind: Int32, _ body: () throws -> Result) throws -> Result {
        let descriptor = open(lock, O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        let isLocked = flock(descriptor, kind | LOCK_NB) == 0
        try #require(isLocked)
        return try body()
    }

    @Test("If another process uses a cache that a command needs, the exit code is 4")
    func cachesInUse() throws {
        _ = try home.vitrine("sync", "--list-only", Built.testGallery)
        let owl = Built.testGallery + "/images/owl.jpg"
        try holding(try file("lock"), LOCK_EX) {
            let check = try home.vitrine("cache", "check")
            #expect(check.status == 4 && check.text.contains("is in use by another process"))
            let info = try home.vitrine("info", "--json", Built.testGallery + "#owl", owl)
            #expect(info.status == 4 && info.lines.count == 4)
        }
        let path = try file("gallery.sqlite")
        try Connection(path: path, access: .readWrite).execute("PRAGMA user_version = -1")
        try holding(try file("lock"), LOCK_SH) {
            let check = try home.vitrine("cache", "check", Built.testGallery)
            #expect(check.status == 4 && check.text.contains("is damaged and in use by another process"))
        }
    }

    @Test("The check names damage that Vitrine repairs at the next opening")
    func damageThatOnlyTheCheckFinds() throws {
        _ = try home.vitrine("sync", "--list-only", Built.testGallery)
        let path = try file("gallery.sqlite")
        let page = try Connection(path: path, access: .readWrite).first(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'photo_by_name'"
        ) { Int($0.int(0)) }
        try DatabaseMutation.page(try #require(page) - 1, 0xA5).apply(to: path)
        let check = try home.vitrine("cache", "check")
        #expect(check.status == 1, "\(check.text)")
        #expect(check.text.contains("Vitrine replaces the damaged database at the next opening"), "\(check.text)")
        _ = try home.vitrine("cache", "check")
        #expect(try home.vitrine("cache", "check").text.hasSuffix("\tgood, 0 photos\n"))
    }

    @Test("The option that removes all caches leaves those in use, and the exit code is 4")
    func clearingPassesOverCachesInUse() throws {
        let other = Built.testGallery + "/index-big.xml"
        _ = try home.vitrine("sync", "--list-only", Built.testGallery)
        let used = try #require(home.folder.entries(".cache/vitrine/galleries").first)
        // Vitrine removes the cache of the gallery that was opened last first.
        let path = try file("gallery.sqlite")
        try Connection(path: path, access: .readWrite).execute("UPDATE gallery SET last_opened = 1000000")
        let lock = try file("lock")
        _ = try home.vitrine("sync", "--list-only", other)
        try holding(lock, LOCK_SH) {
            let list = try home.vitrine("list", "--clear-cache", Built.testGallery)
            #expect(list.status == 4 && list.text.isEmpty && list.errors.contains("is in use by another process"))
        }
        #expect(home.folder.entries(".cache/vitrine/galleries") == [used])
    }

    @Test func cachesOfANewerVitrineAreLeftAlone() throws {
        _ = try home.vitrine("sync", "--list-only", Built.testGallery)
        let gallery = try #require(home.folder.entries(".cache/vitrine/galleries").first)
        let path = home.caches + "/galleries/\(gallery)/gallery.sqlite"
        try Connection(path: path, access: .readWrite).execute("PRAGMA user_version = 999")
        for arguments in [["sync", Built.testGallery], ["cache", "check", "--all"], ["cache", "info"]] {
            let command = try Command(Built.vitrine, arguments, environment: home.environment())
            #expect(command.status == 1)
            #expect((command.errors + command.text).contains("or remove the cache with “vitrine cache clear”"))
        }
        #expect(try home.vitrine("cache", "clear", Built.testGallery).status == 0)
        #expect(try home.vitrine("sync", "--list-only", Built.testGallery).status == 0)
    }

    @Test("An unusable cache does not keep Vitrine from updating other galleries")
    func unusableCacheAmongOthers() throws {
        let (unusable, other) = (Built.testGallery, Built.testGallery + "/index-big.xml")
        _ = try home.vitrine("sync", "--list-only", unusable)
        let gallery = try #require(home.folder.entries(".cache/vitrine/galleries").first)
        let path = home.caches + "/galleries/\(gallery)/gallery.sqlite"
        try Connection(path: path, access: .readWrite).execute("PRAGMA user_version = 999")
        home.folder.write(".config/vitrine/galleries", "file://\(unusable)\nfile://\(other)\n")
        for names in [[], [unusable, other]] {
            let sync = try Command(
                Built.vitrine, ["sync", "--list-only"] + names, environment: home.environment())
            #expect(sync.status == 1 && sync.lines.count == 1 && sync.text.hasSuffix("\t110 photos\n"), "\(sync.text)")
            #expect(sync.errors.hasPrefix("vitrine: ") && sync.errors.contains("by a newer version of Vitrine"))
        }
    }

    @Test("If all caches are unusable, Vitrine names each, and the exit code is the worst of them")
    func unusableCaches() throws {
        let galleries = [Built.testGallery, Built.testGallery + "/index-big.xml"]
        for gallery in galleries { _ = try home.vitrine("sync", "--list-only", gallery) }
        for name in home.folder.entries(".cache/vitrine/galleries") {
            let path = home.caches + "/galleries/\(name)/gallery.sqlite"
            try Connection(path: path, access: .readWrite).execute("PRAGMA user_version = 999")
        }
        let sync = try Command(Built.vitrine, ["sync"] + galleries, environment: home.environment())
        #expect(sync.status == 1 && sync.text.isEmpty)
        #expect(galleries.allSatisfy { sync.errors.contains("vitrine: file://\($0): ") }, "\(sync.errors)")
    }

    /// Runs a command with this standard output.
    private func run(
        _ arguments: [String], output: Int32, _ variables: [String: String] = [:]
    ) throws -> (status: Int32, errors: String) {
        let path = home.folder.write("errors", "")
        let errors = open(path, O_WRONLY | O_CLOEXEC)
        defer { close(errors) }
        let command = try ChildProcess(
            Built.vitrine, arguments, environment: home.environment(variables), output: output, errors: errors)
        return (command.wait(), try String(contentsOfFile: path, encoding: .utf8))
    }

    @Test("If the disk behind standard output is full, Vitrine says so once, and the exit code is 1")
    func fullOutput() throws {
        _ = try home.vitrine("sync", "--list-only", Built.testGallery)
        let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(full) }
        for arguments in [["list", Built.testGallery], ["sync", "--list-only", Built.testGallery], ["--help"]] {
            let (status, errors) = try run(arguments, output: full)
            #expect(status == 1, "\(arguments)")
            #expect(errors == "vitrine: Vitrine cannot write to standard output: No space left on device.\n")
        }
    }

    @Test(
        "Vitrine waits for a busy standard output, and drops all results after a failed one",
        arguments: [(EAGAIN, 28, 0 as Int32), (ENOSPC, 2, 1 as Int32)])
    func resultsWithoutGaps(error: Int32, count: Int, status: Int32) throws {
        _ = try home.vitrine("sync", "--list-only", Built.testGallery)
        let whole = try home.vitrine("list", Built.testGallery).lines
        let path = home.folder.write("results", "")
        let results = open(path, O_WRONLY | O_CLOEXEC)
        defer { close(results) }
        let faults = Faults(in: path, .error(error, 3...3), only: .init(name: "write", path: "results"))
        let command = try run(["list", Built.testGallery], output: results, faults.environment)
        #expect(command.status == status && command.errors.isEmpty == (status == 0), "\(command.errors)")
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
        #expect(lines == Array(whole.prefix(count)))
    }

    @Test("A closed pipe ends a command that only prints, and other commands do not end with exit code 0")
    func closedPipe() throws {
        let sync = ["sync", "--list-only", Built.testGallery]
        for (arguments, code) in [(sync, 128 + SIGPIPE), (["list", Built.testGallery], 0)] {
            let (reading, writing) = try ChildProcess.makePipe()
            close(reading)
            defer { close(writing) }
            let (status, errors) = try run(arguments, output: writing)
            #expect(status == code && errors.isEmpty, "\(arguments): \(errors)")
        }
    }

    @Test func mistakesAreReported() throws {
        for (arguments, says) in [
            (["--nonsense"], "--nonsense"), (["list"], "Missing"), (["sync", "ftp://x/"], "ftp:"),
            (["show", "--size", "big", "x"], "80x24"), (["cache", "burn"], "burn"), (["one", "two"], "two"),
            (["--config", "/nowhere", "list", "x"], "/nowhere"), (["--sync-interval", "soon"], "soon"),
        ] {
            let command = try Command(Built.vitrine, arguments, environment: home.environment())
            #expect(command.status == 2, "\(arguments)")
            #expect(command.errors.hasPrefix("vitrine: ") && command.errors.contains(says), "\(command.errors)")
        }
        home.folder.write(".config/vitrine/config", "# mine\nrow-height = 4\nsymbols = braille\nnonsense\n")
        let command = try home.vitrine("cache", "info")
        #expect(command.status == 0)
        #expect(command.errors.contains("config:3:") && command.errors.contains("auto, ascii, ramp, half"))
        #expect(command.errors.contains("config:4:"))
    }

    @Test("A path that is not UTF-8 is reported, and no other folder is made")
    func bytesAsPath() throws {
        let script = #"exec "$0" export "$1" "$(printf '%s/caf\351' "$2")" owl"#
        let command = try Command(
            "/bin/sh", ["-c", script, Built.vitrine, Built.testGallery, home.folder.path],
            environment: home.environment())
        #expect(command.status == 2 && command.errors.hasSuffix("” is not UTF-8.\n"), "\(command.errors)")
        #expect(!home.folder.entries().contains { $0.hasPrefix("caf") })
    }

    @Test func helpAndVersion() throws {
        let help = try home.vitrine("--help")
        #expect(help.status == 0 && help.text.contains("vitrine sync") && help.text.contains("--sync-on-focus"))
        #expect(try home.vitrine("-V").lines.count == 1)
        let version = try home.vitrine("-V", "--verbose")
        #expect(version.status == 0 && version.text.hasPrefix("vitrine "))
        #expect(version.text.contains("libjpeg-turbo 2") && version.text.contains("Landlock"))
    }
}
