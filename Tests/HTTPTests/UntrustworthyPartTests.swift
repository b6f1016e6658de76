import Foundation
import Logging
import Numbers
import TestSupport
import Testing

@testable import HTTP

/// Ranges that contradict themselves.
@Suite(.ownThread) struct UntrustworthyPartTests {
    private let client = HTTPClient(log: Log())
    private let folder = TestFolder()

    private func fetch(_ url: String, there: [UInt8] = []) async throws -> [UInt8] {
        let path = folder.write("photo", there)
        let descriptor = open(path, O_RDWR)
        defer { close(descriptor) }
        let transfer = client.transfer(
            HTTPRequest(
                url: url, destination: .file(try BodyFile(duplicating: descriptor)),
                resumption: there.isEmpty ? nil : .init(offset: ByteCount(there.count), validator: "\"a\""),
                limit: 1 << 20, pieces: HTTPRequest.Pieces(size: 10_000, window: 40_000, most: 24)))
        for try await _ in transfer {}
        return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    @Test(
        "BEHAVIOURS 5.9: after an untrustworthy first piece the whole is requested",
        arguments: [
            ["Content-Range: bytes 1-10000/50000"], ["Content-Range: bytes 0-9999/*"], [],
            ["Content-Range: bytes 0-9999/50000", "Content-Encoding: gzip"],
        ])
    func first(headers: [String]) async throws {
        let whole = Whole(50_000)
        let server = try ScriptedServer { request in
            guard Whole.part(request) != nil else { return whole.all }
            return .answer(206, Array(whole.bytes.prefix(10_000)), headers: ["ETag: \"a\""] + headers)
        }
        for _ in 0..<2 { #expect(try await fetch(server.url("/photo")) == whole.bytes) }
        #expect(server.requests.map { $0.headers["range"] } == ["bytes=0-9999", nil, nil])
    }

    @Test("BEHAVIOURS 5.9: if the first piece of a rest is of another version, the whole is fetched")
    func firstOfARest() async throws {
        let (old, new) = (Whole(50_000), Whole(50_000, seed: 2))
        let server = try ScriptedServer { request in
            guard let (first, last) = Whole.part(request) else { return new.all }
            let end = min(last, 49_999)
            return .answer(
                206, Array(new.bytes[first...end]),
                headers: ["ETag: \"b\"", "Content-Range: bytes \(first)-\(end)/50000"])
        }
        #expect(try await fetch(server.url("/photo"), there: Array(old.bytes.prefix(25_000))) == new.bytes)
        #expect(server.requests.map { $0.headers["range"] } == ["bytes=25000-34999", nil])
    }
}
