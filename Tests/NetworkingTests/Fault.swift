import Foundation
import Model
import TestSupport
import Testing

/// Something that goes wrong when a thing is asked for, what the user is told of it, and whether it is tried again.
///
///     Fault("body: reset", "the connection broke", .passing, .answers([.send("HTTP/1.1 200 OK\r\n…"), .reset]))
struct Fault: CustomTestStringConvertible, Sendable {
    /// What is asked for.
    enum Thing: String, CaseIterable, Sendable {
        case list
        case thumbnail
        case photo
    }

    /// How it comes about.
    enum Cause: Sendable {
        /// The server answers in that way.
        case answers([ScriptedServer.Step])
        /// Nobody listens at the server's port.
        case silence
        /// The server leads to another place, by a redirect of that kind.
        case leads(by: Int = 302, @Sendable (NetworkTest) throws -> Elsewhere)
        /// The server leads to another, by that scheme, and a proxy on the way answers so; nil if nobody listens at its port.
        case proxied(String, [ScriptedServer.Step]?)
    }

    /// Where a redirect leads.
    struct Elsewhere {
        let url: String
        /// What has to live until the test ends.
        var resident: (any Sendable)?
    }

    /// What is to become of the thing.
    enum Fate: Sendable {
        /// It is never asked for again.
        case final
        /// It is asked for again, after so many seconds at least.
        case passing(after: Int)

        static let passing = Fate.passing(after: 0)
    }

    let testDescription: String
    /// What the user reads; where it ends with an ellipsis it goes on. `HOST` is a server with its port.
    let reason: String
    let fate: Fate
    let cause: Cause
    var things = Set(Thing.allCases)
    /// What the user may read in its place, where curl itself says now one thing and now another.
    var otherReasons: Set<String> = []
    /// Whether each attempt takes a second.
    var isSlow = false
    /// Whether a machine that is on no network blames that.
    var isBlamedOnNetwork = false
    /// Bytes of a photo that are worth keeping for the next attempt.
    var kept = 0

    init(_ name: String, _ reason: String, _ fate: Fate, _ cause: Cause) {
        (testDescription, self.reason, self.fate, self.cause) = (name, reason, fate, cause)
    }

    /// It concerns these alone.
    func only(_ things: Thing...) -> Fault {
        var fault = self
        fault.things = Set(things)
        return fault
    }

    /// Any of these may be said in its place, at each attempt.
    func or(_ reasons: String...) -> Fault {
        var fault = self
        fault.otherReasons = Set(reasons)
        return fault
    }

    /// Each attempt takes a second, and a machine that is on no network blames that.
    var slow: Fault {
        var fault = self
        (fault.isSlow, fault.isBlamedOnNetwork) = (true, true)
        return fault
    }

    /// So many bytes of a photo are kept.
    func keeping(_ bytes: Int) -> Fault {
        var fault = self.only(.photo)
        fault.kept = bytes
        return fault
    }

    /// A machine that is on no network blames that.
    var blamedOnNetwork: Fault {
        var fault = self
        fault.isBlamedOnNetwork = true
        return fault
    }

    /// The proxy that it takes; one that has ended, where there is to be none.
    var proxy: ScriptedServer? {
        get throws {
            guard case .proxied(_, let steps) = cause else { return nil }
            let proxy = try ScriptedServer { _ in steps ?? [] }
            if steps == nil { proxy.stop() }
            return proxy
        }
    }

    /// A fault, and the thing that it happens to.
    struct Case: CustomTestStringConvertible, Sendable {
        let fault: Fault
        let thing: Thing

        var testDescription: String { "\(thing.rawValue): \(fault.testDescription)" }
    }

    /// Every fault with every thing that it can happen to.
    static let cases = all.flatMap { fault in
        Thing.allCases.filter(fault.things.contains).map { Case(fault: fault, thing: $0) }
    }
}

/// The table: phase by phase what can go wrong, what is said of it, and whether it passes.
extension Fault {
    static let all =
        connecting + beginnings + bodies + ends + redirects + statuses + types + securities
        + streams + proxies

    static let ok = "HTTP/1.1 200 OK\r\n"
    private static let line = "X-Header: " + String(repeating: "x", count: 1_000) + "\r\n"

    private static let connecting = [
        Fault("connecting: nobody listens", "HOST cannot be reached", .passing, .silence),
        Fault(
            "connecting: nobody answers the door", "HOST does not answer", .passing,
            .leads { _ in
                let listener = try FullListener()
                return Elsewhere(url: "http://127.0.0.1:\(listener.port)/", resident: listener)
            }
        ).slow,
        Fault(
            "connecting: the name is unknown", "the host host.invalid is not known", .passing,
            .leads { _ in Elsewhere(url: "http://host.invalid/") }
        ).blamedOnNetwork,
    ]

    private static let beginnings = [
        Fault("status: reset", "the connection broke", .passing, .answers([.reset])),
        Fault("status: closed", "the server closed the connection without an answer", .passing, .answers([.close])),
        Fault("status: stalls", "the server has stopped sending", .passing, .answers([.hold(Gate())])).slow,
        Fault(
            "status: garbage", "the answer breaks the protocol: …", .final, .answers([.send("SSH-2.0\r\n"), .close])),
        Fault("status: closed behind it", "the answer was cut short", .passing, .answers([.send(ok), .close])),
        Fault(
            "status: endless", "the answer breaks the protocol: its headers are too long", .final,
            .answers([.send("HTTP/1.1 200 "), .sendForever(Array("x".utf8))])),
        Fault("headers: reset", "the connection broke", .passing, .answers([.send(ok + "Conte"), .reset])),
        Fault("headers: closed", "the answer was cut short", .passing, .answers([.send(ok + "Conte"), .close])),
        Fault(
            "headers: stall", "the server has stopped sending", .passing,
            .answers([.send(ok + "Conte"), .hold(Gate())])
        ).slow,
        Fault(
            "headers: endless", "the answer breaks the protocol: its headers are too long", .final,
            .answers([.send(ok), .sendForever(Array(line.utf8))])),
        Fault(
            "headers: a negative length", "the answer breaks the protocol: …", .final,
            .answers([.send(ok + "Content-Length: -5\r\n\r\n"), .close])),
        Fault(
            "headers: two lengths", "the answer breaks the protocol: it has two lengths", .final,
            .answers([.send(ok + "Content-Length: 8\r\nContent-Length: 20\r\n\r\n<album/>            ")])),
        Fault(
            "headers: two lengths in a line", "the answer breaks the protocol: it has two lengths", .final,
            .answers([.send(ok + "Content-Length: 8, 20\r\n\r\n<album/>            ")])),
    ]

    private static let bodies = [
        Fault(
            "body: reset", "the connection broke", .passing,
            .answers([.send(ok + "Content-Length: 99\r\n\r\n<album>"), .reset])),
        Fault(
            "body: reset, without a length", "the connection broke", .passing,
            .answers([.send(ok + "\r\n<album>"), .deliver, .reset])),
        Fault(
            "body: shorter than it says", "the answer was cut short", .passing,
            .answers([.send(ok + "Content-Length: 99\r\n\r\n<album/>"), .close])),
        Fault(
            "body: stalls", "the server has stopped sending", .passing,
            .answers([.send(ok + "Content-Length: 99\r\n\r\n<album>"), .hold(Gate())])
        ).slow,
        Fault(
            "body: chunks that are none", "the answer breaks the protocol: its chunks make no sense", .final,
            .answers([.send(ok + "Transfer-Encoding: chunked\r\n\r\nnot hex\r\n"), .close])),
        Fault(
            "body: cut between chunks", "the answer was cut short", .passing,
            .answers([.send(ok + "Transfer-Encoding: chunked\r\n\r\n8\r\n<album/>\r\n"), .close])),
        Fault(
            "body: cut, far enough to be gone on with", "the answer was cut short", .passing,
            .answers(begun("ETag: \"1\"") + [.close])
        ).keeping(100_000),
        Fault(
            "body: reset, far enough to be gone on with", "the connection broke", .passing,
            .answers(begun("ETag: \"1\"") + [.deliver, .reset])
        ).keeping(100_000),
        Fault(
            "body: cut, of nobody knows what", "the answer was cut short", .passing,
            .answers(begun("ETag: W/\"1\"") + [.close])
        ).only(.photo),
        Fault("body: too large, as it says", "it is larger than 1024 MiB", .final, tooLarge(1 << 30)).only(.list),
        Fault("body: too large, as it says", "it is larger than 4 MiB", .final, tooLarge(4 << 20)).only(.thumbnail),
        Fault("body: too large, as it says", "it is larger than 512 MiB", .final, tooLarge(512 << 20)).only(.photo),
        Fault(
            "body: endless", "it is larger than 4 MiB", .final,
            .answers([.send(ok + "\r\n"), .sendForever(NetworkTest.picture(line))])
        ).only(.thumbnail),
        Fault(
            "body: endless", "it is larger than 512 MiB", .final,
            .answers([.send(ok + "\r\n"), .sendForever(NetworkTest.picture(String(repeating: "x", count: 1 << 20)))])
        ).only(.photo),
        Fault(
            "body: endless", "it is larger than 1024 MiB", .final,
            .answers([
                .send(ok + "\r\n<album>"), .sendForever(Array((String(repeating: " ", count: 1 << 16) + "<a/>").utf8)),
            ])
        ).only(.list),
        Fault(
            "body: endless, in chunks", "it is larger than 4 MiB", .final,
            .answers([
                .send(ok + "Transfer-Encoding: chunked\r\n\r\n"),
                .sendForever(Array("3e8\r\n\(String(repeating: "x", count: 1_000))\r\n".utf8)),
            ])
        ).only(.thumbnail),
        Fault(
            "body: endless, and no tag in it", "The gallery file has a tag in line 1 that is too long", .final,
            .answers([.send(ok + "\r\n<album>"), .sendForever(Array("               ".utf8))])
        ).only(.list),
        Fault(
            "body: a bomb of gzip", "The gallery file has a tag in line 1 that is too long", .final,
            .answers(.answer(200, Gzip.bomb, headers: ["Content-Encoding: gzip"]))
        ).only(.list),
        Fault(
            "body: gzip that is none", "the answer breaks the protocol: it cannot be decompressed", .final,
            .answers(.answer(200, "no gzip at all", headers: ["Content-Encoding: gzip"]))
        ).only(.list),
    ]

    private static func begun(_ validator: String) -> [ScriptedServer.Step] {
        let head = ok + "Content-Length: 300000\r\n\(validator)\r\n\r\n"
        return [.send(head), .send(NetworkTest.picture(String(repeating: "x", count: 100_000 - 4)))]
    }

    private static func tooLarge(_ limit: Int) -> Cause {
        .answers([.send(ok + "Content-Length: \(limit + 1)\r\n\r\n"), .hold(Gate())])
    }

    private static let statuses =
        [
            (400, ""), (401, " (a password is needed)"), (403, " (not allowed)"), (404, " (not found)"),
            (407, " (the proxy wants a password; it can stand in the proxy’s address)"), (410, " (gone)"), (416, ""),
            (501, " (it has a problem)"),
        ].map { status, meaning in
            Fault(
                "status \(status)", "the server answered \(status)\(meaning)", .final,
                .answers(.answer(status, "sorry")))
        }
        + [
            (408, ""), (425, ""), (429, " (too many requests)"), (500, " (it has a problem)"),
            (502, " (it has a problem)"),
            (503, " (it has a problem)"), (504, " (it has a problem)"),
        ].map { status, meaning in
            Fault(
                "status \(status)", "the server answered \(status)\(meaning)", .passing,
                .answers(.answer(status, "sorry")))
        }
        + [
            ("120", 120), ("0", 0), ("999999999", 21_600), ("99999999999999999999999", 21_600), ("soon", 0), ("-5", 0),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 21_600), ("Sun, 06 Nov 1994 08:49:37 GMT", 0),
        ].map { text, seconds in
            Fault(
                "status 503, Retry-After: \(text)", "the server answered 503 (it has a problem)",
                .passing(after: seconds),
                .answers(.answer(503, "sorry", headers: ["Retry-After: \(text)"])))
        } + [
            Fault(
                "status 404, Retry-After: 5", "the server answered 404 (not found)", .final,
                .answers(.answer(404, "sorry", headers: ["Retry-After: 5"]))),
            Fault("status 206, unasked", "the server answered 206", .final, .answers(.answer(206, "sorry"))),
        ]

    private static let page = "<!DOCTYPE html><html>Log in to our wireless network</html>"

    private static let types = [
        Fault("type: a web page", "This is a web page, not a gallery", .final, .answers(.answer(200, page))).only(
            .list),
        Fault("type: JSON", "This is a JSON file, not a gallery", .final, .answers(.answer(200, "{\"a\": 1}"))).only(
            .list),
        Fault("type: nothing", "The gallery file is empty", .final, .answers(.answer(200))).only(.list),
        Fault(
            "type: cut within a tag", "The gallery file has an error in line 1: …", .final,
            .answers(.answer(200, "<album><photo id=\"x"))
        ).only(.list),
        Fault(
            "type: a web page, as it says", "the server sent a text in place of a picture", .final,
            .answers(.answer(200, page, headers: ["Content-Type: text/html; charset=utf-8"]))
        ).only(.thumbnail, .photo),
        Fault(
            "type: a web page, said to be a picture", "the server sent something that is no picture", .final,
            .answers(.answer(200, page, headers: ["Content-Type: image/jpeg"]))
        ).only(.thumbnail, .photo),
        Fault(
            "type: JSON", "the server sent data in place of a picture", .final,
            .answers(.answer(200, "{}", headers: ["Content-Type: application/json"]))
        ).only(.thumbnail, .photo),
        Fault("type: nothing", "the server sent something that is no picture", .final, .answers(.answer(200)))
            .only(.thumbnail, .photo),
        Fault(
            "type: a compressed picture, unasked", "the server sent something that is no picture", .final,
            .answers(.answer(200, Gzip.bomb, headers: ["Content-Encoding: gzip"]))
        ).only(.thumbnail, .photo),
        // Whoever stands in between and takes us for somebody else may be right the next time.
        Fault("type: unchanged, and nothing held", "the server sent nothing", .passing, .answers(.answer(304)))
            .only(.thumbnail, .photo),
    ]

    /// One for all: it takes a while to make.
    static let authority = try! TestAuthority()
    static let pairs = Dictionary(
        uniqueKeysWithValues: TestAuthority.Kind.allCases.map { ($0, try! authority.issue($0)) })

    private static let securities =
        [
            (.expired, "it has expired (or this machine’s clock is wrong)"),
            (.early, "it is not valid yet (or this machine’s clock is wrong)"),
            (.selfSigned, "it is signed by itself, and by nobody who is trusted"),
            (.stranger, "nobody who is trusted has signed it"), (.wrongHost, "it belongs to another host than HOST"),
        ].map { (kind: TestAuthority.Kind, flaw) in
            Fault(
                "security: \(kind)", "the server’s certificate is not trusted: \(flaw)", .final,
                .leads { _ in
                    let server = try LoopbackServer.nginx(pairs[kind], files: [:])
                    return Elsewhere(url: server.url("/", scheme: "https"), resident: server)
                })
        } + [
            Fault(
                "security: none", "no secure connection: …", .final,
                .leads { _ in
                    let server = try ScriptedServer { _ in [.send("HTTP/1.1 400 Bad Request\r\n\r\n"), .close] }
                    return Elsewhere(url: "https://127.0.0.1:\(server.port)/", resident: server)
                }),
            Fault(
                "security: broken off", "the connection broke", .passing,
                .leads { _ in
                    let server = try ScriptedServer { _ in [.reset] }
                    return Elsewhere(url: "https://127.0.0.1:\(server.port)/", resident: server)
                }),
        ]
}

/// What Foundation cannot compress.
private enum Gzip {
    /// 64 MiB of blanks behind a tag, in 64 KiB.
    static let bomb: [UInt8] = {
        let script = """
            import gzip, sys
            sys.stdout.buffer.write(gzip.compress(b"<album>" + b" " * (64 << 20)))
            """
        return try! Command("/usr/bin/python3", ["-c", script]).output
    }()
}

/// Where nobody is led, by whichever kind of redirect.
extension Fault {
    static let redirects = [302, 301, 303, 307, 308].flatMap { status in
        // What is done about it is the same for all things, and shown once.
        refusals(by: status).map { status == 302 ? $0 : $0.only(.thumbnail) }
    }

    private static func refusals(by status: Int) -> [Fault] {
        let unfollowed = "a redirect leads to an address that is not followed"
        return [
            ("to a file", "file:///etc/passwd"), ("to ftp", "ftp://127.0.0.1/"), ("to gopher", "gopher://127.0.0.1/"),
            ("to nowhere", "http://"),
        ].map { name, url in
            Fault(
                "redirect \(status): \(name)", unfollowed, .final, .leads(by: status) { _ in Elsewhere(url: url) })
        }
            + [("to a private address", "10.0.0.1"), ("to this machine", "127.0.0.2"), ("by name", "localhost")].map {
                name, host in
                Fault(
                    "redirect \(status): \(name)", "\(host) is a private address, which a public gallery may not name",
                    .final, .leads(by: status) { _ in Elsewhere(url: "http://\(host)/") })
            } + [
                Fault(
                    "redirect \(status): a loop", "more than 10 redirects", .final,
                    .leads(by: status) { Elsewhere(url: $0.server.url("/loop")) }),
                Fault(
                    "redirect \(status): from https to http", unfollowed, .final,
                    .leads(by: status) { test in
                        let server = try LoopbackServer.nginx(
                            leadingTo: test.server.url("/t/b"), by: status, pairs[.good]!)
                        return Elsewhere(url: server.url("/", scheme: "https"), resident: server)
                    }),
            ]
    }
}

/// What a server can do wrong that speaks HTTP/2: `FaultyServers/http2.py` knows them by these names.
extension Fault {
    static let streams =
        ["reset-before", "reset-during", "calm", "short"].map {
            Fault("HTTP/2: \($0)", "the server broke the answer off", .passing, over($0))
        }
        // What is said of these depends on what curl reads first, of the end of a stream and of the connection's, and on
        // whether it has handed on by then what came before. That it passes does not.
        + [
            "goaway-before", "goaway-and-close", "close-before", "close-during", "refused", "reset-without-error",
            "endless-headers",
        ].map {
            Fault("HTTP/2: \($0)", "the connection broke", .passing, over($0)).or(
                "the server broke the answer off", "the answer was cut short",
                "the server closed the connection without an answer")
        } + [Fault("HTTP/2: stall", "the server has stopped sending", .passing, over("stall")).slow]

    private static func over(_ fault: String) -> Cause {
        .leads { test in
            // Half of it is the beginning of a list, and nobody comes to see that it is no picture.
            let body = test.folder.write("body", "<album>" + String(repeating: " ", count: 1_000))
            let server = try FaultyServer.http2(fault, pairs[.good]!, body: body)
            return Elsewhere(url: server.url("/"), resident: server)
        }
    }
}

/// What can go wrong on the way through a proxy: without a tunnel, and with one.
extension Fault {
    static let proxies =
        ["http", "https"].flatMap { scheme in
            [
                Fault(
                    "proxy, \(scheme): wants a password",
                    "the proxy http://HOST wants a password", .final,
                    .proxied(scheme, .answer(407, headers: ["Proxy-Authenticate: Basic realm=\"photos\""]))),
                Fault(
                    "proxy, \(scheme): is gone", "the proxy http://HOST cannot be reached", .passing,
                    .proxied(scheme, nil)
                ).blamedOnNetwork,
                Fault(
                    "proxy, \(scheme): reset", "the connection broke", .passing, .proxied(scheme, [.reset])),
                Fault(
                    "proxy, \(scheme): endless headers", "the answer breaks the protocol: its headers are too long",
                    .final, .proxied(scheme, [.send(ok), .sendForever(Array("X: y\r\n".utf8))])),
            ]
        } + [
            Fault(
                "proxy: garbage in place of an answer", "the answer breaks the protocol: …", .final,
                .proxied("http", [.send("garbage\r\n\r\n"), .close])),
            // curl has no other word for it.
            Fault(
                "proxy: garbage in place of a tunnel", "the connection broke", .passing,
                .proxied("https", [.send("garbage\r\n\r\n"), .close])),
            Fault(
                "proxy: refuses a tunnel", "the proxy refuses to connect (403)", .final, .proxied("https", .answer(403))
            ),
            Fault(
                "proxy: has no tunnel now", "the proxy refuses to connect (502)", .passing,
                .proxied("https", .answer(502))),
        ]
}

/// How a connection can end while it is not known whether all has come.
extension Fault {
    static let ends = [
        Fault(
            "close: never, of a body without a length", "the server has stopped sending", .passing,
            .answers([.send(ok + "\r\n<album/>"), .hold(Gate())])
        ).slow
    ]
}
