import Foundation
import TestSupport

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
            "type: cut within a tag", "The gallery file has a mistake in line 1: …", .final,
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
