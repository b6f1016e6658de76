import TestSupport
import Testing

@testable import Networking

struct BoundaryRetryAfterTests {
    @Test("No number in Retry-After traps, and every wait is within a day")
    func waits() {
        var numbers = BoundaryNumbers(seed: 1)
        for _ in 0..<10_000 {
            let now = Int(truncatingIfNeeded: numbers.number() >> 2)
            for text in [numbers.text(), "Sun, \(numbers.text()) Nov \(numbers.text()) 08:49:37 GMT"] {
                guard let seconds = RetryAfter.seconds(text, now: now) else { continue }
                #expect((0...RetryAfter.most).contains(seconds))
            }
        }
        #expect(RetryAfter.seconds("18446744073709551616") == RetryAfter.most)
    }
}
