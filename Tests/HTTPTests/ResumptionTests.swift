import Foundation
import Logging
import Numbers
import TestSupport
import Testing

@testable import HTTP

/// The part to send.
private enum Part {
    static let whole = "0123456789"

    static func rest(_ range: String, _ body: String = "456789", _ more: [String] = []) -> [ScriptedServer.Step] {
        .answer(206, body, headers: ["Content-Range: \(range)"] + (more.isEmpty ? ["ETag: \"a\""] : more))
    }
}

/// Resuming a partial body.
@Suite(.ownThread) struct ResumptionTests {
    private let client = HTTPClient(log: Log())
    private let folder = TestFolder()

    /// The result of a request for the rest of a file that holds `there`.
    private struct Outcome {
        var response: HTTPResponse?
        var written: [ByteCount] = []
        var error: HTTPError?
        var contents = ""
    }

    private func resume(
        _ url: String, there: String = "0123", offset: ByteCount = 4, validator: String = "\"a\"",
        of source: String? = nil, whole: ByteCount? = nil,
        limit: ByteCount = 1 << 20, allowsFiles: Bool = false
    ) async throws -> Outcome {
        let path = folder.write("file", there)
        let descriptor = open(path, O_RDWR)
        defer { close(descriptor) }
        var outcome = Outcome()
        do {
            for try await event in client.transfer(
                HTTPRequest(
                    url: url, destination: .file(try BodyFile(duplicating: descriptor)),
                    resumption: .init(offset: offset, validator: validator, url: source, whole: whole), limit: limit,
                    allowsFiles: allowsFiles))
            {
                if case .response(let response) = event { outcome.response = response }
                if case .written(let count) = event { outcome.written.append(count) }
            }
        } catch {
            outcome.error = error as? HTTPError
        }
        outcome.contents = try String(contentsOfFile: path, encoding: .utf8)
        return outcome
    }

    private func resume(_ steps: [ScriptedServer.Step], limit: ByteCount = 1 << 20) async throws -> Outcome {
        let server = try ScriptedServer { _ in steps }
        return try await resume(server.url("/"), limit: limit)
    }

    @Test("BEHAVIOURS 5.9: the rest is requested and appended")
    func rest() async throws {
        let server = try ScriptedServer { _ in Part.rest("bytes 4-9/10") }
        let outcome = try await resume(server.url("/"))
        #expect(outcome.error == nil && outcome.contents == Part.whole && outcome.written.last == 10)
        #expect(outcome.response?.begin == 4 && outcome.response?.length == 10 && outcome.response?.status == 206)
        let headers = server.requests[0].headers
        #expect(headers["range"] == "bytes=4-" && headers["if-range"] == "\"a\"")
        #expect(headers["accept-encoding"] == "identity")
    }

    @Test("BEHAVIOURS 5.9: a changed file is sent whole")
    func anew() async throws {
        let outcome = try await resume(.answer(200, "anew"))
        #expect(outcome.error == nil && outcome.contents == "anew" && outcome.written.last == 4)
        #expect(outcome.response?.begin == 0 && outcome.response?.length == 4)
    }

    /// The held part stays until something replaces it.
    @Test(arguments: [404, 416, 500, 304]) func otherAnswers(status: Int) async throws {
        let outcome = try await resume(.answer(status, status == 304 ? "" : "an error", headers: ["ETag: \"b\""]))
        #expect(outcome.error == nil && outcome.response?.status == status && outcome.contents == "0123")
    }

    @Test(
        "BEHAVIOURS 5.9: a wrong range is not written",
        arguments: [
            Part.rest("bytes 3-9/10", "3456789"), Part.rest("bytes 5-9/10", "56789"),
            Part.rest("bytes 4-8/10", "45678"),
            Part.rest("bytes 4-9/*"), Part.rest("bytes */10"), Part.rest("bytes 4-10/10"), Part.rest("items 4-9/10"),
            Part.rest("bytes 4-9/99999999999999999999"), Part.rest("bytes 4-9/10", "45678"),
            Part.rest("bytes 4-9/10", "456789a"),
            Part.rest("bytes 4-9/10", "456789", ["Content-Encoding: gzip"]), .answer(206, "456789"),
            .answer(206, "--x\r\n", headers: ["Content-Type: multipart/byteranges; boundary=x"]),
        ])
    func wrongRange(steps: [ScriptedServer.Step]) async throws {
        let outcome = try await resume(steps)
        guard case .wrongRange? = outcome.error else {
            Issue.record("\(String(describing: outcome.error))")
            return
        }
        #expect(outcome.error?.isTransient == false && outcome.contents == "0123" && outcome.response == nil)
    }

    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    /// A server or cache that ignores If-Range.
    @Test(
        "BEHAVIOURS 5.9: the rest of another version is not appended",
        arguments: [
            ("\"a\"", "ETag: \"b\""), ("\"a\"", "ETag: W/\"a\""), ("\"a\"", "ETag: a"),
            (date, "Last-Modified: Mon, 07 Nov 1994 08:49:37 GMT"), ("\"a\"", "Server: x"), (date, "Server: x"),
            ("\"a\"", "Last-Modified: Mon, 07 Nov 1994 08:49:37 GMT"),
        ])
    func anotherEdition(validator: String, line: String) async throws {
        let server = try ScriptedServer { _ in Part.rest("bytes 4-9/10", "456789", [line]) }
        let outcome = try await resume(server.url("/"), validator: validator)
        #expect(outcome.error == .wrongRange("the file has changed"))
        #expect(outcome.contents == "0123" && outcome.response == nil)
    }

    @Test(arguments: [
        ("\"a\"", "ETag: \"a\""), (date, "Last-Modified: \(date)"),
    ]) func theSameEdition(validator: String, line: String) async throws {
        let server = try ScriptedServer { _ in Part.rest("bytes 4-9/10", "456789", [line]) }
        let outcome = try await resume(server.url("/"), validator: validator)
        #expect(outcome.error == nil && outcome.contents == Part.whole)
    }

    @Test("BEHAVIOURS 5.9: the rest of a file of another length is not appended")
    func anotherLength() async throws {
        let server = try ScriptedServer { _ in Part.rest("bytes 4-9/10") }
        let outcome = try await resume(server.url("/"), whole: 11)
        #expect(outcome.error == .wrongRange("the file has changed"))
        #expect(outcome.contents == "0123" && outcome.response == nil)
        #expect(try await resume(server.url("/"), whole: 10).contents == Part.whole)
    }

    @Test("BEHAVIOURS 5.9: an unrequested range after a redirect does not complete the file")
    func unaskedPart() async throws {
        let server = try ScriptedServer { request in
            request.path == "/" ? .answer(302, headers: ["Location: /there"]) : Part.rest("bytes 4-9/10")
        }
        let outcome = try await resume(server.url("/"))
        #expect(server.requests.map { $0.headers["range"] } == ["bytes=4-", nil])
        #expect(outcome.error == .wrongRange("no range was requested") && outcome.response == nil)
        #expect(outcome.contents == "0123")
    }

    @Test func aLongerBodyIsAnError() async throws {
        let outcome = try await resume([
            .send(
                "HTTP/1.1 206 Part\r\nETag: \"a\"\r\nContent-Range: bytes 4-9/10\r\nTransfer-Encoding: chunked\r\n\r\n"),
            .send("4\r\n4567\r\n9\r\n89abcdefg\r\n0\r\n\r\n"),
        ])
        #expect(outcome.error == .wrongRange("it is longer than its stated length") && !outcome.contents.contains("a"))
    }

    @Test func aShorterBodyIsAnError() async throws {
        let outcome = try await resume([
            .send(
                "HTTP/1.1 206 Part\r\nETag: \"a\"\r\nContent-Range: bytes 4-9/10\r\nTransfer-Encoding: chunked\r\n\r\n"),
            .send("4\r\n4567\r\n0\r\n\r\n"),
        ])
        #expect(outcome.error == .cut && outcome.contents == "01234567")
    }

    @Test("BEHAVIOURS 5.9: the limit applies to the whole file")
    func limit() async throws {
        let outcome = try await resume(Part.rest("bytes 4-9/10"), limit: 9)
        #expect(outcome.error == .tooLarge(limit: 9) && outcome.contents == "0123")
    }

    /// Cases without a range: no beginning, or an uncertain one.
    @Test func noRangeWithoutABeginning() async throws {
        let server = try ScriptedServer { _ in .answer(200, Part.whole) }
        for (there, offset, validator) in [("012", 4, "\"a\""), ("0123", 4, "W/\"a\""), ("", 0, "\"a\"")] {
            let outcome = try await resume(
                server.url("/"), there: there, offset: ByteCount(offset), validator: validator)
            #expect(outcome.contents == Part.whole)
        }
        #expect(server.requests.allSatisfy { $0.headers["range"] == nil && $0.headers["if-range"] == nil })
        let longer = try await resume(
            try ScriptedServer { _ in Part.rest("bytes 4-9/10") }.url("/"), there: "0123xxxxxxxxxxx")
        #expect(longer.contents == Part.whole)
    }

    @Test("BEHAVIOURS 5.9: the rest is requested only from the URL of the beginning")
    func redirected() async throws {
        let other = try ScriptedServer { request in
            request.headers["range"] == nil ? .answer(200, Part.whole) : Part.rest("bytes 4-9/10")
        }
        let server = try ScriptedServer { _ in .answer(302, headers: ["Location: \(other.url("/elsewhere"))"]) }
        #expect(try await resume(server.url("/")).contents == Part.whole)
        #expect(server.requests[0].headers["range"] != nil && other.requests[0].headers["range"] == nil)
        #expect(other.requests[0].headers["if-range"] == nil)
        #expect(try await resume(server.url("/"), of: other.url("/elsewhere")).contents == Part.whole)
        #expect(server.requests[1].headers["range"] == nil && other.requests[1].headers["range"] == "bytes=4-")
    }

    @Test func localFilesAreReadFromTheBeginning() async throws {
        let url = "file://" + folder.write("from", Part.whole)
        let first = try await resume(url, there: "", offset: 0, allowsFiles: true)
        let tag = try #require(first.response?.resumptionValidator)
        let again = try await resume(url, there: "abcd", validator: tag, allowsFiles: true)
        #expect(again.response?.begin == 0 && again.contents == Part.whole && again.written.last == 10)
    }

    @Test(
        arguments: [
            (["etag": "\"a\""], "\"a\""), (["etag": "W/\"a\""], nil), (["etag": "a"], nil), (["etag": "\"a\"b\""], nil),
            (["etag": "\""], nil), ([:], nil),
            (
                ["last-modified": "Sun, 06 Nov 1994 08:49:37 GMT", "date": "Sun, 06 Nov 1994 08:50:37 GMT"],
                "Sun, 06 Nov 1994 08:49:37 GMT"
            ),
            (["last-modified": "Sun, 06 Nov 1994 08:49:37 GMT", "date": "Sun, 06 Nov 1994 08:50:36 GMT"], nil),
            (["last-modified": "Sun, 06 Nov 1994 08:49:37 GMT"], nil),
            (["last-modified": "yesterday", "date": "Sun, 06 Nov 1994 08:50:37 GMT"], nil),
            (
                [
                    "etag": "W/\"a\"", "last-modified": "Sun, 06 Nov 1994 08:49:37 GMT",
                    "date": "Sun, 06 Nov 1994 09:49:37 GMT",
                ], nil
            ),
        ] as [([String: String], String?)])
    func validators(headers: [String: String], validator: String?) {
        #expect(HTTPResponse(status: 200, url: "", headers: headers).resumptionValidator == validator)
    }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Tue, 29 Feb 2000 23:59:60 GMT", 951_868_800), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Sun, 06 Foo 1994 08:49:37 GMT", nil), ("Sun, 00 Nov 1994 08:49:37 GMT", nil),
            ("Sun, 06 Nov 1994 24:49:37 GMT", nil), ("Sun, 06 Nov 1994 08:4937: GMT", nil),
            ("Sun, 06 Nov 1994 08:49:37 CET", nil), ("Sunday, 06-Nov-94 08:49:37 GMT", nil),
            ("Sun, +6 Nov 1994 08:49:37 GMT", nil), ("", nil),
        ] as [(String, Int?)])
    func dates(text: String, seconds: Int?) {
        #expect(HTTPDate.seconds(text) == seconds)
    }
}
