import Foundation
import Model
import TestSupport
import Testing

/// A failure of a request, its message for the user, and whether it is retried.
///
///     Fault("body: reset", "the connection broke", .passing, .answers([.send("HTTP/1.1 200 OK\r\n…"), .reset]))
struct Fault: CustomTestStringConvertible, Sendable {
    /// The requested thing.
    enum Thing: String, CaseIterable, Sendable {
        case list
        case thumbnail
        case photo
    }

    /// How the fault comes about.
    enum Cause: Sendable {
        /// The server gives this answer.
        case answers([ScriptedServer.Step])
        /// The server's port is closed.
        case silence
        /// The server redirects with this status.
        case leads(by: Int = 302, @Sendable (NetworkTest) throws -> Elsewhere)
        /// The server redirects to this scheme through a proxy, which gives this answer; nil for a closed port.
        case proxied(String, [ScriptedServer.Step]?)
    }

    /// The target of a redirect.
    struct Elsewhere {
        let url: String
        /// An object that must live until the test ends.
        var resident: (any Sendable)?
    }

    /// The effect of a fault on the request.
    enum Fate: Sendable {
        /// The request is not retried.
        case final
        /// The request is retried after at least so many seconds.
        case passing(after: Int)

        static let passing = Fate.passing(after: 0)
    }

    let testDescription: String
    /// The message; an ellipsis at its end stands for any text. `HOST` stands for the server with its port.
    let reason: String
    let fate: Fate
    let cause: Cause
    var things = Set(Thing.allCases)
    /// Other possible messages, where curl varies.
    var otherReasons: Set<String> = []
    /// Whether each attempt takes a second.
    var isSlow = false
    /// Whether the message blames the network on an offline machine.
    var isBlamedOnNetwork = false
    /// Bytes of a photo that are kept for the next attempt.
    var kept = 0

    init(_ name: String, _ reason: String, _ fate: Fate, _ cause: Cause) {
        (testDescription, self.reason, self.fate, self.cause) = (name, reason, fate, cause)
    }

    /// Limits the fault to some things.
    func only(_ things: Thing...) -> Fault {
        var fault = self
        fault.things = Set(things)
        return fault
    }

    /// Permits other messages.
    func or(_ reasons: String...) -> Fault {
        var fault = self
        fault.otherReasons = Set(reasons)
        return fault
    }

    /// Each attempt takes a second, and an offline machine blames the network.
    var slow: Fault {
        var fault = self
        (fault.isSlow, fault.isBlamedOnNetwork) = (true, true)
        return fault
    }

    /// Returns the fault for a photo of which so many bytes are kept.
    func keeping(_ bytes: Int) -> Fault {
        var fault = self.only(.photo)
        fault.kept = bytes
        return fault
    }

    /// An offline machine blames the network.
    var blamedOnNetwork: Fault {
        var fault = self
        fault.isBlamedOnNetwork = true
        return fault
    }

    /// The proxy to use. For a closed port, it has already stopped.
    var proxy: ScriptedServer? {
        get throws {
            guard case .proxied(_, let steps) = cause else { return nil }
            let proxy = try ScriptedServer { _ in steps ?? [] }
            if steps == nil { proxy.stop() }
            return proxy
        }
    }

    /// A fault together with a thing.
    struct Case: CustomTestStringConvertible, Sendable {
        let fault: Fault
        let thing: Thing

        var testDescription: String { "\(thing.rawValue): \(fault.testDescription)" }
    }

    /// All faults with all their things.
    static let cases: [Case] = all.flatMap { fault in
        Thing.allCases.filter(fault.things.contains).map { Case(fault: fault, thing: $0) }
    }
}

/// The table of faults by phase, with messages and retries.
extension Fault {
    // The types are stated because inferring them takes the compiler half a minute.
    static let all: [Fault] = [
        connecting, beginnings, bodies, ends, redirects, statuses, types, securities, streams, proxies,
    ].flatMap(\.self)

    static let ok = "HTTP/1.1 200 OK\r\n"
    private static let line = "X-Header: " + String(repeating: "x", count: 1_000) + "\r\n"

    private static let connecting: [Fault] = [
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

    private static let beginnings: [Fault] = [
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
            "headers: two lengths", "the answer breaks the protocol: it states two lengths", .final,
            .answers([.send(ok + "Content-Length: 8\r\nContent-Length: 20\r\n\r\n<album/>            ")])),
        Fault(
            "headers: two lengths in a line", "the answer breaks the protocol: it states two lengths", .final,
            .answers([.send(ok + "Content-Length: 8, 20\r\n\r\n<album/>            ")])),
    ]

    private static let bodies: [Fault] = [
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
            "body: chunks that are none", "the answer breaks the protocol: its chunks are invalid", .final,
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
        Fault("body: too large, as it says", "the file is larger than 3072 MiB", .final, tooLarge(3 << 30)).only(.list),
        Fault("body: too large, as it says", "the file is larger than 4 MiB", .final, tooLarge(4 << 20)).only(
            .thumbnail),
        Fault("body: too large, as it says", "the file is larger than 512 MiB", .final, tooLarge(512 << 20)).only(
            .photo),
        Fault(
            "body: endless", "the file is larger than 4 MiB", .final,
            .answers([.send(ok + "\r\n"), .sendForever(NetworkTest.picture(line))])
        ).only(.thumbnail),
        Fault(
            "body: endless", "the file is larger than 512 MiB", .final,
            .answers([.send(ok + "\r\n"), .sendForever(NetworkTest.picture(String(repeating: "x", count: 1 << 20)))])
        ).only(.photo),
        Fault(
            "body: endless", "the file is larger than 3072 MiB", .final,
            .answers([
                .send(ok + "\r\n<album>"), .sendForever(Array((String(repeating: " ", count: 1 << 16) + "<a/>").utf8)),
            ])
        ).only(.list),
        Fault(
            "body: endless, in chunks", "the file is larger than 4 MiB", .final,
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

    private static let statuses: [Fault] =
        [
            (400, ""), (401, " (a password is needed)"), (403, " (not allowed)"), (404, " (not found)"),
            (407, " (the proxy requires a password; you can put the password into the proxy’s address)"),
            (410, " (gone)"),
            (416, ""), (501, " (server error)"),
        ].map { status, meaning in
            Fault(
                "status \(status)", "the server answered \(status)\(meaning)", .final,
                .answers(.answer(status, "sorry")))
        }
        + [
            (408, ""), (425, ""), (429, " (too many requests)"), (500, " (server error)"),
            (502, " (server error)"),
            (503, " (server error)"), (504, " (server error)"),
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
                "status 503, Retry-After: \(text)", "the server answered 503 (server error)",
                .passing(after: seconds),
                .answers(.answer(503, "sorry", headers: ["Retry-After: \(text)"])))
        } + [
            Fault(
                "status 404, Retry-After: 5", "the server answered 404 (not found)", .final,
                .answers(.answer(404, "sorry", headers: ["Retry-After: 5"]))),
            Fault("status 206, unasked", "the server answered 206", .final, .answers(.answer(206, "sorry"))),
        ]

    private static let page = "<!DOCTYPE html><html>Log in to our wireless network</html>"

    private static let types: [Fault] = [
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
            "type: a web page, as it says", "the server sent text instead of a picture", .final,
            .answers(.answer(200, page, headers: ["Content-Type: text/html; charset=utf-8"]))
        ).only(.thumbnail, .photo),
        Fault(
            "type: a web page, said to be a picture", "the server sent something that is not a picture", .final,
            .answers(.answer(200, page, headers: ["Content-Type: image/jpeg"]))
        ).only(.thumbnail, .photo),
        Fault(
            "type: JSON", "the server sent data instead of a picture", .final,
            .answers(.answer(200, "{}", headers: ["Content-Type: application/json"]))
        ).only(.thumbnail, .photo),
        Fault("type: nothing", "the server sent something that is not a picture", .final, .answers(.answer(200)))
            .only(.thumbnail, .photo),
        Fault(
            "type: a compressed picture, unasked", "the server sent something that is not a picture", .final,
            .answers(.answer(200, Gzip.bomb, headers: ["Content-Encoding: gzip"]))
        ).only(.thumbnail, .photo),
        // A cache in between may answer correctly the next time.
        Fault("type: unchanged, and nothing held", "the server sent nothing", .passing, .answers(.answer(304)))
            .only(.thumbnail, .photo),
    ]

    /// Shared, since it takes a while to make.
    static let authority = try! TestAuthority()
    static let pairs = Dictionary(
        uniqueKeysWithValues: TestAuthority.Kind.allCases.map { ($0, try! authority.issue($0)) })

    private static let securities: [Fault] =
        [
            (.expired, "it has expired (or this machine’s clock is wrong)"),
            (.early, "it is not valid yet (or this machine’s clock is wrong)"),
            (.selfSigned, "it is self-signed"),
            (.stranger, "its issuer is not trusted"), (.wrongHost, "it is not valid for HOST"),
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

/// Bytes that Foundation cannot compress.
private enum Gzip {
    /// 64 MiB of blanks after a tag, in 64 KiB.
    static let bomb: [UInt8] = {
        let script = """
            import gzip, sys
            sys.stdout.buffer.write(gzip.compress(b"<album>" + b" " * (64 << 20)))
            """
        return try! Command("/usr/bin/python3", ["-c", script]).output
    }()
}

/// Forbidden redirects of every kind.
extension Fault {
    static let redirects: [Fault] = [302, 301, 303, 307, 308].flatMap { status in
        // The handling is the same for all things, so it is shown once.
        refusals(by: status).map { status == 302 ? $0 : $0.only(.thumbnail) }
    }

    private static func refusals(by status: Int) -> [Fault] {
        let unfollowed = "a redirect leads to a forbidden address"
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
                    "redirect \(status): \(name)", "\(host) is a private address, and this gallery may not lead there",
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

/// Faults over HTTP/2, named as in `FaultyServers/http2.py`.
extension Fault {
    static let streams: [Fault] =
        ["reset-before", "reset-during", "calm", "short"].map {
            Fault("HTTP/2: \($0)", "the server aborted the answer", .passing, over($0))
        }
        // The message depends on whether curl reads the end of the stream or of the connection first, and on what it
        // has passed on before. The retry does not.
        + [
            "goaway-before", "goaway-and-close", "close-before", "close-during", "refused", "reset-without-error",
            "endless-headers",
        ].map {
            Fault("HTTP/2: \($0)", "the connection broke", .passing, over($0)).or(
                "the server aborted the answer", "the answer was cut short",
                "the server closed the connection without an answer")
        } + [Fault("HTTP/2: stall", "the server has stopped sending", .passing, over("stall")).slow]

    private static func over(_ fault: String) -> Cause {
        .leads { test in
            // Half of it is the beginning of a list, and its type is not checked.
            let body = test.folder.write("body", "<album>" + String(repeating: " ", count: 1_000))
            let server = try FaultyServer.http2(fault, pairs[.good]!, body: body)
            return Elsewhere(url: server.url("/"), resident: server)
        }
    }
}

/// Faults of proxies, without and with a tunnel.
extension Fault {
    static let proxies: [Fault] =
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
            // curl has one code for these.
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

/// Ends of connections before the answer is known to be complete.
extension Fault {
    static let ends: [Fault] = [
        Fault(
            "close: never, of a body without a length", "the server has stopped sending", .passing,
            .answers([.send(ok + "\r\n<album/>"), .hold(Gate())])
        ).slow
    ]
}
