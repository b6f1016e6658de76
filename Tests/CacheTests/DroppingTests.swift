import Glibc
import Model
import Testing

@testable import Cache

@Suite struct DroppingTests {
    private let test: TestCache

    init() async throws {
        test = try TestCache()
        try await test.sync(["a", "b", "c"].map { try TestCache.entry($0) })
        for id in ["a", "b"] { try await test.hold(id) }
    }

    private func path(_ id: String) throws -> String? {
        let key = try test.key(id)
        return try test.cache.read { try $0.photoFile(of: key) }.map { test.cache.files.path($0) }
    }

    @Test func droppingPhotosRemovesTheirFilesOnly() async throws {
        let gone = try #require(try path("a"))
        let keys = try ["a", "c"].map { try test.key($0) }
        #expect(try await test.cache.writer.dropPhotos(keys) == 1)
        #expect(access(gone, F_OK) != 0)
        #expect(try path("a") == nil && test.photo("a").original.isWanting && test.photo("a").size == nil)
        #expect(try test.photo("a").thumbnail.isCurrent)
        #expect(try access(#require(try path("b")), F_OK) == 0)
        #expect(try await test.cache.writer.dropPhotos(keys) == 0)
    }

    @Test func renewedPicturesStayUntilNewOnesArrive() async throws {
        let before = try test.photo("a")
        try await test.cache.writer.recordTrouble(
            .bad(Failure("gone", remedy: .none)), for: .original, of: try test.key("c"), edition: 1)
        try await test.cache.writer.refetch(["a", "c"].map { try test.key($0) })
        for rendition in Rendition.allCases {
            let state = try test.photo("a")[rendition]
            #expect(state.isWanting && state.held == before[rendition].held)
            let key = try test.key("a")
            let source = try #require(try test.cache.read { try $0.wantingSource(of: key, rendition) })
            // The server is asked whether the picture is current.
            #expect(source.validators != Validators())
        }
        #expect(try path("a") != nil)
        #expect(try test.photo("c").original.trouble == nil && test.photo("c").original.isWanting)
        #expect(try test.photo("b").original.isCurrent)
        // It is.
        let state = try test.photo("a").original
        #expect(try await test.cache.writer.confirm(.original, of: try test.key("a"), edition: state.edition))
        #expect(try test.photo("a").original.isCurrent && path("a") != nil)
    }
}
