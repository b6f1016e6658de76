import Model
import Settings
import Synchronization
import Testing

@testable import Screens

@MainActor @Suite(.timeLimit(.minutes(1))) struct RememberedGalleriesTests {
    private final class Disk: Sendable {
        let written = Mutex<[GalleryList]>([])
        let begun = AsyncStream<Void>.makeStream()
        let mayEnd = AsyncStream<Void>.makeStream()
    }

    @Test("BEHAVIOURS 4.4, 6.1: lists are written one after the other, and the last one is the one that stays")
    func inOrder() async throws {
        let disk = Disk()
        let galleries = RememberedGalleries(presets: [], list: GalleryList()) { list in
            disk.begun.continuation.yield()
            for await _ in disk.mayEnd.stream { break }
            disk.written.withLock { $0.append(list) }
        }
        let one = GalleryList([Address(filePath: "/one")])
        let two = GalleryList([Address(filePath: "/two")])
        galleries.save(one) { _ in }
        for await _ in disk.begun.stream { break }
        galleries.save(two) { _ in }
        #expect(galleries.list == two)
        disk.mayEnd.continuation.yield()
        for await _ in disk.begun.stream { break }
        // By the time that the second begins, the first has ended.
        #expect(disk.written.withLock { $0 } == [one])
        disk.mayEnd.continuation.yield()
        await galleries.settled()
        #expect(disk.written.withLock { $0 } == [one, two])
    }

    @Test func nothingNewIsNotWritten() async throws {
        let disk = Disk()
        let list = GalleryList([Address(filePath: "/one")])
        let galleries = RememberedGalleries(presets: [], list: list) { list in
            disk.written.withLock { $0.append(list) }
        }
        galleries.save(list) { _ in }
        await galleries.settled()
        #expect(disk.written.withLock { $0 }.isEmpty)
    }
}
