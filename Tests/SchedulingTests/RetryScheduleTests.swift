import Scheduling
import Testing

@Suite struct RetryScheduleTests {
    @Test("The waits grow to six hours, and a command waits a minute at most")
    func schedule() {
        let always = RetrySchedule(random: { 1 })
        #expect(
            (1...6).map { always.delay(afterAttempts: $0, retryAfter: nil) } == [
                .seconds(1), .seconds(60), .seconds(3_600), .seconds(21_600), .seconds(21_600), .seconds(21_600),
            ])
        let never = RetrySchedule(random: { 0 })
        #expect(never.delay(afterAttempts: 3, retryAfter: nil) == .zero)
        #expect(never.delay(afterAttempts: 1, retryAfter: 120) == .seconds(120))
        #expect(never.delay(afterAttempts: 1, retryAfter: 1_000_000_000) == .seconds(21_600))
        let twice = RetrySchedule(maximumAttempts: 2, random: { 1 })
        #expect(twice.delay(afterAttempts: 2, retryAfter: nil) == nil)
        // A command without a screen waits for a short failure only, not for hours.
        #expect(twice.delay(afterAttempts: 1, retryAfter: 60) == .seconds(60))
        #expect(twice.delay(afterAttempts: 1, retryAfter: 61) == nil)
        for _ in 0..<1_000 {
            let delay = RetrySchedule().delay(afterAttempts: 2, retryAfter: nil)
            #expect(delay.map { (.zero ... .seconds(60)).contains($0) } == true)
        }
    }

    @Test("A host that asks for a pause gets no requests for a minute at most")
    func silenceAfterComplaints() {
        let patient = RetrySchedule(), counting = RetrySchedule(maximumAttempts: 2)
        #expect([nil, 0, 30, 60, 3_600].map { patient.silence(retryAfter: $0) } == [0, 0, 30, 60, 60])
        #expect([nil, 0, 30, 60, 3_600].map { counting.silence(retryAfter: $0) } == [0, 0, 30, 60, 0])
    }
}
