import Testing
import TestSupport

/// A few of the answers that `make fuzz-answers` fetches by the hundred thousand.
struct MangledAnswerTests {
    @Test("TRUST: mangled answers end no program and keep no transfer waiting", .enabled(if: OwnNetwork.isPossible))
    func mangledAnswers() throws {
        let folder = TestFolder()
        let command = try Command(
            Built.folder + "/answer-mangler", ["--answers", "4000", "--findings", folder.path],
            environment: ["SWIFT_BACKTRACE": "enable=no"])
        #expect(command.status == 0, "\(command.text)\(command.errors)")
        #expect(folder.entries().isEmpty)
        // An answer that is as it should be is read: else this would test nothing but refusals.
        #expect(command.text.contains(" whole"))
    }

    /// Its server refuses at length and closes each time, and bytes of the refusal lay unread on the connection that the request
    /// with the password was to go over. The client began anew, a hundred times a second.
    @Test(
        "A server whose refusals lie unread on a connection is not asked again without end",
        arguments: [8_589_934_654_851])
    func refusals(seed: Int) throws {
        let command = try Command(
            Built.folder + "/answer-mangler", ["--replay", "\(seed)"], environment: ["SWIFT_BACKTRACE": "enable=no"])
        #expect(command.status == 0 && command.lines.last == "refused", "\(command.errors)")
    }
}
