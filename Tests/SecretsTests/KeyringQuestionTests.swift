import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import Secrets

@Suite struct KeyringQuestionTests {
    /// Counts cancellations.
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

    /// A running alarm would wake an idle program.
    @Test("An answer cancels the alarm", arguments: [true, false]) func cancelsAlarm(isInTime: Bool) async {
        // Dispatch sources are thread-safe.
        nonisolated(unsafe) let alarm = DispatchSource.makeTimerSource()
        _ = await withCheckedContinuation { (continuation: CheckedContinuation<Result<Int, SecretError>, Never>) in
            let question = KeyringQuestion(continuation, alarm: alarm)
            #expect(!alarm.isCancelled)
            if isInTime { question.answer(.success(1)) } else { question.giveUp() }
            #expect(alarm.isCancelled)
        }
    }

    /// Otherwise the user would unlock the keyring for nothing.
    @Test("A request that times out in the queue is never started") func endsBeforeStart() async {
        let ends = ends
        let answer = await ask { question in
            #expect(question.isOpen)
            question.giveUp()
            #expect(!question.isOpen && !question.begin { ends.add() })
        }
        #expect(answer == .failure(.silent) && ends.count.withLock { $0 } == 0)
    }

    @Test("A request that times out while it runs is cancelled once") func endsWhileRunning() async {
        let ends = ends
        let answer = await ask { question in
            #expect(question.begin { ends.add() })
            question.giveUp()
            question.giveUp()
            question.answer(.success(1))
        }
        #expect(answer == .failure(.silent) && ends.count.withLock { $0 } == 1)
    }

    @Test("An answered request is not cancelled") func answered() async {
        let ends = ends
        let answer = await ask { question in
            #expect(question.begin { ends.add() })
            question.answer(.success(1))
            question.giveUp()
        }
        #expect(answer == .success(1) && ends.count.withLock { $0 } == 0)
    }
}
