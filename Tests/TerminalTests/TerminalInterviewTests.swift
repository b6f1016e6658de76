import Cells
import Testing

@testable import Terminal

@MainActor @Suite struct TerminalInterviewTests {
    @Test func itIsWaitedForFromWhenTheQuestionsAreWithTheTerminal() {
        var sent: [[UInt8]] = []
        let interview = TerminalInterview(
            size: { Size(columns: 80, rows: 24) }, send: { sent.append($0) }, onAnswers: {})
        interview.ask([.cellSize])
        #expect(sent.count == 1 && interview.isAnswerDue && !interview.isTimed)
        interview.noteSent()
        #expect(interview.isTimed)
        interview.take(.attributes([62]))
        #expect(!interview.isTimed && !interview.isAnswerDue)
        // Nothing is asked now.
        interview.noteSent()
        #expect(!interview.isTimed)
        interview.stop()
    }
}
