import Cells
import Dispatch
import Testing

@testable import Terminal

@MainActor @Suite struct TerminalInterviewTests {
    @Test("The time limit starts when the queries have been sent")
    func timeLimit() async {
        var sent: [[UInt8]] = []
        let (ends, end) = AsyncStream<Void>.makeStream()
        var count = 0
        let interview = TerminalInterview(
            limit: 0, size: { Size(columns: 80, rows: 24) }, send: { sent.append($0) },
            onAnswers: {
                count += 1
                end.yield()
            })
        interview.ask([.cellSize])
        await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
        #expect(sent.count == 1 && interview.isAnswerDue && count == 0)
        interview.startTimeLimit()
        for await _ in ends { break }
        #expect(count == 1)
        interview.stop()
    }

    @Test("The final answer ends the queries and cancels the time limit")
    func lastAnswer() async {
        var count = 0
        let interview = TerminalInterview(
            limit: 0, size: { Size(columns: 80, rows: 24) }, send: { _ in }, onAnswers: { count += 1 })
        interview.ask([.cellSize])
        interview.take(.attributes([62]))
        #expect(!interview.isAnswerDue && count == 1)
        interview.startTimeLimit()
        await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
        #expect(count == 1)
    }
}
