import TestSupport
import Testing

@testable import Terminal

@MainActor @Suite(.unlessItHangs) struct RestTimerTests {
    /// Frames come all the time, faster than it waits, and none of them has other pictures.
    @Test func whatGoesOnBesideItDoesNotKeepItFromEnding() async {
        var rests = 0
        let timer = RestTimer { rests += 1 }
        timer.begin()
        while rests == 0 {
            timer.goOn()
            await Task.yield()
        }
        timer.cancel()
        #expect(rests == 1)
    }
}
