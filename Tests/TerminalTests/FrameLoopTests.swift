import Testing

@testable import Terminal

@MainActor @Suite struct FrameLoopTests {
    @Test("Input and other changes before a frame cause one frame, and a frame waits for the terminal")
    func oneFrame() async {
        var (isReady, draws) = (false, 0)
        var next: CheckedContinuation<Void, Never>?
        let frames = FrameLoop(
            isReady: {
                next?.resume()
                next = nil
                return isReady
            }, draw: { draws += 1 })
        /// Returns when the loop asks whether the terminal is ready.
        func turn(_ body: () -> Void) async {
            await withCheckedContinuation { continuation in
                next = continuation
                body()
            }
        }
        await turn {
            frames.setNeedsFrame()
            frames.inputArrived()
            frames.setNeedsFrame()
        }
        #expect(draws == 0)
        isReady = true
        await turn { frames.resume() }
        #expect(draws == 1)
        // The replaced frame is not drawn later.
        for count in 2...5 {
            await turn {
                frames.setNeedsFrame()
                frames.inputArrived()
            }
            #expect(draws == count)
        }
    }
}
