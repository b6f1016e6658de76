import Foundation
import Logging
import Numbers
import TestSupport
import Testing

@testable import HTTP

/// A piece that fails while another is being written.
@Suite(.ownThread) struct PiecedBreakTests {
    private let client = HTTPClient(log: Log())
    private let folder = TestFolder()

    /// The cancelled first piece may have written unreported bytes. The rest includes them and replaces them.
    @Test func theRestReplacesUnreportedBytes() async throws {
        let whole = Whole(60_000)
        let server = try ScriptedServer { whole.answer($0) }
        let path = folder.write("photo", [])
        let descriptor = open(path, O_RDWR)
        defer { close(descriptor) }
        let request = HTTPRequest(
            url: server.url("/photo"), destination: .file(try BodyFile(duplicating: descriptor)), limit: 1 << 20,
            pieces: HTTPRequest.Pieces(size: 10_000, window: 40_000, most: 24))
        let pieced = PiecedTransfer(request, RangeMemory()) { [client] part in
            guard let range = part.range else { return client.transfer(part) }
            let mailbox = TransferMailbox()
            if range.lowerBound == 0 {
                #expect(write(descriptor, whole.bytes, 5_000) == 5_000)
                mailbox.post(HTTPResponse(status: 206, url: part.url, headers: ["etag": "\"a\""], length: 60_000))
            } else {
                mailbox.post(end: .failure(HTTPError.broken))
            }
            return HTTPTransfer(mailbox, onCancel: {})
        }
        let transfer = try #require(pieced)
        let handle = transfer.handle
        transfer.start()
        for try await _ in handle {}
        #expect(FileManager.default.contents(atPath: path) == Data(whole.bytes))
        #expect(server.requests.map { $0.headers["range"] } == [nil])
    }
}
