import HTTP
import Session
import Model
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// The addresses that a gallery's list may name, by the origin of the list.
@Suite struct PictureReachTests {
    private let test: NetworkTest

    init() throws { test = try NetworkTest() }

    @Test func aPrivateListMayNameItsOwnHost() async throws {
        test.putGallery(["a"])
        test.start()
        try await test.refresh()
        #expect(try test.cache.read { try $0.gallery() }.isPrivate == true)
        let request = try #require(try PhotoRequest.make(for: test.full("a"), in: test.context))
        #expect(try request.plan().addressPolicy == .publicOnly(except: "127.0.0.1"))
    }

    /// The list came from a public address, and its name leads into the user's network later.
    @Test func aPublicListMayNotNameAPrivateHost() async throws {
        test.putGallery(["a"])
        test.start()
        try await test.refresh()
        try await test.cache.writer.recordUnchanged(isPrivate: false, at: Timestamp(milliseconds: 1))
        let wishes = [try test.full("a"), try test.thumbnail("a")].map { Wish($0, importance: .visible) }
        test.wishes.state(wishes, by: test.wishes.makeWisher())
        try await test.until { [test] in
            try test.photo("a").original.trouble != nil && test.photo("a").thumbnail.trouble != nil
        }
        let refused = Failure("127.0.0.1 is a private address, and this gallery may not lead there", remedy: .none)
        #expect(try test.photo("a").original.trouble == .bad(refused))
        #expect(try test.photo("a").thumbnail.trouble == .bad(refused))
        #expect(test.paths == ["/index.xml"])
    }
}
