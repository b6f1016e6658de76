import Logging
import Model
import Scheduling
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// A bulk fetch and the subjects that it takes up.
@Suite struct BulkFetchTests {
    private let folder = TestFolder()
    private let cache: GalleryCache

    init() throws {
        let address = try Address("http://example.org/index.xml")
        cache = try CacheFolder(path: folder.path("cache"), log: Log()).open(address)
    }

    private func entry(_ number: Int) throws -> GalleryEntry {
        let url = try Address("http://example.org/\(number).jpg")
        let date = Timestamp(milliseconds: Int64(number))
        return GalleryEntry(id: "\(number)", name: "\(number)", date: date, photo: url, thumbnail: url)
    }

    private func sync(_ entries: [GalleryEntry]) async throws { try await sync(entries, cache) }

    private func sync(_ entries: [GalleryEntry], _ cache: GalleryCache) async throws {
        let draft = try cache.beginSync()
        try draft.add(entries)
        _ = try await cache.writer.commit(
            draft.finish(), skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 1))
    }

    private func makeFetch(of count: Int) async throws -> BulkFetch {
        try await sync((0..<count).map { try entry($0) })
        return try #require(BulkFetch(Wish(.everyPicture(cache.id, .thumbnail), importance: .rest)))
    }

    /// A gallery may have a million photos, and refills are requested several times a second.
    @Test func anExhaustedFetchWaitsForAChange() async throws {
        var fetch = try await makeFetch(of: 0)
        #expect(try !fetch.refill(cache) { _ in false })
        _ = try await makeFetch(of: 3)
        #expect(try !fetch.refill(cache) { _ in false }, "it has looked again")
        fetch.photosChanged()
        #expect(try fetch.refill(cache) { _ in false } && fetch.underWay.count == 3)
        for subject in fetch.underWay { fetch.exclude(subject) }
        #expect(try !fetch.refill(cache) { _ in false })
        _ = try await makeFetch(of: 5)
        fetch.restart()
        #expect(try fetch.refill(cache) { _ in false } && fetch.underWay.count == 2)
    }

    /// A refill is requested after each settled subject.
    @Test func moreIsTakenUpAfterHalfIsSettled() async throws {
        var fetch = try await makeFetch(of: 2_000)
        #expect(try fetch.refill(cache) { _ in false })
        var counts: [Int] = []
        var questions = 0
        for _ in 0..<600 {
            fetch.settle(fetch.underWay[0], cache)
            let before = fetch.underWay.count
            #expect(
                try fetch.refill(cache) { _ in
                    questions += 1
                    return false
                })
            if fetch.underWay.count != before { counts.append(before) }
        }
        #expect(counts == [256, 256])
        // Checking each of them every time would take two hundred thousand checks.
        #expect(questions < 16_000)
    }

    @Test func postponedSubjectsMakeSpace() async throws {
        var fetch = try await makeFetch(of: 2_000)
        _ = try fetch.refill(cache) { _ in false }
        var putOff: Set<Wish.Subject> = []
        var counts: [Int] = []
        for subject in fetch.underWay {
            putOff.insert(subject)
            let before = fetch.underWay.count
            _ = try fetch.refill(cache) { putOff.contains($0) }
            if fetch.underWay.count != before { counts.append(putOff.count) }
        }
        #expect(counts == [256, 512])
        #expect(fetch.underWay.count == 1_024)
    }

    /// Another program may commit a list while a picture is on its way. The picture is then stored for nothing.
    @Test("A photo that changed while it was fetched is fetched again, and one that failed is not", arguments: [1, 2])
    func changedMeanwhile(edition: Int) async throws {
        var fetch = try await makeFetch(of: 1)
        #expect(try fetch.refill(cache) { _ in false })
        let subject = fetch.underWay[0]
        var changed = try entry(0)
        changed.thumbnail = try Address("http://example.org/another.jpg")
        try await sync([changed])
        fetch.settle(subject, after: RequestIdentity(subject, edition: edition), cache)
        #expect(try fetch.refill(cache) { _ in false } == (edition == 1))
        #expect(fetch.underWay == (edition == 1 ? [subject] : []))
    }

    @Test("BEHAVIOURS 5.2: thumbnails of all photos come before the photos, whichever were requested first")
    func order() async throws {
        let caches = try CacheFolder(path: folder.path("others"), log: Log())
        var wishes: [Wish] = []
        var (thumbnails, photos): ([Wish.Subject], [Wish.Subject]) = ([], [])
        for number in 0..<8 {
            let cache = try caches.open(Address("http://example.org/\(number).xml"))
            try await sync([try entry(0)], cache)
            wishes.append(Wish(.everyPicture(cache.id, .original), importance: .rest))
            wishes.append(Wish(.everyPicture(cache.id, .thumbnail), importance: .rest))
            let key = try #require(try cache.read { try $0.photo(galleryID: "0") }).key
            thumbnails.append(.picture(cache.id, key, .thumbnail))
            photos.append(.picture(cache.id, key, .original))
        }
        var fetches = BulkFetches()
        fetches.adopt(wishes, declined: [])
        let refill = fetches.refill(caches, RetrySchedule(), at: .zero) { _ in false }
        #expect(refill.hasChanged && refill.failures.isEmpty)
        #expect(fetches.wishes(except: []).map(\.subject) == thumbnails + photos)
    }

    @Test func aFetchEndsWithItsLastSubject() async throws {
        var fetch = try await makeFetch(of: 3)
        for _ in 0..<3 {
            #expect(try fetch.refill(cache) { _ in false })
            let subject = fetch.underWay[0]
            guard case .picture(_, let key, _) = subject else { continue }
            try await cache.writer.store(thumbnail: [1], of: key, edition: 1)
            fetch.settle(subject, cache)
        }
        #expect(try !fetch.refill(cache) { _ in false })
    }
}
