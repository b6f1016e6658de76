import Model
import Testing

@testable import UI

@Suite struct StatusTextTests {
    private static let success = Timestamp(milliseconds: 1_154_245_637_000)
    private static let soon = Timestamp(milliseconds: success.milliseconds + 300_000)
    private static let tomorrow = Timestamp(milliseconds: soon.milliseconds + 86_400_000)
    private static let date = DateText.short(success)
    private static let timeout = Failure("the server answered 503", remedy: .time)
    private static let offline = Failure("no network", remedy: .network)

    private static let texts: [(SyncStatus.State, Timestamp?, String)] = [
        (.notUpdated, nil, "Not updated"),
        (.updated, success, "Updated: \(date)"),
        (.updating(.getting(Progress(done: 0))), success, "Updating…"),
        (.updating(.getting(Progress(done: 1_500))), nil, "Updating… 1.5 KB"),
        (.updating(.getting(Progress(done: 1_500, total: 20_000))), nil, "Updating… 1.5 KB of 20.0 KB"),
        (
            .updating(.getting(Progress(done: 1_500, total: 20_000), entries: 12)), nil,
            "Updating… 1.5 KB of 20.0 KB, 12 photos"
        ),
        (.updating(.parsing(entries: 1)), nil, "Updating… reading 1 photo"),
        (.updating(.parsing(entries: 812)), success, "Updating… reading 812 photos"),
        (.updating(.committing), nil, "Updating… storing"),
        (.updating(.waiting(offline, until: nil)), nil, "Waiting for the network"),
        (.updating(.waiting(offline, until: nil)), success, "Waiting for the network · Updated: \(date)"),
        (
            .updating(.waiting(timeout, until: nil)), success,
            "Update failed: the server answered 503 · Updated: \(date)"
        ),
        (
            .updating(.waiting(timeout, until: soon)), success,
            "Retry at \(DateText.minute(soon, now: success)) · the server answered 503 · Updated: \(date)"
        ),
        (
            .updating(.waiting(offline, until: tomorrow)), nil,
            "Retry at \(DateText.minute(tomorrow, now: success)) · no network"
        ),
        (.cancelled, nil, "Update cancelled"),
        (.cancelled, success, "Update cancelled · Updated: \(date)"),
        (.failed(timeout), nil, "Update failed: the server answered 503"),
        (.failed(timeout), success, "Update failed: the server answered 503 · Updated: \(date)"),
    ]

    @Test("BEHAVIOURS 2.2: every status has its text, errors with the last success", arguments: texts)
    func text(state: SyncStatus.State, success: Timestamp?, text: String) {
        let status = SyncStatus(state: state, lastSuccess: success)
        #expect(StatusText.parts(status, now: Self.success).text == text)
    }

    @Test("BEHAVIOURS 1.3: skipped entries are counted")
    func skipped() {
        let status = SyncStatus(state: .updated, lastSuccess: Self.success, skipped: 3)
        #expect(StatusText.parts(status, now: Self.success).text == "Updated: \(Self.date) · 3 skipped")
    }
}
