import Model
import TestSupport
import Testing

@testable import Cache

/// The received beginnings of photos.
@Suite struct KeptPartsTests {
    private let test: TestCache
    private let parts = KeptParts()

    init() throws { test = try TestCache() }

    private func file(of size: Int) throws -> PartialFile {
        let file = try test.cache.files.makePartial(of: PhotoKey(1), edition: 1)
        file.write(String(repeating: "x", count: size))
        return file
    }

    private func keep(
        _ size: Int = 65_536, of key: Int64, edition: Int = 1, validator: String? = "\"v\""
    ) throws {
        parts.keep(
            try file(of: size), of: PhotoKey(key), edition: edition, validator: validator,
            url: "http://example.org/\(key).jpg", whole: 100_000)
    }

    @Test("A part of 64 KiB is kept, with what its continuation needs")
    func kept() throws {
        try keep(of: 1)
        #expect(parts.size(PhotoKey(1), edition: 1) == 65_536)
        #expect(parts.size(PhotoKey(1), edition: 2) == 0 && parts.size(PhotoKey(2), edition: 1) == 0)
        let part = try #require(parts.take(PhotoKey(1), edition: 1))
        #expect(part.size == 65_536 && part.validator == "\"v\"" && part.whole == 100_000)
        #expect(part.url == "http://example.org/1.jpg" && part.file.size == 65_536)
        #expect(parts.take(PhotoKey(1), edition: 1) == nil, "two transfers must not write to one file")
    }

    @Test("A smaller part, and a part without a validator, are not kept")
    func notKept() throws {
        try keep(65_535, of: 1)
        try keep(of: 2, validator: nil)
        #expect(parts.take(PhotoKey(1), edition: 1) == nil && parts.take(PhotoKey(2), edition: 1) == nil)
    }

    @Test("A part of an earlier edition is discarded when the photo is fetched")
    func otherEdition() throws {
        try keep(of: 1)
        #expect(parts.take(PhotoKey(1), edition: 2) == nil)
        #expect(parts.take(PhotoKey(1), edition: 1) == nil)
    }

    @Test("The latest 64 parts are kept, and a part kept again counts as late")
    func latest() throws {
        for key: Int64 in 1...64 { try keep(of: key) }
        try keep(70_000, of: 1)
        #expect(parts.size(PhotoKey(2), edition: 1) == 65_536)
        try keep(of: 65)
        #expect(parts.size(PhotoKey(1), edition: 1) == 70_000)
        #expect(parts.take(PhotoKey(2), edition: 1) == nil)
        #expect(parts.take(PhotoKey(3), edition: 1) != nil && parts.take(PhotoKey(65), edition: 1) != nil)
        // Two places are free now.
        try keep(of: 66)
        try keep(of: 67)
        #expect(parts.size(PhotoKey(4), edition: 1) == 65_536)
    }
}
