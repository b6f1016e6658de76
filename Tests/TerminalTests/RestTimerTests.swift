import TestSupport
import Testing

@testable import Terminal

@MainActor @Suite(.unlessItHangs) struct RestTimerTests {
    /// Frames keep coming with the same pictures.
    @Test("Other events do not delay the end") func ends() async {
        var rests = 0
        let timer = RestTimer { rests += 1 }
        timer.begin()
        while rests == 0 {
            timer.goOn(after: RestTimer.pause)
            await Task.yield()
        }
        timer.cancel()
        #expect(rests == 1)
    }
}
