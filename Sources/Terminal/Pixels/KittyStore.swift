import Cells
import Glibc

/// The pictures that a kitty holds for us, so that one that comes into view again need not be sent again.
struct KittyStore {
    private struct Entry {
        let id: UInt32
        let byteCount: Int
        /// The turn of its last use.
        var used: Int
    }

    private var entries: [PixelPicture.Identity: Entry] = [:]
    private var bytes = 0
    private var turn = 0
    private var lastIndex: UInt32 = 0

    /// Bytes of pictures, as they are sent, up to which those are kept that are not on the screen. kitty's own bound is 320 MB for
    /// all that its windows hold.
    private static let limit = 48 << 20
    /// The same of those that are on the screen: more than the largest screens there are.
    private static let mostOnScreen = 192 << 20
    /// Numbers 1 to 255 below one that is this program's own: placeholders can name no others in a palette of 256 colours.
    private static let mostPictures = 250

    /// The numbers of all pictures.
    var numbers: [UInt32] { entries.values.map(\.id) }

    /// Whether a picture was sent, and is still there.
    func holds(_ picture: PixelPicture) -> Bool { entries[picture.identity] != nil }

    /// The number of a picture, those of pictures that had to go for it, and whether it has to be sent; nil if there is no room
    /// for it beside those that have to stay.
    ///
    /// - Parameter shown: the numbers of pictures that are on the screen. To take one of them away for another would leave a hole.
    mutating func number(
        for picture: PixelPicture, beside shown: Set<UInt32>
    ) -> (id: UInt32, forgotten: [UInt32], isNew: Bool)? {
        turn += 1
        if let entry = entries[picture.identity] {
            entries[picture.identity]?.used = turn
            return (entry.id, [], false)
        }
        let idle = entries.filter { !shown.contains($0.value.id) }.sorted { $0.value.used < $1.value.used }
        let bytesShown = bytes - idle.reduce(0) { $0 + $1.value.byteCount }
        guard entries.count - idle.count < Self.mostPictures,
            bytesShown == 0 || bytesShown + picture.byteCount <= Self.mostOnScreen
        else { return nil }
        var forgotten: [UInt32] = []
        for (identity, entry) in idle {
            guard entries.count >= Self.mostPictures || bytes + picture.byteCount > Self.limit else { break }
            entries[identity] = nil
            bytes -= entry.byteCount
            forgotten.append(entry.id)
        }
        let id = freeNumber()
        entries[picture.identity] = Entry(id: id, byteCount: picture.byteCount, used: turn)
        bytes += picture.byteCount
        return (id, forgotten, true)
    }

    /// Two programs in one terminal share its numbers: ours have seven bits of the process' in their highest byte, so that one
    /// other in 128 has the same. All of it would need three bytes, and there is one: placeholders have the lowest, as the
    /// colour of a palette, and the highest, as a diacritic.
    private mutating func freeNumber() -> UInt32 {
        let taken = Set(entries.values.map(\.id))
        let high = (UInt32(truncatingIfNeeded: getpid()) & 0x7F | 0x80) << 24
        repeat { lastIndex = lastIndex % 255 + 1 } while taken.contains(high | lastIndex)
        return high | lastIndex
    }
}
