import Logging
import Numbers
import TestSupport
import Testing

@testable import HTTP

/// Dishonest numbers in answers, through the real client.
@Suite(.ownThread) struct EvilNumberTests {
    private let client = HTTPClient(log: Log())

    @Test("An announced length beyond all bounds behind a redirect ends no transfer, and no program")
    func lengthBehindARedirect() async throws {
        let server = try ScriptedServer { request in
            request.path == "/"
                ? .answer(302, "0123456789", headers: ["Location: /there"])
                : [.send("HTTP/1.1 404 No\r\nContent-Length: 9223372036854775807\r\n\r\nsome of it"), .close]
        }
        let meter = TransferMeter()
        let transfer = client.transfer(
            HTTPRequest(url: server.url("/"), destination: .stream, limit: 1 << 20, meter: meter))
        _ = await transfer.failure()
        #expect(meter.reading.length ?? 0 >= 10)
    }
}
