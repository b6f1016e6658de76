import Foundation
import Logging
import Numbers
import TestSupport
import Testing

@testable import HTTP

/// Data that curl has buffered while the mailbox is full.
@Suite(.ownThread, .unlessItHangs) struct PausedTransferTests {
    private let folder = TestFolder()

    /// Zeros, compressed once or repeatedly.
    private func zeros(_ count: Int, times: Int) throws -> [UInt8] {
        let path = folder.path("zeros")
        let filters = String(repeating: " | gzip", count: times)
        #expect(try Command("/bin/sh", ["-c", "head -c \(count) /dev/zero\(filters) > \(path)"]).status == 0)
        return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    private func failure(
        _ body: [UInt8], _ coding: String, limit: ByteCount, expansion: Int? = nil
    ) async throws -> HTTPError? {
        let gate = Gate()
        defer { gate.open() }
        // More is announced but does not come.
        let server = try ScriptedServer { _ in
            let head =
                "HTTP/1.1 200 OK\r\nContent-Length: \(body.count + 1)\r\nContent-Encoding: \(coding)\r\n\r\n"
            return [.send(Array(head.utf8) + body), .hold(gate)]
        }
        let probe = Probe(HTTPConfiguration(connectTimeout: 60, stallTimeout: 3_600))
        var request = probe.request(server.url("/"))
        request.limit = limit
        request.maximumExpansion = expansion
        return await probe.failure(request)
    }

    @Test("BEHAVIOURS 5.5: a resumed transfer beyond the limit ends at once")
    func tooLarge() async throws {
        #expect(try await failure(zeros(4 << 20, times: 1), "gzip", limit: 1 << 20) == .tooLarge(limit: 1 << 20))
    }

    @Test("An answer that expands more than any text is refused")
    func tooCompressed() async throws {
        let error = try await failure(zeros(64 << 20, times: 1), "gzip", limit: 1 << 30, expansion: 200)
        #expect(error == .tooCompressed(limit: 200))
    }

    @Test("An answer of a mebibyte may be compressed in any way")
    func smallAndCompressed() async throws {
        let body = try zeros(1 << 20, times: 1)
        let server = try ScriptedServer { _ in .answer(200, body, headers: ["Content-Encoding: gzip"]) }
        let probe = Probe()
        var request = probe.request(server.url("/"))
        request.maximumExpansion = 200
        #expect(try await probe.fetch(request).bytes.count == 1 << 20)
    }

    /// curl buffers only so much for a paused transfer.
    @Test func moreThanCurlKeeps() async throws {
        let error = try await failure(zeros(200 << 20, times: 2), "gzip, gzip", limit: 1 << 30)
        #expect(error == .other("Out of memory"))
    }
}
