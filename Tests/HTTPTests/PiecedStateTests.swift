import Testing

@testable import HTTP

/// The first answer decides how the rest comes.
struct PiecedStateTests {
    private let request = HTTPRequest(url: "http://a.org/", destination: .stream, limit: 100)

    private func state(isGranted: Bool) -> PiecedState {
        var state = PiecedState(
            HTTPRequest.Pieces(size: 10, window: 50, most: 24), of: request, isGranted: isGranted)
        _ = state.plan.first()
        return state
    }

    @Test func oneOfTwoFirstAnswersDecides() {
        var state = state(isGranted: true)
        #expect(state.goOn(from: .asking, to: .inPieces) != nil)
        #expect(state.goOn(from: .asking, to: .inPieces) == nil && state.goOn(from: .asking, to: .inOne) == nil)
        #expect(state.stage == .inPieces)
    }

    @Test func oneOfTwoFailuresRequestsTheRest() {
        var state = state(isGranted: true)
        _ = state.goOn(from: .asking, to: .inPieces)
        #expect(state.goOn(from: .inPieces, to: .inOne) != nil && state.goOn(from: .inPieces, to: .inOne) == nil)
    }

    @Test func aTransferEndsOnce() {
        var state = state(isGranted: true)
        #expect(state.end() != nil && state.end() == nil && !state.wants(.rest))
    }

    /// The answer may be the whole, into the file.
    @Test func theFirstPieceIsRequestedAlone() {
        var (known, unknown) = (state(isGranted: true), state(isGranted: false))
        #expect(known.nextPiece() == 10..<20 && unknown.nextPiece() == nil)
        _ = unknown.goOn(from: .asking, to: .inPieces)
        #expect(unknown.nextPiece() == 10..<20)
    }
}
