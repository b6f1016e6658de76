import Cells
import Foundation
import TestSupport
import Testing

@testable import UI

/// Every screen at every kind of size, compared with reviewed recordings.
///
/// `VITRINE_RECORD=1 swift test --filter RecordedScreensTests` records the current screens.
@MainActor @Suite(.unlessItHangs) struct RecordedScreensTests {
    private nonisolated static let sizes = [
        Size(columns: 80, rows: 24), Size(columns: 200, rows: 60), Size(columns: 40, rows: 12),
        Size(columns: 20, rows: 5),
    ]

    @Test(
        "Every screen matches its recording in a usual, a large, a small and the smallest window",
        arguments: Scene.all)
    func looksAsRecorded(scene: Scene) async throws {
        var seen = ""
        for size in Self.sizes {
            let frame = try await scene.make(size).frame()
            if RecordedScreen.isWritten { try RecordedScreen.leave(frame, scene.name) }
            seen += RecordedScreen.text(frame)
        }
        let recorded = RecordedScreen(scene.name)
        guard !RecordedScreen.isWritten else { return try recorded.write(seen) }
        guard let expected = recorded.text else {
            Issue.record("\(scene.name) is not recorded; VITRINE_RECORD=1 does. Then look at it.")
            return
        }
        #expect(difference(seen, expected) == "", "VITRINE_RECORD=1 records it anew. Then look at it.")
    }

    /// Returns the rows that differ from the recording.
    private func difference(_ seen: String, _ expected: String) -> String {
        let (seen, expected) = (lines(seen), lines(expected))
        var size: Substring = ""
        var differences: [String] = []
        for index in 0..<max(seen.count, expected.count) {
            let (now, before) = (index < seen.count ? seen[index] : "", index < expected.count ? expected[index] : "")
            if now.hasPrefix("# ") { size = now }
            if now != before { differences += [String(size), "- \(before)", "+ \(now)"] }
        }
        return differences.joined(separator: "\n")
    }

    private func lines(_ text: String) -> [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

    @Test func noRecordIsOfAScreenThatIsNoMore() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: RecordedScreen.folder)
        #expect(Set(names) == Set(Scene.all.map { $0.name + ".txt" }))
    }
}
