import Model
import TestSupport
import Testing

@testable import Cache

/// Which parts of the caches are removed, and in which order. Nothing here uses a disk.
@Suite struct CacheBudgetTests {
    private static let day: Int64 = 86_400_000
    private let now = Timestamp(milliseconds: 1_000 * day)

    private func time(_ daysAgo: Int64) -> Timestamp { Timestamp(milliseconds: now.milliseconds - daysAgo * Self.day) }

    private func cache(
        _ name: String, opened daysAgo: Int64, photos: Int64 = 0, database: Int64 = 10, canShrink: Bool = true,
        _ change: (inout CacheInventory) -> Void = { _ in }
    ) -> CacheInventory {
        var cache = CacheInventory(name: name, lastOpened: time(daysAgo), lastUsed: time(daysAgo))
        (cache.photos, cache.database, cache.canShrink) = (photos, database, canShrink)
        change(&cache)
        return cache
    }

    private func setAside(_ daysAgo: Int64, size: Int64 = 5) -> CacheInventory.SetAside {
        CacheInventory.SetAside(name: "gallery.sqlite.damaged-\(daysAgo)", size: size, time: time(daysAgo))
    }

    /// Applies the steps to the numbers until there are none left. A database shrinks to half its size.
    private func steps(_ caches: [CacheInventory], limit: Int64?) -> (steps: [CacheBudget.Step], rest: [CacheInventory])
    {
        let budget = CacheBudget(limit: limit, now: now)
        var (rest, steps): ([CacheInventory], [CacheBudget.Step]) = (caches, [])
        while let step = budget.next(rest) {
            steps.append(step)
            let index = rest.firstIndex { $0.name == step.gallery }!
            switch step {
            case .setAside(let file, _): rest[index].setAside.removeAll { $0 == file }
            case .large(_, let bytes):
                // A large file of an open gallery is wanted.
                if rest[index].isOpenHere {
                    rest[index].isLargeStuck = true
                } else {
                    rest[index].large -= min(bytes, rest[index].large)
                }
            case .photos(_, let bytes): rest[index].photos -= min(bytes, rest[index].photos)
            case .thumbnails: (rest[index].canShrink, rest[index].database) = (false, rest[index].database / 2)
            case .everything: rest.remove(at: index)
            }
            if steps.count > 10_000 { break }
        }
        return (steps, rest)
    }

    @Test("BEHAVIOURS 4.2: the least recently opened gallery goes first, its photos before its thumbnails")
    func order() {
        let caches = [
            cache("new", opened: 1, photos: 100), cache("old", opened: 80, photos: 100),
            cache("middle", opened: 40, photos: 100),
        ]
        #expect(steps(caches, limit: 330).steps.isEmpty)
        #expect(steps(caches, limit: 300).steps == [.photos(of: "old", bytes: 30)])
        #expect(
            steps(caches, limit: 180).steps == [
                .photos(of: "old", bytes: 150), .thumbnails(of: "old"), .photos(of: "middle", bytes: 45),
            ])
        // Lists go when nothing else is left.
        #expect(
            steps(caches, limit: 9).steps.suffix(4) == [
                .photos(of: "new", bytes: 111), .thumbnails(of: "new"), .everything(of: "old"),
                .everything(of: "middle"),
            ])
        #expect(steps(caches, limit: nil).steps.isEmpty)
    }

    @Test("BEHAVIOURS 4.2: a large file goes before everything else, and not more of them than needed")
    func largeFiles() {
        let caches = [
            cache("old", opened: 80, photos: 100) { $0.setAside = [setAside(3)] },
            cache("new", opened: 1, photos: 10) { $0.large = 400 },
        ]
        #expect(steps(caches, limit: 535).steps.isEmpty)
        #expect(steps(caches, limit: 500).steps == [.large(of: "new", bytes: 35)])
        #expect(
            steps(caches, limit: 130).steps == [
                .large(of: "new", bytes: 405), .setAside(setAside(3), of: "old"),
            ])
    }

    @Test("BEHAVIOURS 4.2: no gallery loses anything because of a large file that must stay", arguments: 0..<4)
    func largeFilesThatStay(place: Int) {
        let caches = [
            cache("old", opened: 80, photos: 100) { $0.setAside = [setAside(3)] },
            cache("film", opened: 1, photos: 10) { cache in
                cache.large = 5_000
                switch place {
                case 0: (cache.isInUse, cache.isOpenHere) = (true, true)
                case 1: cache.isInUse = true
                case 2: cache.isKept = true
                default: cache.isReadable = false
                }
            },
        ]
        let (first, rest) = steps(caches, limit: 200)
        #expect(first == (place == 0 ? [.large(of: "film", bytes: 4_935)] : []))
        #expect(rest[0] == caches[0] && rest[1].large == 5_000)
        // The other files count as before.
        #expect(
            steps(caches, limit: 100).steps.suffix(2) == [
                .setAside(setAside(3), of: "old"), .photos(of: "old", bytes: 30),
            ]
        )
    }

    @Test(
        "BEHAVIOURS 4.2: lists of closed galleries stay, whatever pictures open galleries have",
        arguments: [true, false])
    func listsStay(isOpenHere: Bool) {
        let caches = [
            cache("old", opened: 80, photos: 100, database: 30),
            cache("open", opened: 1, photos: 10_000) { ($0.isInUse, $0.isOpenHere) = (true, isOpenHere) },
        ]
        #expect(steps(caches, limit: 25).steps == [.photos(of: "old", bytes: 10_115), .thumbnails(of: "old")])
        // The lists themselves exceed the limit.
        #expect(steps(caches, limit: 14).steps.last == .everything(of: "old"))
    }

    @Test("BEHAVIOURS 4.2: an open gallery loses pictures in its turn if nothing needs them")
    func unneeded() {
        func caches(needed: Set<Rendition>) -> [CacheInventory] {
            [
                cache("here", opened: 80, photos: 100) {
                    ($0.isInUse, $0.isOpenHere, $0.needed) = (true, true, needed)
                },
                cache("closed", opened: 40, photos: 100),
            ]
        }
        #expect(steps(caches(needed: []), limit: 200).steps == [.photos(of: "here", bytes: 20)])
        #expect(steps(caches(needed: [.thumbnail]), limit: 200).steps == [.photos(of: "closed", bytes: 20)])
        #expect(
            steps(caches(needed: [.thumbnail]), limit: 100).steps == [
                .photos(of: "closed", bytes: 120), .thumbnails(of: "closed"), .photos(of: "here", bytes: 15),
            ])
        #expect(steps(caches(needed: [.original]), limit: 100).steps.last == .thumbnails(of: "here"))
    }

    @Test("BEHAVIOURS 4.2: open and kept galleries stay")
    func stays() {
        let caches = [
            cache("open", opened: 80, photos: 100) { $0.isInUse = true },
            cache("kept", opened: 70, photos: 100) { ($0.isKept, $0.isRemembered) = (true, false) },
            cache("last", opened: 0, photos: 100),
        ]
        let (steps, rest) = steps(caches, limit: 0)
        #expect(steps.allSatisfy { $0.gallery == "last" } && steps.count == 3)
        #expect(rest == Array(caches.prefix(2)))
    }

    @Test("BEHAVIOURS 4.2: an unreadable cache loses only databases that were set aside")
    func unreadable() {
        let damaged = cache("damaged", opened: 400, photos: 100) {
            ($0.isRemembered, $0.isReadable, $0.setAside) = (false, false, [setAside(3), setAside(31)])
        }
        let (steps, rest) = steps([damaged], limit: 0)
        #expect(steps == [.setAside(setAside(31), of: "damaged"), .setAside(setAside(3), of: "damaged")])
        #expect(rest.map(\.photos) == [100])
    }

    @Test("BEHAVIOURS 4.2: abandoned caches are removed, however much space there is")
    func abandoned() {
        let caches = [
            cache("remembered", opened: 400), cache("forgotten", opened: 90) { $0.isRemembered = false },
            cache("recent", opened: 89) { $0.isRemembered = false },
            // The user does not open it, but a timetable updates it.
            cache("filled", opened: 400) { ($0.isRemembered, $0.lastUsed) = (false, time(1)) },
            cache("kept", opened: 400) { ($0.isRemembered, $0.isKept) = (false, true) },
            cache("open", opened: 400) { ($0.isRemembered, $0.isInUse) = (false, true) },
            // It may belong to a kept gallery, and may be rescued.
            cache("damaged", opened: 100) { ($0.isRemembered, $0.isReadable) = (false, false) },
        ]
        #expect(steps(caches, limit: nil).steps == [.everything(of: "forgotten")])
    }

    @Test("BEHAVIOURS 4.2: an open cache that the user has removed goes when it is closed, however much space there is")
    func emptied() {
        let caches = [
            cache("emptied", opened: 0) { ($0.isRemembered, $0.isEmptied) = (false, true) },
            cache("listed again", opened: 0) { $0.isEmptied = true },
            cache("open", opened: 0) { ($0.isRemembered, $0.isEmptied, $0.isInUse) = (false, true, true) },
        ]
        #expect(steps(caches, limit: nil).steps == [.everything(of: "emptied")])
    }

    @Test("A database set aside goes after thirty days, or when space is short") func databasesSetAside() {
        let caches = [
            cache("a", opened: 1, photos: 100) { $0.setAside = [setAside(31), setAside(3)] },
            cache("b", opened: 80, photos: 100) { $0.setAside = [setAside(29)] },
            cache("open", opened: 0) { ($0.isInUse, $0.setAside) = (true, [setAside(30), setAside(1)]) },
        ]
        #expect(
            steps(caches, limit: 1_000).steps == [
                .setAside(setAside(31), of: "a"), .setAside(setAside(30), of: "open"),
            ])
        #expect(
            steps(caches, limit: 235).steps.dropFirst(2) == [
                .setAside(setAside(29), of: "b"), .setAside(setAside(3), of: "a"),
            ])
    }

    /// A wrong clock must not remove anything, nor cause an endless loop.
    @Test("Times in the future are not past") func futureTimes() {
        let caches = [Int64.max, now.milliseconds + 1].enumerated().map { index, milliseconds in
            cache("\(index)", opened: 0) {
                $0.lastUsed = Timestamp(milliseconds: milliseconds)
                $0.isRemembered = false
                $0.setAside = [
                    CacheInventory.SetAside(name: "x", size: 1, time: Timestamp(milliseconds: milliseconds))
                ]
            }
        }
        #expect(steps(caches, limit: nil).steps.isEmpty)
    }

    /// Random caches and limits.
    @Test("Cleaning meets its limit and keeps its order", arguments: 0..<400) func properties(seed: Int) {
        var numbers = SeededNumbers(seed: UInt64(seed))
        let caches = (0..<Int.random(in: 0...8, using: &numbers)).map { index in
            cache(
                "\(index)", opened: .random(in: 0...200, using: &numbers),
                photos: .random(in: 0...100, using: &numbers),
                database: .random(in: 1...100, using: &numbers), canShrink: .random(using: &numbers)
            ) { cache in
                cache.isInUse = .random(in: 0..<4, using: &numbers) == 0
                cache.isKept = .random(in: 0..<4, using: &numbers) == 0
                cache.isRemembered = .random(in: 0..<3, using: &numbers) > 0
                cache.isReadable = .random(in: 0..<6, using: &numbers) > 0
                cache.setAside = (0..<Int.random(in: 0...2, using: &numbers)).map { _ in
                    setAside(.random(in: 0...60, using: &numbers), size: .random(in: 0...50, using: &numbers))
                }
            }
        }
        let limit = Bool.random(using: &numbers) ? Int64.random(in: 0...800, using: &numbers) : nil
        let (steps, rest) = steps(caches, limit: limit)
        #expect(steps.count <= 1_000)
        let names = Dictionary(uniqueKeysWithValues: caches.map { ($0.name, $0) })
        for step in steps {
            let cache = names[step.gallery]!
            if case .setAside(let file, _) = step {
                #expect(!cache.isInUse || file.time <= time(30))
            } else {
                #expect(!cache.isInUse && !cache.isKept && cache.isReadable)
            }
        }
        // The rest is within the limit, or nothing removable is left.
        func excess(_ caches: [CacheInventory]) -> Int64 { caches.reduce(0) { $0 + $1.size } - (limit ?? .max) }
        #expect(excess(rest) <= 0 || rest.allSatisfy { !Self.mayGive($0) })
        #expect(
            excess(rest.filter { !$0.isInUse }) <= 0 || rest.allSatisfy { $0.isInUse || $0.isKept || !$0.isReadable })
        // No cache loses files while a cache opened earlier still has photos or thumbnails.
        var state = names
        for step in steps {
            switch step {
            case .photos(let name, let bytes):
                for other in state.values where Self.mayGive(other) {
                    #expect((state[name]!.lastOpened, name) <= (other.lastOpened, other.name))
                }
                #expect(bytes > 0)
                state[name]!.photos -= min(bytes, state[name]!.photos)
            case .thumbnails(let name):
                #expect(state[name]!.photos == 0)
                for other in state.values where Self.mayGive(other) {
                    #expect((state[name]!.lastOpened, name) <= (other.lastOpened, other.name))
                }
                state[name]!.canShrink = false
            case .everything(let name): state[name] = nil
            case .setAside, .large: break
            }
        }
    }

    private static func mayGive(_ cache: CacheInventory) -> Bool {
        !cache.isInUse && !cache.isKept && cache.isReadable && (cache.photos > 0 || cache.canShrink)
    }
}
