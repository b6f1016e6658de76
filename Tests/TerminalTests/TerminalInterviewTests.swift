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

    /// tmux is attached to another terminal, or the line is slow.
    @Test(
        "If only the terminal around tmux is silent twice, its earlier answers do not count", arguments: [true, false])
    func silentOuterTerminal(tmuxAnswers: Bool) async throws {
        var sent: [[UInt8]] = []
        let (ends, end) = AsyncStream<Void>.makeStream()
        let interview = TerminalInterview(
            limit: 0, size: { Size(columns: 80, rows: 24) }, send: { sent.append($0) }, onAnswers: { end.yield() })
        let questions: Set<TerminalQuestion> = [.outerVersion, .outerKitty]
        interview.ask(questions)
        let text = String(decoding: try #require(sent.first), as: UTF8.self)
        let start = try #require(text.firstRange(of: "Gi=")).upperBound
        let number = try #require(Int(text[start...].prefix { $0.isNumber }))
        interview.take(.version("kitty(0.35.2)"))
        interview.take(.kitty(number: number, isOK: true))
        for await _ in ends { break }
        interview.ask(questions)
        interview.startTimeLimit()
        for await _ in ends { break }
        #expect(sent.count == 3 && sent[2] == sent[1] + Array("\u{1B}[c".utf8))
        #expect(interview.answers.outerTakesKitty && interview.answers.outerVersion == "kitty(0.35.2)")
        if tmuxAnswers {
            interview.take(.attributes([1, 2]))
            for await _ in ends { break }
        }
        interview.startTimeLimit()
        for await _ in ends { break }
        #expect(sent.count == 3 && interview.answers.outerTakesKitty == !tmuxAnswers)
        #expect((interview.answers.outerVersion == nil) == tmuxAnswers)
        // The next queries are repeated, too.
        interview.ask(questions)
        interview.startTimeLimit()
        for await _ in ends { break }
        #expect(sent.count == 5)
        interview.stop()
    }
}
