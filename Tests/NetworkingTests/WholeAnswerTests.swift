import Foundation
import Session
import Model
import Synchronization
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Complete answers, by every framing and end of connection. They are accepted once and do not affect the next answer.
@Suite struct WholeAnswerTests {
    private let test: NetworkTest

    init() throws { test = try NetworkTest { $0.certificates = Fault.authority.certificate } }

    /// How an answer with a body is framed.
    struct Way: CustomTestStringConvertible, Sendable {
        /// The kind of server.
        enum Server: Sendable {
            /// A plain server, which may leave the connection open.
            case usual(staysOpen: Bool)
            /// A server over TLS.
            case secure(bidsFarewell: Bool)
            /// A server over HTTP/2, and its behaviour.
            case http2(String)
            /// A plain server behind a redirect with this status.
            case elsewhere(Int)
        }

        let testDescription: String
        let server: Server
        let steps: @Sendable (_ body: [UInt8]) -> [ScriptedServer.Step]

        init(
            _ name: String, _ server: Server = .usual(staysOpen: false),
            _ steps: @escaping @Sendable ([UInt8]) -> [ScriptedServer.Step] = { .answer(200, $0) }
        ) {
            (testDescription, self.server, self.steps) = (name, server, steps)
        }
    }

    private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    private static let withoutLength = ScriptedServer.Step.send("HTTP/1.1 200 OK\r\n\r\n")

    private static func chunk(_ body: [UInt8]) -> [ScriptedServer.Step] {
        [.send(chunked + String(body.count, radix: 16) + "\r\n"), .send(body), .send("\r\n0\r\n\r\n")]
    }

    static let ways =
        [
            Way("reset behind it") { .answer(200, $0) + [.deliver, .reset] },
            Way("reset behind the last chunk") { chunk($0) + [.deliver, .reset] },
            Way("closed, of no length") { [withoutLength, .send($0), .close] },
            Way("closed with a farewell, of no length", .secure(bidsFarewell: true)) {
                [withoutLength, .send($0), .close]
            },
            Way("closed without a farewell", .secure(bidsFarewell: false)) { .answer(200, $0) + [.close] },
            // RFC 9112, section 9.8, calls this incomplete, but curl does not report how a connection ended.
            Way("closed without a farewell, of no length", .secure(bidsFarewell: false)) {
                [withoutLength, .send($0), .close]
            },
            Way("longer than it says", .usual(staysOpen: true)) {
                [.send("HTTP/1.1 200 OK\r\nContent-Length: \($0.count)\r\n\r\n"), .send($0 + Array("more".utf8))]
            },
            // If this counted as the answer to the next request, another picture would be shown.
            Way("longer than it says, by an answer that nobody asked for", .usual(staysOpen: true)) {
                .answer(200, $0) + .answer(200, NetworkTest.picture("forged"))
            },
            Way("garbage behind the last chunk", .usual(staysOpen: true)) { chunk($0) + [.send("garbage")] },
            Way("the same length twice", .usual(staysOpen: true)) {
                let length = "Content-Length: \($0.count)\r\n"
                return [.send("HTTP/1.1 200 OK\r\n\(length)\(length)\r\n"), .send($0)]
            },
            Way("GOAWAY behind it", .http2("goaway-after")), Way("GOAWAY before its rest", .http2("goaway-during")),
            Way("a stream refused, once", .http2("refused-once")),
        ] + [301, 302, 303, 307, 308].map { Way("led there by \($0)", .elsewhere($0)) }

    /// A framing together with a thing.
    struct Case: CustomTestStringConvertible, Sendable {
        let way: Way
        let thing: Fault.Thing

        var testDescription: String { "\(thing.rawValue): \(way.testDescription)" }
    }

    static let cases = ways.flatMap { way in Fault.Thing.allCases.map { Case(way: way, thing: $0) } }

    @Test(
        "BEHAVIOURS 5.3: a complete answer counts, however its connection ends",
        arguments: cases)
    func whole(_ example: Case) async throws {
        try await begin()
        let bodies = Self.bodies(of: example.thing)
        let resident = try arrange(example, bodies)
        defer { withExtendedLifetime(resident) {} }
        for (number, body) in bodies.enumerated() {
            let (path, count) = (path(example.thing, number), test.beginnings(of: path(example.thing, number)))
            let isThere = Gate()
            var waits = false
            if case .usual(let staysOpen) = example.way.server {
                waits = staysOpen && number == 0
                let steps = number == 0 ? example.way.steps(body) : .answer(200, body)
                test.put(path, steps + (waits ? [.deliver, .open(isThere)] : []))
            }
            try await fetch(example.thing, number)
            // The surplus bytes are here before the next request is sent.
            if waits { #expect(isThere.wait()) }
            // The HTTP/2 server has one answer for everything.
            if case .http2 = example.way.server {
                #expect(try contents(example.thing, number) == bodies[0])
            } else {
                #expect(try contents(example.thing, number) == body)
            }
            #expect(test.beginnings(of: path) == count + 1)
        }
        #expect(!test.hasPutOff)
    }

    private func begin() async throws {
        test.putGallery(Self.ids)
        test.start()
        try await test.refresh()
    }

    private static let ids = ["a", "b"]

    /// The bodies of the first and of the second request.
    private static func bodies(of thing: Fault.Thing) -> [[UInt8]] {
        switch thing {
        case .list: ["c", "d"].map { Array(NetworkTest.list(ids + [$0]).utf8) }
        case .thumbnail, .photo: ["first", "second"].map { NetworkTest.picture($0) }
        }
    }

    /// The path of a thing.
    private func path(_ thing: Fault.Thing, _ number: Int) -> String {
        switch thing {
        case .list: "/index.xml"
        case .thumbnail: "/t/\(Self.ids[number])"
        case .photo: "/p/\(Self.ids[number])"
        }
    }

    /// Moves everything behind a redirect if needed. Returns an object that must live meanwhile.
    private func arrange(_ example: Case, _ bodies: [[UInt8]]) throws -> [any Sendable] {
        let steps = [example.way.steps(bodies[0]), .answer(200, bodies[1])]
        switch example.way.server {
        case .usual: return []
        case .elsewhere(let status):
            for (number, steps) in steps.enumerated() { test.put("/moved/\(number)", steps) }
            lead(example.thing, by: status) { [test] in test.server.url("/moved/\($0)") }
            return []
        case .secure(let bidsFarewell):
            let server = try ScriptedServer { steps[$0.path == "/0" ? 0 : 1] }
            let relay = try FaultyServer.relay(to: server.port, bidsFarewell: bidsFarewell, Fault.pairs[.good]!)
            lead(example.thing) { relay.url("/\($0)") }
            return [server, relay]
        case .http2(let fault):
            let body = test.folder.path("body")
            try Data(bodies[0]).write(to: URL(fileURLWithPath: body))
            let server = try FaultyServer.http2(fault, Fault.pairs[.good]!, body: body)
            lead(example.thing) { server.url("/\($0)") }
            return [server]
        }
    }

    private func lead(_ thing: Fault.Thing, by status: Int = 302, to place: @escaping @Sendable (Int) -> String) {
        let paths = (0...1).map { path(thing, $0) }
        let asked = Mutex(0)
        test.answer.withLock {
            $0 = { request in
                guard paths.contains(request.path) else { return nil }
                let number = asked.withLock { asked in
                    defer { asked += 1 }
                    return asked
                }
                return .answer(status, headers: ["Location: \(place(number))"])
            }
        }
    }

    /// Waits until it is stored or has failed.
    private func fetch(_ thing: Fault.Thing, _ number: Int) async throws {
        switch thing {
        case .list:
            test.wishes.ask(for: test.list)
            try await test.until { [test] in !test.wishes.isStanding(test.list) || test.hasPutOff }
        case .thumbnail, .photo:
            let (id, rendition) = (Self.ids[number], thing == .photo ? Rendition.original : .thumbnail)
            let subject = Wish.Subject.picture(test.cache.id, try test.key(id), rendition)
            test.wishes.state([Wish(subject, importance: .lookedAt)], by: test.wishes.makeWisher())
            try await test.until { [test] in
                let state = try test.photo(id)[rendition]
                return state.isCurrent || state.trouble != nil
            }
        }
    }

    private func contents(_ thing: Fault.Thing, _ number: Int) throws -> [UInt8]? {
        switch thing {
        case .list:
            var names: [String] = []
            try test.cache.read { try $0.forEachPhoto { names.append($0.name) } }
            return Array(NetworkTest.list(names.map { String($0.dropFirst("Photo ".count)) }).utf8)
        case .thumbnail:
            return try test.cache.read { try $0.thumbnail(of: test.key(Self.ids[number])) }?.bytes
        case .photo:
            let file = try test.cache.read { try $0.photoFile(of: test.key(Self.ids[number])) }
            return file.flatMap { FileManager.default.contents(atPath: test.cache.files.path($0)) }.map(Array.init)
        }
    }

    /// A server closes idle connections and cannot know that a request is on its way.
    @Test(
        "BEHAVIOURS 5.3: a request on a closed connection is repeated over another",
        arguments: Fault.Thing.allCases, [false, true])
    func kept(thing: Fault.Thing, isIdle: Bool) async throws {
        try await begin()
        let (path, body) = (path(thing, 0), Self.bodies(of: thing)[0])
        let before = test.server.requests.count { $0.path == path }
        test.put(path, .answer(200, body))
        if isIdle {
            test.server.interrupt()
            test.server.goOn()
        } else {
            test.answer.withLock { $0 = { $0.connection == 1 && $0.path == path ? [.reset] : nil } }
        }
        try await fetch(thing, 0)
        #expect(try contents(thing, 0) == body)
        let connections = test.server.requests.filter { $0.path == path }.dropFirst(before).map(\.connection)
        #expect(connections == (isIdle ? [2] : [1, 2]))
        #expect(!test.hasPutOff)
    }
}
