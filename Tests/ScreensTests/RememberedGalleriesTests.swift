import Model
import Settings
import Synchronization
import Testing

@testable import Screens

@MainActor @Suite(.timeLimit(.minutes(5))) struct RememberedGalleriesTests {
    /// A disk that writes when it may.
    private final class Disk: Sendable {
        let events = Mutex<[String]>([])
        let begun = AsyncStream<Void>.makeStream()
        let mayEnd = AsyncStream<Void>.makeStream()

        func write(_ list: GalleryList) async {
            let name = list.addresses.map(\.lastComponent).joined(separator: " ")
            note("begin " + name)
            begun.continuation.yield()
            for await _ in mayEnd.stream { break }
            note("end " + name)
        }

        private func note(_ event: String) { events.withLock { $0.append(event) } }
    }

    /// Takes the way that a write takes, and so comes after those that were begun before.
    private nonisolated func pass() async {}

    @Test("BEHAVIOURS 4.4, 6.1: lists are written one after the other, and the last one is the one that stays")
    func inOrder() async throws {
        let disk = Disk()
        let galleries = RememberedGalleries(presets: [], list: GalleryList()) { await disk.write($0) }
        let lists = ["one", "two", "three"].map { GalleryList([Address(filePath: "/\($0)")]) }
        for list in lists { galleries.save(list) { _ in } }
        #expect(galleries.list == lists[2])
        for _ in lists {
            for await _ in disk.begun.stream { break }
            // Whoever does not wait for his turn would have begun by now.
            for _ in 0..<10 { await Task { await pass() }.value }
            disk.mayEnd.continuation.yield()
        }
        await galleries.settled()
        #expect(
            disk.events.withLock { $0 } == [
                "begin one", "end one", "begin two", "end two", "begin three", "end three",
            ])
    }

    @Test func nothingNewIsNotWritten() async throws {
        let disk = Disk()
        disk.mayEnd.continuation.finish()
        let list = GalleryList([Address(filePath: "/one")])
        let galleries = RememberedGalleries(presets: [], list: list) { await disk.write($0) }
        galleries.save(list) { _ in }
        await galleries.settled()
        #expect(disk.events.withLock { $0 }.isEmpty)
        galleries.save(GalleryList()) { _ in }
        await galleries.settled()
        #expect(disk.events.withLock { $0 } == ["begin ", "end "])
    }
}
