import TestSupport
import Testing

@testable import HTTP

/// Parsing challenges of servers.
@Suite(.ownThread) struct ChallengeTests {
    private func read(_ lines: String...) -> [String] {
        HTTPChallenge.all(in: lines, isProxy: false).map { "\($0.scheme):\($0.realm)" }
    }

    @Test func validChallenges() {
        #expect(read("Basic realm=\"photos\"") == ["basic:photos"])
        #expect(read("Basic realm=\"a, \\\"b\\\" = c\", charset=\"UTF-8\"") == ["basic:a, \"b\" = c"])
        #expect(read("Negotiate", "Basic realm=x") == ["negotiate:", "basic:x"])
        #expect(
            read("Digest qop=\"auth, auth-int\", nonce=\"a==\", REALM = \"d\" , Basic realm=\"b\"") == [
                "digest:d", "basic:b",
            ])
        #expect(read("Negotiate a87421000492aa8742==, Bearer realm=\"r\", error=\"x\"") == ["negotiate:", "bearer:r"])
        #expect(read("Negotiate , NTLM,Basic") == ["negotiate:", "ntlm:", "basic:"])
        #expect(
            read("Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\", Basic realm=\"simple\"")
                == ["newauth:apps", "basic:simple"])
    }

    @Test("Nextcloud’s name for Basic counts as Basic") func disguisedBasic() {
        #expect(read("DummyBasic realm=\"Authorisation\", charset=\"UTF-8\"") == ["basic:Authorisation"])
        #expect(read("dummybasic, Digest realm=\"d\"") == ["basic:", "digest:d"])
        #expect(read("DummyBasics realm=\"x\"") == ["dummybasics:x"])
    }

    @Test func invalidChallenges() {
        #expect(read("", " ", ",,, ,", "=", "\"").isEmpty)
        #expect(read("Basic realm=\"never closed") == ["basic:never closed"])
        #expect(read("Basic realm=\"ends in \\") == ["basic:ends in \\"])
        #expect(read("=x, Basic realm=y") == ["x:", "basic:y"])
        #expect(read("Basic realm=first, realm=second") == ["basic:first"])
        #expect(read("Basic realm=") == ["basic:"])
        // The length is limited here; terminal sequences are escaped elsewhere.
        #expect(read("Basic realm=\"" + String(repeating: "é", count: 10_000) + "\"").map(\.count) == [262])
        #expect(read(String(repeating: "A,", count: 10_000)).count == 16)
    }

    /// Any bytes: the parser ends within its limits.
    @Test func randomChallenges() {
        var numbers = SeededNumbers(seed: 1)
        let pieces = ["Basic", "realm", "=", "\"", "\\", ",", " ", "\t", "é", "\u{1B}", "a", "==", "(", "\u{0}"]
        for _ in 0..<2_000 {
            let line = (0..<Int.random(in: 0..<40, using: &numbers)).map { _ in pieces.randomElement(using: &numbers)! }
            let challenges = HTTPChallenge.all(in: [line.joined()], isProxy: true)
            #expect(challenges.count <= 16 && challenges.allSatisfy { !$0.scheme.isEmpty && $0.isProxy })
        }
    }
}
