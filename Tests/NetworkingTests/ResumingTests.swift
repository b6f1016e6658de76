import Glibc
import Session
import Model
import Numbers
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Photos whose transfers broke off and resume.
@Suite struct ResumingTests {
    private let test: NetworkTest
    private static let whole = NetworkTest.picture(String(repeating: "p", count: 199_996))
    private static let part = 80_000

    init() throws { test = try NetworkTest() }

    /// A photo with a partial file from a broken transfer.
    private func interrupt() async throws {
        test.putGallery(["a"])
        let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: \(Self.whole.count)\r\n\r\n"
        test.put("/p/a", [.send(head), .send(Array(Self.whole.prefix(Self.part))), .close])
        test.start()
        try await test.refresh()
        test.wishes.state([Wish(try test.full("a"), importance: .lookedAt)], by: test.wishes.makeWisher())
        try await test.until { [test] in
            try test.photo("a").original.trouble != nil && !test.clock.alarms.isEmpty
        }
    }

    private func expectWhole(_ bytes: [UInt8] = whole) throws { try Self.expectWhole(bytes, in: test) }

    private static func expectWhole(_ bytes: [UInt8], in test: NetworkTest) throws {
        let file = try #require(try test.cache.read { try $0.photoFile(of: test.key("a")) })
        let descriptor = open(test.cache.files.path(file), O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        var found = [UInt8](repeating: 0, count: bytes.count + 1)
        let count = read(descriptor, &found, found.count)
        #expect(count == bytes.count && Array(found.prefix(count)) == bytes)
        #expect(test.folder.entries("cache/galleries/\(test.cache.id)/partial").isEmpty)
    }

    private func rest(_ range: String) -> [ScriptedServer.Step] {
        .answer(206, Array(Self.whole.dropFirst(Self.part)), headers: ["ETag: \"1\"", "Content-Range: bytes \(range)"])
    }

    @Test("BEHAVIOURS 5.9: a broken transfer of a photo resumes, and no byte comes twice")
    func goesOn() async throws {
        try await interrupt()
        test.put("/p/a", rest("\(Self.part)-\(Self.whole.count - 1)/\(Self.whole.count)"))
        await test.clock.advanceToNextAlarm()
        try await test.until { [test] in try test.photo("a").original.isCurrent }
        let headers = try #require(test.server.requests.last).headers
        #expect(headers["range"] == "bytes=\(Self.part)-" && headers["if-range"] == "\"1\"")
        try expectWhole()
    }

    @Test("BEHAVIOURS 5.9: a reset stream of a shared connection resumes too")
    func overASharedConnection() async throws {
        let authority = try TestAuthority()
        let other = try FaultyServer.http2("photo-in-two", authority.issue(.good))
        let test = try NetworkTest { $0.certificates = authority.certificate }
        let photo = "<image kind=\"image\" srcURL=\"\(other.url("/p"))\"/>"
        test.put(
            "/index.xml",
            .answer(200, "<album><photo id=\"a\" name=\"a\" date=\"2006-01-01T00:00:00Z\">\(photo)</photo></album>"))
        test.start()
        try await test.refresh()
        test.wishes.state([Wish(try test.full("a"), importance: .lookedAt)], by: test.wishes.makeWisher())
        try await test.until { try test.photo("a").original.trouble != nil && !test.clock.alarms.isEmpty }
        await test.clock.advanceToNextAlarm()
        try await test.until { try test.photo("a").original.isCurrent }
        let body = String(repeating: "0123456789", count: 20_000)
        try Self.expectWhole([0xFF, 0xD8, 0xFF, 0xE0] + Array(body.utf8), in: test)
        #expect(other.end().count { $0.hasPrefix("request") } == 2)
    }

    @Test("BEHAVIOURS 5.9: a photo that changed meanwhile is fetched whole")
    func anotherByNow() async throws {
        try await interrupt()
        test.put("/p/a", .answer(200, NetworkTest.picture("another"), headers: ["ETag: \"2\""]))
        await test.clock.advanceToNextAlarm()
        try await test.until { [test] in try test.photo("a").original.isCurrent }
        try expectWhole(NetworkTest.picture("another"))
    }

    @Test func progressIncludesTheHeldPart() async throws {
        try await interrupt()
        let gate = Gate()
        defer { gate.open() }
        let (more, length) = (10_000, Self.whole.count - Self.part)
        let head = """
            HTTP/1.1 206 Part\r\nETag: "1"\r\nContent-Length: \(length)\r\n\
            Content-Range: bytes \(Self.part)-\(Self.whole.count - 1)/\(Self.whole.count)\r\n\r\n
            """
        test.put("/p/a", [.send(head), .send(Array(Self.whole[Self.part..<Self.part + more])), .hold(gate)])
        await test.clock.advanceToNextAlarm()
        let subject = try test.full("a")
        try await test.until { [test] in test.activity.progress(of: subject)?.done == ByteCount(Self.part + more) }
        let watch = test.activity.watchTraffic()
        try await test.until { [test] in test.activity.traffic?.transfers.count == 1 }
        guard case .running(let progress, _)? = test.activity.traffic?.transfers.first?.stage else {
            Issue.record("it does not run")
            return
        }
        #expect(progress.total == ByteCount(Self.whole.count) && progress.done >= ByteCount(Self.part))
        withExtendedLifetime(watch) {}
    }

    /// Between two attempts with an answer there are others with none, or with a useless one.
    @Test("BEHAVIOURS 5.9: a partial photo survives failed attempts")
    func outlasts() async throws {
        try await interrupt()
        for steps: [ScriptedServer.Step] in [[.reset], .answer(503), [.close], .answer(429)] {
            test.put("/p/a", steps)
            let count = test.server.requests.count
            await test.clock.advanceToNextAlarm()
            try await test.until { [test] in test.server.requests.count > count && !test.clock.alarms.isEmpty }
            #expect(test.server.requests.last?.headers["range"] == "bytes=\(Self.part)-")
        }
        test.server.interrupt()
        await test.clock.advanceToNextAlarm()
        try await test.until { [test] in test.activity.failures[0].attempts == 6 && !test.clock.alarms.isEmpty }
        test.server.goOn()
        test.put("/p/a", rest("\(Self.part)-\(Self.whole.count - 1)/\(Self.whole.count)"))
        await test.clock.advanceToNextAlarm()
        try await test.until { [test] in try test.photo("a").original.isCurrent }
        try expectWhole()
    }

    /// A server or proxy that fails to resume. From the beginning it works.
    @Test(
        "BEHAVIOURS 5.9: without a usable range the photo is fetched from the beginning",
        arguments: ["another part", "another edition", "no range", "416"])
    func cannotGoOn(fault: String) async throws {
        try await interrupt()
        let wrong: [ScriptedServer.Step] =
            switch fault {
            case "another part": rest("0-\(Self.whole.count - Self.part - 1)/\(Self.whole.count)")
            case "another edition":
                .answer(
                    206, [UInt8](repeating: 0, count: Self.whole.count - Self.part),
                    headers: [
                        "ETag: \"2\"", "Content-Range: bytes \(Self.part)-\(Self.whole.count - 1)/\(Self.whole.count)",
                    ])
            case "no range": .answer(206, Array(Self.whole.dropFirst(Self.part)))
            default: .answer(416, headers: ["Content-Range: bytes */\(Self.part)"])
            }
        test.answer.withLock {
            $0 = { request in
                guard request.path == "/p/a" else { return nil }
                return request.headers["range"] == nil ? .answer(200, Self.whole, headers: ["ETag: \"1\""]) : wrong
            }
        }
        await test.clock.advanceToNextAlarm()
        try await test.until { [test] in
            guard case .putOff = try test.photo("a").original.trouble else { return true }
            return test.activity.failures.contains { $0.attempts == 2 } && !test.clock.alarms.isEmpty
        }
        let reason = try #require(test.activity.failures.first).failure.reason
        #expect(reason.hasPrefix("the server cannot continue the transfer: "))
        guard case .putOff = try test.photo("a").original.trouble else {
            Issue.record("it is said to be bad")
            return
        }
        await test.clock.advanceToNextAlarm()
        try await test.until { [test] in try test.photo("a").original.isCurrent }
        #expect(test.paths.count { $0 == "/p/a" } == 3)
        try expectWhole()
    }

    @Test("BEHAVIOURS 5.7, 5.9: a cancelled photo keeps its partial file and shows nothing")
    func left() async throws {
        test.putGallery(["a"])
        let gate = Gate()
        defer { gate.open() }
        let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: \(Self.whole.count)\r\n\r\n"
        test.put("/p/a", [.send(head), .send(Array(Self.whole.prefix(Self.part))), .hold(gate)])
        test.start()
        try await test.refresh()
        let (subject, wisher) = (try test.full("a"), test.wishes.makeWisher())
        test.wishes.state([Wish(subject, importance: .lookedAt)], by: wisher)
        try await test.until { [test] in test.activity.progress(of: subject)?.done == ByteCount(Self.part) }
        test.wishes.withdraw(wisher)
        try await test.until { [test] in !test.activity.isBusy && test.activity.traffic?.running == 0 }
        #expect(try test.photo("a").original == RenditionState(edition: 1) && test.activity.failures.isEmpty)
        #expect(test.clock.alarms.isEmpty)
        test.put("/p/a", rest("\(Self.part)-\(Self.whole.count - 1)/\(Self.whole.count)"))
        test.wishes.state([Wish(subject, importance: .lookedAt)], by: wisher)
        try await test.until { [test] in try test.photo("a").original.isCurrent }
        try expectWhole()
    }
}
