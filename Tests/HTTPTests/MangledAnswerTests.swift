import Testing
import TestSupport

/// A few of the answers that `make fuzz-answers` fetches by the hundred thousand.
struct MangledAnswerTests {
    @Test("TRUST: mangled answers crash nothing and hang no transfer", .enabled(if: OwnNetwork.launcher != nil))
    func mangledAnswers() throws {
        let folder = TestFolder()
        let command = try Command(
            Built.folder + "/answer-mangler", ["--answers", "4000", "--findings", folder.path],
            environment: ["SWIFT_BACKTRACE": "enable=no"])
        #expect(command.status == 0, "\(command.text)\(command.errors)")
        #expect(folder.entries().isEmpty)
        // Correct answers are accepted. Otherwise only refusals would be tested.
        #expect(command.text.contains(" whole"))
    }

    /// The server refuses at length and closes each time, and unread bytes of the refusal stay on the connection for
    /// the next request. The client once repeated that a hundred times a second.
    @Test(
        "Unread refusals on a connection do not cause endless repeats",
        arguments: [8_589_934_654_851])
    func refusals(seed: Int) throws {
        let command = try Command(
            Built.folder + "/answer-mangler", ["--replay", "\(seed)"], environment: ["SWIFT_BACKTRACE": "enable=no"])
        #expect(command.status == 0 && command.lines.last == "refused", "\(command.errors)")
    }
}
