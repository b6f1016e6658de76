import Logging
import Numbers
import TestSupport
import Testing

@testable import HTTP

/// What a name server does wrong.
@Suite(.ownThread, .enabled(if: OwnNetwork.isPossible), .unlessItHangs) struct ResolverTests {
    private static let url = "http://gallery.example/list"

    private func failure(_ answer: ScriptedResolver.Answer, patience: Int = 60) async throws -> HTTPError? {
        let resolver = try ScriptedResolver(answer)
        let client = HTTPClient(HTTPConfiguration(connectTimeout: patience), log: Log())
        let request = HTTPRequest(url: Self.url, destination: .stream, limit: 1 << 20)
        // curl's threads are in the network of whoever starts them, and look into the same files.
        return await resolver.inside { client.transfer(request) }.failure()
    }

    @Test(arguments: [ScriptedResolver.Answer.unknown, .failure, .refusal, .nonsense])
    func whoDoesNotKnowTheHostSaysSo(answer: ScriptedResolver.Answer) async throws {
        let error = try await failure(answer)
        #expect(error == .unknownHost("gallery.example") && error?.isTransient == true)
    }

    @Test func whoIsSilentIsNotWaitedForLongerThanForAConnection() async throws {
        let error = try await failure(.silent, patience: 1)
        #expect(error == .lookupTimedOut("gallery.example") && error?.isTransient == true)
    }

    /// The C library gives up sooner than we do, and curl says the same as of a host that is not known.
    @Test func whoIsSilentHasNotSaidThatThereIsNoSuchHost() async throws {
        #expect(try await failure(.silent) == .lookupTimedOut("gallery.example"))
    }
}
