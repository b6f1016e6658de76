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
}
