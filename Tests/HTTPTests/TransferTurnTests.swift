import Numbers
import TestSupport
import Testing

@testable import HTTP

@Suite(.ownThread) struct TransferTurnTests {
    /// Everything that can be taken now.
    private static func takeAll(from mailbox: TransferMailbox) throws -> [HTTPEvent] {
        var events: [HTTPEvent] = []
        while case .event(let event, _) = try mailbox.take() { events.append(event) }
        return events
    }

    @Test func anAnswerThatComesInOneTurnWakesOnce() async throws {
        let (mailbox, turn) = (TransferMailbox(), TransferTurn())
        // Runs the task until it waits.
        let listener = Task.immediate {
            await mailbox.waitForEvent()
            return try Self.takeAll(from: mailbox)
        }
        let response = HTTPResponse(status: 200, url: "http://example.org/a.jpg")
        mailbox.post(response)
        turn.add(mailbox)
        for byte in [1, 2] as [UInt8] {
            #expect([byte].withUnsafeBytes { mailbox.post($0) })
            turn.add(mailbox)
        }
        mailbox.post(end: .success(HTTPMetrics()))
        turn.add(mailbox)
        turn.end()
        #expect(try await listener.value == [.response(response), .bytes([1, 2]), .end(HTTPMetrics())])
    }

    @Test func everyoneIsTold() async throws {
        let (mailboxes, turn) = ((0..<3).map { _ in TransferMailbox() }, TransferTurn())
        let listeners = mailboxes.map { mailbox in
            Task.immediate {
                await mailbox.waitForEvent()
                return try Self.takeAll(from: mailbox).count
            }
        }
        // Alternating, as transfers do; the last one has no event.
        for written in [1, 2] as [ByteCount] {
            for mailbox in mailboxes.prefix(2) {
                mailbox.post(written: written)
                turn.add(mailbox)
            }
        }
        turn.add(mailboxes[2])
        turn.end()
        for listener in listeners.prefix(2) { #expect(try await listener.value == 1) }
        mailboxes[2].post(written: 3)
        mailboxes[2].wake()
        #expect(try await listeners[2].value == 1)
    }
}
