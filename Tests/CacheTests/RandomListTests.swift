import Model
import SQLite
import TestSupport
import Testing

@testable import Cache

/// Random lists. After each update the cache agrees with a simple comparison of the two lists.
@Suite struct RandomListTests {
    private struct Row: Equatable {
        var key: Int64
        var entry: GalleryEntry
        var editions: [Int]
        var digest: Int64?
    }

    @Test("BEHAVIOURS 2.5: random lists, one after the other", arguments: 1...12)
    func random(seed: UInt64) async throws {
        let test = try TestCache()
        var numbers = SeededNumbers(seed: seed)
        var list = StampedEntries([])
        var expected: [String: Row] = [:]
        for round in 0..<12 {
            if round % 4 != 3 { list = try next(list, &numbers) }
            let summary = Self.apply(list, to: &expected)
            let pieces = Int.random(in: 1...70, using: &numbers)
            let result = try await test.sync(&list, pieces: pieces)
            #expect(result.summary == summary)
            let found = try Self.rows(of: test)
            // New photos are numbered in list order, starting anywhere.
            #expect(Set(found.keys) == Set(expected.keys))
            for (id, row) in found {
                if expected[id]?.key == 0 { expected[id]?.key = row.key }
                #expect(expected[id] == row, "seed \(seed), round \(round)")
            }
        }
        #expect(try await test.cache.writer.complaints().isEmpty)
    }

    // MARK: - Lists

    private func next(_ list: StampedEntries, _ numbers: inout SeededNumbers) throws -> StampedEntries {
        func chance(_ part: Int) -> Bool { Int.random(in: 0..<part, using: &numbers) == 0 }
        var entries = list.entries
        if chance(3) { entries.removeAll { _ in chance(4) } }
        if chance(4), entries.count > 20 { entries.removeSubrange(0..<entries.count / 2) }
        if chance(3) { entries = Array(entries.dropFirst(entries.count / 3) + entries.prefix(entries.count / 3)) }
        if chance(6) { entries.shuffle(using: &numbers) }
        if chance(6) { entries.reverse() }
        for _ in 0..<(chance(3) ? 0 : Int.random(in: 1...60, using: &numbers)) {
            let id = "\(Int.random(in: 0..<300, using: &numbers))"
            let index = chance(2) ? 0 : Int.random(in: 0...entries.count, using: &numbers)
            entries.insert(try TestCache.entry(id, thumbnail: chance(5) ? nil : "default"), at: index)
        }
        for index in entries.indices where chance(12) {
            switch Int.random(in: 0..<4, using: &numbers) {
            case 0: entries[index].name += "!"
            case 1: entries[index].date.milliseconds += 1_000
            case 2:
                let end = chance(2) ? "x" : ":x"
                entries[index].photo = try Address(
                    chance(3) ? "https://other.example/\(index)" : entries[index].photo.text + end)
            default: entries[index].thumbnail = chance(2) ? nil : try Address("http://example.org/other.jpg")
            }
        }
        // The same photos, one moved slightly.
        if entries.count > 2, chance(2) {
            entries.insert(entries.removeLast(), at: Int.random(in: 0..<entries.count, using: &numbers))
        }
        var next = StampedEntries(entries, seed: chance(5) ? UInt64.random(in: 1...3, using: &numbers) : list.seed)
        let ids = entries.map(\.id)
        next.remarked = Set(ids.filter { _ in chance(20) })
        next.broken = Set(ids.filter { _ in chance(25) })
        // Invalid entries and those with remarks have other digests.
        for index in entries.indices where next.broken.contains(ids[index]) || next.remarked.contains(ids[index]) {
            next.entries[index].name += "\u{2026}\(UInt64.random(in: 0...UInt64.max, using: &numbers))"
        }
        return next
    }

    // MARK: - Expectations

    private static func apply(_ list: StampedEntries, to rows: inout [String: Row]) -> SyncSummary {
        var summary = SyncSummary()
        var seen: Set<String> = []
        for entry in list.entries where !list.broken.contains(entry.id) {
            guard seen.insert(entry.id).inserted else {
                summary.skipped += 1
                continue
            }
            let digest = list.remarked.contains(entry.id) ? nil : list.digest(of: entry)
            guard var row = rows[entry.id] else {
                rows[entry.id] = Row(key: 0, entry: entry, editions: [1, 1], digest: digest)
                summary.added += 1
                continue
            }
            if row.entry == entry {
                row.digest = digest ?? row.digest
            } else {
                summary.changed += 1
                let isRedated = row.entry.date != entry.date
                let isPhotoNew = isRedated || row.entry.photo != entry.photo
                let isThumbnailNew = isRedated || row.entry.thumbnail != entry.thumbnail
                if isPhotoNew { row.editions[0] += 1 }
                if isThumbnailNew || (isPhotoNew && entry.thumbnail == nil) { row.editions[1] += 1 }
                row.entry = entry
                row.digest = digest
            }
            rows[entry.id] = row
        }
        for id in rows.keys where !seen.contains(id) {
            rows[id] = nil
            summary.removed += 1
        }
        summary.total = rows.count
        return summary
    }

    private static func rows(of test: TestCache) throws -> [String: Row] {
        var rows: [String: Row] = [:]
        try test.cache.read { reader in
            try reader.connection.forEach(
                """
                SELECT key, id, name, date, \(AddressBase.whole("photo_address")),
                       \(AddressBase.whole("thumbnail_address")), photo_edition, thumbnail_edition, entry_digest
                FROM photo
                """
            ) { row in
                let entry = GalleryEntry(
                    id: row.text(1), name: row.text(2), date: Timestamp(milliseconds: row.int(3)),
                    photo: try row.address(4), thumbnail: row.isNull(5) ? nil : try row.address(5))
                rows[entry.id] = Row(
                    key: row.int(0), entry: entry, editions: [Int(row.int(6)), Int(row.int(7))],
                    digest: row.optionalInt(8))
            }
        }
        return rows
    }
}
