import Model
import Settings
import Synchronization
import TestSupport
import Testing

@testable import UI

@MainActor @Suite(.unlessItHangs) struct RememberedGalleriesTests {
    /// A disk that finishes each write only when the test allows it.
    private final class Disk: Sendable {
        let events = Mutex<[String]>([])
        let begun = AsyncStream<Void>.makeStream()
        let mayEnd = AsyncStream<Void>.makeStream()

        func write(_ list: GalleryList) async -> GalleryList {
            let name = list.addresses.map { $0.path.split(separator: "/").last ?? "" }.joined(separator: " ")
            note("begin " + name)
            begun.continuation.yield()
            for await _ in mayEnd.stream { break }
            note("end " + name)
            return list
        }

        private func note(_ event: String) { events.withLock { $0.append(event) } }
    }

    /// Takes the same hop between executors as a write.
    private nonisolated func pass() async {}

    @Test("BEHAVIOURS 4.4, 6.1: lists are written in order, so the last one wins")
    func inOrder() async throws {
        let disk = Disk()
        let galleries = RememberedGalleries(presets: [], list: GalleryList()) { list, _ in await disk.write(list) }
        let lists = ["one", "two", "three"].map { GalleryList([Address(filePath: "/\($0)")]) }
        for list in lists { galleries.save(list) { _ in } }
        #expect(galleries.list == lists[2])
        for _ in lists {
            for await _ in disk.begun.stream { break }
            // A write that does not wait for its turn would have begun by now.
            for _ in 0..<10 { await Task { await pass() }.value }
            disk.mayEnd.continuation.yield()
        }
        await galleries.settled()
        #expect(
            disk.events.withLock { $0 } == [
                "begin one", "end one", "begin two", "end two", "begin three", "end three",
            ])
    }

    @Test func anUnchangedListIsNotWritten() async throws {
        let disk = Disk()
        disk.mayEnd.continuation.finish()
        let list = GalleryList([Address(filePath: "/one")])
        let galleries = RememberedGalleries(presets: [], list: list) { list, _ in await disk.write(list) }
        galleries.save(list) { _ in }
        await galleries.settled()
        #expect(disk.events.withLock { $0 }.isEmpty)
        galleries.save(GalleryList()) { _ in }
        await galleries.settled()
        #expect(disk.events.withLock { $0 } == ["begin ", "end "])
    }

    /// A file that another process writes, too.
    private final class SharedFile: Sendable {
        let list = Mutex(GalleryList())
        let isFull = Mutex(false)

        func write(_ list: GalleryList, since before: GalleryList) throws -> GalleryList {
            guard !isFull.withLock({ $0 }) else { throw SettingsError.file(path: "/galleries", reason: "full") }
            return self.list.withLock { file in
                file = list.merging(file, since: before)
                return file
            }
        }
    }

    @Test("BEHAVIOURS 4.4, 6.1: changes by another process are merged")
    func others() async throws {
        let (one, two) = (Address(filePath: "/one"), Address(filePath: "/two"))
        let (three, four) = (Address(filePath: "/three"), Address(filePath: "/four"))
        let file = SharedFile()
        file.list.withLock { $0 = GalleryList([one]) }
        let galleries = RememberedGalleries(presets: [], list: GalleryList([one])) { try file.write($0, since: $1) }
        file.list.withLock { _ = $0.add(two) }
        // The second list is made from the first before the first is written.
        galleries.save(GalleryList([one, three])) { _ in }
        galleries.save(GalleryList([three])) { _ in }
        await galleries.settled()
        #expect(file.list.withLock { $0.addresses } == [two, three] && galleries.list.addresses == [two, three])
        // A list that could not be written is written with the next save.
        file.isFull.withLock { $0 = true }
        galleries.save(GalleryList([two, three, four])) { _ in }
        await galleries.settled()
        #expect(galleries.failure == "/galleries: full.")
        file.isFull.withLock { $0 = false }
        file.list.withLock { _ = $0.add(one) }
        galleries.save(galleries.list) { _ in }
        await galleries.settled()
        #expect(file.list.withLock { $0.addresses } == [two, three, one, four] && galleries.failure == nil)
        #expect(galleries.list == file.list.withLock { $0 })
    }

    @Test func anOlderDraftIsMerged() async {
        let (one, two, three) = (Address(filePath: "/one"), Address(filePath: "/two"), Address(filePath: "/three"))
        let galleries = RememberedGalleries(presets: [], list: GalleryList([one, two])) { list, _ in list }
        galleries.save(GalleryList([one, three]), since: GalleryList([one])) { _ in }
        await galleries.settled()
        #expect(galleries.list.addresses == [one, two, three])
    }
}
