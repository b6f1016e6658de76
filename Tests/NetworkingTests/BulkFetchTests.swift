import Logging
import Model
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// A wish for every picture, and what is taken up for it.
@Suite struct BulkFetchTests {
    private let folder = TestFolder()
    private let cache: GalleryCache

    init() throws {
        let address = try Address("http://example.org/index.xml")
        cache = try CacheFolder(path: folder.path("cache"), log: Log()).open(address)
    }

    private func makeSweep(of count: Int) async throws -> BulkFetch {
        let draft = try cache.beginSync()
        try draft.add(
            (0..<count).map { number in
                let url = try Address("http://example.org/\(number).jpg")
                let date = Timestamp(milliseconds: Int64(number))
                return GalleryEntry(id: "\(number)", name: "\(number)", date: date, photo: url, thumbnail: url)
            })
        _ = try await cache.writer.commit(
            draft.finish(), skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 1))
        return try #require(BulkFetch(Wish(.everyPicture(cache.id, .thumbnail), importance: .rest)))
    }

    /// A gallery may have a million photos, and it is asked several times a second whether anything is left.
    @Test func whereNothingIsWantingNobodyLooksAgainBeforeSomethingChanges() async throws {
        var sweep = try await makeSweep(of: 0)
        #expect(try !sweep.refill(cache) { _ in false })
        _ = try await makeSweep(of: 3)
        #expect(try !sweep.refill(cache) { _ in false }, "it has looked again")
        sweep.noteChange()
        #expect(try sweep.refill(cache) { _ in false } && sweep.underWay.count == 3)
        for subject in sweep.underWay { sweep.leaveOut(subject) }
        #expect(try !sweep.refill(cache) { _ in false })
        _ = try await makeSweep(of: 5)
        sweep.noteList(of: cache.id)
        #expect(try sweep.refill(cache) { _ in false } && sweep.underWay.count == 2)
    }

    /// Each that is settled is followed by a question whether more is to be taken up.
    @Test func moreIsTakenUpWhenHalfIsSettled() async throws {
        var sweep = try await makeSweep(of: 2_000)
        #expect(try sweep.refill(cache) { _ in false })
        var counts: [Int] = []
        var questions = 0
        for _ in 0..<600 {
            try sweep.noteSettled(sweep.underWay[0], cache)
            let before = sweep.underWay.count
            #expect(
                try sweep.refill(cache) { _ in
                    questions += 1
                    return false
                })
            if sweep.underWay.count != before { counts.append(before) }
        }
        #expect(counts == [256, 256])
        // To look at each of them each time would be two hundred thousand.
        #expect(questions < 16_000)
    }

    @Test func whatIsPutOffMakesRoomToo() async throws {
        var sweep = try await makeSweep(of: 2_000)
        _ = try sweep.refill(cache) { _ in false }
        var putOff: Set<Wish.Subject> = []
        var counts: [Int] = []
        for subject in sweep.underWay {
            putOff.insert(subject)
            let before = sweep.underWay.count
            _ = try sweep.refill(cache) { putOff.contains($0) }
            if sweep.underWay.count != before { counts.append(putOff.count) }
        }
        #expect(counts == [256, 512])
        #expect(sweep.underWay.count == 1_024)
    }

    @Test func aSweepEndsWithItsLast() async throws {
        var sweep = try await makeSweep(of: 3)
        for _ in 0..<3 {
            #expect(try sweep.refill(cache) { _ in false })
            let subject = sweep.underWay[0]
            guard case .picture(_, let key, _) = subject else { continue }
            try await cache.writer.store(thumbnail: [1], of: key, edition: 1)
            try sweep.noteSettled(subject, cache)
        }
        #expect(try !sweep.refill(cache) { _ in false })
    }
}
