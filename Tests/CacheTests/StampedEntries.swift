import Model
import SQLite

@testable import Cache

/// Entries with digests, like those of a gallery's file.
struct StampedEntries: WrittenEntries {
    var entries: [GalleryEntry]
    /// Depends on the document's address, because the same entries elsewhere have other digests.
    var seed: UInt64 = 1
    /// Ids of entries with remarks, whose digest is not kept.
    var remarked: Set<String> = []
    /// Ids of invalid entries.
    var broken: Set<String> = []
    private(set) var reads = 0

    var count: Int { entries.count }

    init(_ entries: [GalleryEntry], seed: UInt64 = 1) {
        self.entries = entries
        self.seed = seed
    }

    func digest(at index: Int) -> Int64? { digest(of: entries[index]) }

    func digest(of entry: GalleryEntry) -> Int64 {
        let text = "\(entry.id)|\(entry.name)|\(entry.date.milliseconds)|\(entry.photo)|\(entry.thumbnail?.text ?? "")"
        return Int64(
            bitPattern: text.utf8.reduce(seed &+ 0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 })
    }

    mutating func read(_ index: Int, into entry: inout EntryBytes) -> Bool {
        reads += 1
        guard !broken.contains(entries[index].id) else { return false }
        entry.set(entries[index], digest: remarked.contains(entries[index].id) ? nil : digest(at: index))
        return true
    }
}

extension TestCache {
    /// Updates the cache. Returns the result and the number of queries before the commit.
    @discardableResult
    func sync(_ entries: inout StampedEntries, pieces: Int = .max) async throws -> (summary: SyncSummary, queries: Int)
    {
        let draft = try cache.beginSync()
        var rest = entries.entries[...]
        while !rest.isEmpty {
            var piece = entries
            piece.entries = Array(rest.prefix(pieces))
            rest = rest.dropFirst(pieces)
            try draft.add(&piece)
        }
        let queries = draft.queries
        let summary = try await cache.writer.commit(
            draft.finish(), skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 1))
        return (summary, queries)
    }
}

extension GalleryWriter {
    /// The rows that the writer has written so far.
    var rowsWritten: Int64 {
        get throws { try transaction { try $0.first("SELECT total_changes()") { $0.int(0) } ?? 0 } }
    }
}
