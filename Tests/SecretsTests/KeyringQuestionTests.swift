import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import Secrets

@Suite struct KeyringQuestionTests {
    /// How often it was ended.
    private let ends = Ends()

    private final class Ends: Sendable {
        let count = Mutex(0)
        func add() { count.withLock { $0 += 1 } }
    }

    private func ask(_ body: (KeyringQuestion<Int>) -> Void) async -> Result<Int, SecretError> {
        await withCheckedContinuation { continuation in
            let alarm = DispatchSource.makeTimerSource()
            body(KeyringQuestion(continuation, alarm: alarm))
        }
    }

    /// Or it would wake a program that has nothing to do.
    @Test(arguments: [true, false]) func anAlarmIsOffOnceThereIsAnAnswer(isInTime: Bool) async {
        // Dispatch guards it itself.
        nonisolated(unsafe) let alarm = DispatchSource.makeTimerSource()
        _ = await withCheckedContinuation { (continuation: CheckedContinuation<Result<Int, SecretError>, Never>) in
            let question = KeyringQuestion(continuation, alarm: alarm)
            #expect(!alarm.isCancelled)
            if isInTime { question.answer(.success(1)) } else { question.giveUp() }
            #expect(alarm.isCancelled)
        }
    }

    /// Somebody would have to unlock the keyring, and for nothing.
    @Test func whatIsGivenUpBeforeItIsAskedIsNotAsked() async {
        let ends = ends
        let answer = await ask { question in
            #expect(question.isOpen)
            question.giveUp()
            #expect(!question.isOpen && !question.begin { ends.add() })
        }
        #expect(answer == .failure(.silent) && ends.count.withLock { $0 } == 0)
    }

    @Test func whatIsGivenUpWhileItIsAskedIsEndedOnce() async {
        let ends = ends
        let answer = await ask { question in
            #expect(question.begin { ends.add() })
            question.giveUp()
            question.giveUp()
            question.answer(.success(1))
        }
        #expect(answer == .failure(.silent) && ends.count.withLock { $0 } == 1)
    }

    @Test func whatIsAnsweredIsNotEnded() async {
        let ends = ends
        let answer = await ask { question in
            #expect(question.begin { ends.add() })
            question.answer(.success(1))
            question.giveUp()
        }
        #expect(answer == .success(1) && ends.count.withLock { $0 } == 0)
    }
}
