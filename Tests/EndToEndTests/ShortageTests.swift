import Foundation
import Model
import TestSupport
import Testing

/// Each call that gets something from the system fails once, or from some moment on: memory of C libraries, libraries, files,
/// bytes, connections, processes, threads and the time. (Swift's runtime and ncurses end the program without memory.)
///
/// No command traps or hangs. Each finishes its work, or says in sentences that something is missing. The next run then does
/// the rest.
@Suite(.ownThread, .serialized) struct ShortageTests {
    /// A way for a call to fail.
    private struct Shortage: Sendable {
        let call: String
        /// The error of the call; -1 for half the bytes, and for the clock the seconds of its error.
        let error: Int32
        var isLasting = false

        var text: String { "\(call), \(error)\(isLasting ? ", lasting" : "")" }

        func kind(_ number: Int) -> Faults.Kind {
            isLasting ? .errorFrom(error, number) : .error(error, number...number)
        }
    }

    private static let twentyYears: Int32 = 630_720_000
    private static let shortages = [
        Shortage(call: "malloc", error: ENOMEM), Shortage(call: "malloc", error: ENOMEM, isLasting: true),
        Shortage(call: "dlopen", error: ENOENT, isLasting: true),
        Shortage(call: "read-open", error: EIO), Shortage(call: "read-open", error: ENOMEM, isLasting: true),
        Shortage(call: "read", error: EIO), Shortage(call: "read", error: EIO, isLasting: true),
        Shortage(call: "read", error: EINTR), Shortage(call: "read", error: -1, isLasting: true),
        Shortage(call: "recv", error: ECONNRESET), Shortage(call: "recv", error: EINTR),
        Shortage(call: "recv", error: -1, isLasting: true),
        Shortage(call: "socket", error: EMFILE), Shortage(call: "socket", error: ENOBUFS, isLasting: true),
        Shortage(call: "socketpair", error: EMFILE), Shortage(call: "socketpair", error: ENFILE, isLasting: true),
        Shortage(call: "connect", error: ECONNREFUSED), Shortage(call: "connect", error: ENETUNREACH, isLasting: true),
        Shortage(call: "fork", error: EAGAIN), Shortage(call: "fork", error: ENOMEM, isLasting: true),
        Shortage(call: "thread", error: EAGAIN),
        Shortage(call: "clock", error: twentyYears), Shortage(call: "clock", error: twentyYears, isLasting: true),
        Shortage(call: "clock", error: -twentyYears), Shortage(call: "clock", error: -twentyYears, isLasting: true),
    ]
    /// The names of the calls.
    private static let calls = Set(shortages.map(\.call)).sorted()
    /// The time limit in seconds.
    private static let patience = 90

    /// The wanted number of occasions for each shortage; nil for one occasion of one shortage of each call.
    private static let wanted = ProcessInfo.processInfo.environment["VITRINE_SHORTAGES"].flatMap(Int.init)

    private func faults(_ call: String, _ kind: Faults.Kind) -> Faults {
        Faults(in: "/", kind, only: Faults.Call(name: call, path: "/"))
    }

    /// Returns shortages of a call, and random occasions for each: the numbers of the calls that fail.
    private func occasions(of call: String, _ count: Int) -> [(Shortage, Int)] {
        guard count > 0 else { return [] }
        let shortages = Self.shortages.filter { $0.call == call }
        guard let wanted = Self.wanted else {
            return shortages.shuffled().prefix(1).map { ($0, .random(in: 1...count)) }
        }
        return shortages.flatMap { shortage in (1...count).shuffled().prefix(wanted).map { (shortage, $0) } }
    }

    /// The arguments of a command for a gallery, and whether its result is whole.
    private struct Subject {
        let gallery: SmallGallery
        /// The gallery's address; nil if the command opens none.
        let address: Address?
        let arguments: [String]
        let isWhole: (Command) -> Bool

        var home: Household { gallery.home }

        func run(_ faults: Faults? = nil) throws -> Command {
            // The time limit's own program must not fail.
            let variables = (faults?.environment ?? [:]).map { "\($0)=\($1)" }
            return try Command(
                "/usr/bin/timeout",
                ["-s", "KILL", "\(ShortageTests.patience)", "/usr/bin/env"] + variables + [Built.vitrine] + arguments,
                environment: home.environment())
        }

        static func sync(_ gallery: SmallGallery, _ address: String) -> Subject {
            Subject(gallery: gallery, address: try? Address(address), arguments: ["sync", "--photos", address]) {
                $0.text.hasSuffix(SmallGallery.everything)
            }
        }

        static func export(_ gallery: SmallGallery, _ address: String) -> Subject {
            let folder = gallery.home.folder
            return Subject(
                gallery: gallery, address: try? Address(address), arguments: ["export", address, folder.path("out")]
            ) { _ in folder.entries("out").count == 10 }
        }

        static func show(_ gallery: SmallGallery) -> Subject {
            let files = ["owl", "dawn-ridge"].map { Built.testGallery + "/images/\($0).jpg" }
            return Subject(gallery: gallery, address: nil, arguments: ["show", "--size", "20x10"] + files) {
                $0.text.count { !$0.isWhitespace } > 100
            }
        }
    }

    /// - Parameter unused: the calls that the command does not make.
    private func check(
        _ call: String, unused: Set<String> = [], _ make: (SmallGallery) throws -> Subject
    ) async throws {
        let counting = faults(call, .none)
        let clean = try make(SmallGallery()).run(counting)
        try #require(clean.status == 0, "\(clean.errors)")
        #expect(counting.calls.isEmpty == unused.contains(call))
        for (shortage, number) in occasions(of: call, counting.calls.count) {
            let subject = try make(SmallGallery())
            let faults = faults(call, shortage.kind(number))
            let command = try subject.run(faults)
            let calls = faults.calls
            let comment: Comment =
                "\(shortage.text) at call \(number), \(calls.count < number ? "never made" : calls[number - 1].path): \(command.status) \(command.text.suffix(200)) \(command.errors)"
            if command.status == 0 {
                #expect(subject.isWhole(command), comment)
            } else {
                // A signal would be negative, or 137 from the time limit.
                #expect(command.status == 1, comment)
                #expect(!command.errors.isEmpty || command.text.contains("failed"), comment)
            }
            let lines = command.errors.split(separator: "\n")
            #expect(lines.allSatisfy { $0.hasPrefix("vitrine: ") || $0.hasPrefix("  ") }, comment)
            if let address = subject.address { try await subject.gallery.aftermath.expectWhole(address, comment) }
            let next = try subject.run()
            #expect(next.status == 0 && subject.isWhole(next), "\(comment), then \(next.status): \(next.errors)")
        }
    }

    @Test("A shortage at any moment of a sync of local files is survived or reported", arguments: calls)
    func sync(call: String) async throws {
        try await check(call, unused: ["connect"]) { .sync($0, $0.address.text) }
    }

    @Test("A shortage at any moment of a sync over the network is survived or reported", arguments: calls)
    func network(call: String) async throws {
        let source = try SmallGallery()
        let server = try Nginx(serving: source.folder.path)
        try await check(call) { .sync($0, server.url("/index.xml")) }
    }

    @Test("A shortage at any moment of an export is survived or reported", arguments: calls)
    func export(call: String) async throws {
        let source = try SmallGallery()
        let server = try Nginx(serving: source.folder.path)
        try await check(call) { .export($0, server.url("/index.xml")) }
    }

    @Test("An export gives each photo its usual name, although a signal interrupts the reading")
    func interruptedExport() throws {
        func export(_ kind: Faults.Kind) throws -> (calls: Int, names: [String]) {
            let gallery = try SmallGallery()
            let faults = Faults(in: "/", kind, only: .init(name: "read", path: "/photos/"))
            let command = try Subject.export(gallery, gallery.address.text).run(faults)
            #expect(command.status == 0, "\(command.errors)")
            return (faults.calls.count, gallery.home.folder.entries("out").sorted())
        }
        let usual = try export(.none)
        #expect(usual.calls > 6 && usual.names.allSatisfy { $0.hasSuffix(".jpg") })
        // The last calls read the photo that is exported last.
        for call in usual.calls - 5...usual.calls {
            #expect(try export(.error(EINTR, call...call)).names == usual.names)
        }
    }

    @Test("A shortage at any moment of drawing pictures is survived or reported", arguments: calls)
    func show(call: String) async throws {
        try await check(call, unused: ["connect", "dlopen", "malloc", "read", "recv", "socket", "socketpair"]) {
            .show($0)
        }
    }

    @Test("A program that can start no thread says so")
    func noThread() throws {
        let gallery = try SmallGallery()
        for subject in [Subject.sync(gallery, gallery.address.text), .show(gallery)] {
            let command = try subject.run(
                Faults(in: "/", .errorFrom(EAGAIN, 1), only: .init(name: "thread", path: "/")))
            #expect(command.status == 1 && command.errors.hasPrefix("vitrine: Vitrine cannot start a thread: "))
        }
    }

    @Test("A shortage at any moment of browsing is survived or reported", arguments: calls)
    func browse(call: String) async throws {
        let gallery = try SmallGallery()
        let counting = faults(call, .none)
        try #require(try browse(gallery, counting).status == 0)
        #expect(counting.calls.isEmpty == (call == "connect"))
        for (shortage, number) in occasions(of: call, counting.calls.count) {
            let gallery = try SmallGallery()
            let (status, screen) = try browse(gallery, faults(call, shortage.kind(number)))
            let comment: Comment = "\(shortage.text) at call \(number): \(status) \(screen)"
            // The manual: 3 means that there is no terminal, or an unknown one.
            #expect([0, 1].contains(status) || status == 3 && screen.hasPrefix("vitrine: The terminal "), comment)
            #expect(!screen.contains("Fatal error") && !screen.contains("Precondition failed"), comment)
            try await gallery.aftermath.expectWhole(gallery.address, comment)
            let next = try gallery.sync()
            #expect(next.status == 0 && next.text.hasSuffix(SmallGallery.everything), "\(comment), then \(next.errors)")
        }
    }

    /// Opens the gallery and a photo, and quits. Returns the exit code and the last screen.
    private func browse(_ gallery: SmallGallery, _ faults: Faults) throws -> (status: Int32, screen: String) {
        let session = try TerminalSession(
            arguments: [gallery.path], environment: gallery.home.environment(faults.environment))
        session.untilQuiet()
        session.type("\r")
        session.untilQuiet()
        session.type("Q")
        return (session.wait(), session.screen.text)
    }
}
