import Cells
import Testing

@testable import Terminal

@Suite struct KittyStoreTests {
    /// A store that requirements can change.
    private final class Kept {
        private var store = KittyStore()

        var numbers: Set<UInt32> { Set(store.numbers) }

        func holds(_ picture: PixelPicture) -> Bool { store.holds(picture) }

        func number(
            for picture: PixelPicture, beside shown: Set<UInt32>
        ) -> (id: UInt32, deleted: [UInt32], isNew: Bool)? {
            store.number(for: picture, beside: shown)
        }
    }

    /// Different pictures of a given size.
    private func pictures(_ count: Int, megabytes: Int) -> [PixelPicture] {
        let payload = [UInt8](repeating: UInt8(ascii: "A"), count: megabytes << 20)
        return (1...count).map {
            PixelPicture(.kitty, size: Size(columns: $0, rows: 1), width: 10 * $0, height: 20, payload: payload)
        }
    }

    @Test("Visible pictures stay and the oldest hidden ones are deleted") func evictsOldest() throws {
        let store = Kept()
        let pictures = pictures(4, megabytes: 20)
        let one = try #require(store.number(for: pictures[0], beside: []))
        let two = try #require(store.number(for: pictures[1], beside: [one.id]))
        #expect(one.isNew && two.isNew && two.deleted.isEmpty)
        // More than the limit for hidden pictures.
        let three = try #require(store.number(for: pictures[2], beside: [one.id, two.id]))
        #expect(three.deleted.isEmpty && store.numbers.count == 3)
        let again = try #require(store.number(for: pictures[0], beside: [two.id, three.id]))
        #expect(again.id == one.id && !again.isNew && again.deleted.isEmpty)
        let four = try #require(store.number(for: pictures[3], beside: [three.id]))
        #expect(four.deleted == [two.id, one.id] && store.holds(pictures[2]) && !store.holds(pictures[1]))
        #expect(store.numbers == [three.id, four.id])
    }

    /// Konsole reads a larger id as 0, and stores no picture. Smaller ids belong to ``InlinePictures``.
    @Test("Ids are signed numbers of 32 bits") func signedIds() throws {
        let store = Kept()
        let stored = try #require(store.number(for: pictures(1, megabytes: 1)[0], beside: []))
        #expect((64..<128).contains(stored.id >> 24) && stored.id & 0xFF > 0)
    }

    @Test("Visible pictures have a limit") func screenLimit() throws {
        let store = Kept()
        var shown: Set<UInt32> = []
        let pictures = pictures(7, megabytes: 30)
        for picture in pictures.prefix(6) { shown.insert(try #require(store.number(for: picture, beside: shown)).id) }
        #expect(store.number(for: pictures[6], beside: shown) == nil && store.numbers == shown)
        // Alone it fits.
        let last = try #require(store.number(for: pictures[6], beside: []))
        #expect(Set(last.deleted) == shown)
    }
}
