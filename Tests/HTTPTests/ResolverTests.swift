import Logging
import Numbers
import TestSupport
import Testing

@testable import HTTP

/// Faults of name servers.
@Suite(.ownThread, .enabled(if: OwnNetwork.isPossible), .unlessItHangs) struct ResolverTests {
    private static let url = "http://gallery.example/list"

    private func failure(_ answer: ScriptedResolver.Answer, patience: Int = 60) async throws -> HTTPError? {
        let resolver = try ScriptedResolver(answer)
        let client = HTTPClient(HTTPConfiguration(connectTimeout: patience), log: Log())
        let request = HTTPRequest(url: Self.url, destination: .stream, limit: 1 << 20)
        // curl's threads run in the network of their creator and read the same files.
        return await resolver.inside { client.transfer(request) }.failure()
    }

    @Test(arguments: [ScriptedResolver.Answer.unknown, .failure, .refusal, .nonsense])
    func whoDoesNotKnowTheHostSaysSo(answer: ScriptedResolver.Answer) async throws {
        let error = try await failure(answer)
        #expect(error == .unknownHost("gallery.example") && error?.isTransient == true)
    }

    @Test func aSilentResolverHasTheConnectTimeout() async throws {
        let error = try await failure(.silent, patience: 1)
        #expect(error == .lookupTimedOut("gallery.example") && error?.isTransient == true)
    }

    /// The C library gives up earlier than curl, which then reports an unknown host.
    @Test func aSilentResolverDoesNotMeanAnUnknownHost() async throws {
        #expect(try await failure(.silent) == .lookupTimedOut("gallery.example"))
    }
}
