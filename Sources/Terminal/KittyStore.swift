import Cells
import Glibc

/// The pictures that a kitty holds for us, so that one that comes into view again need not be sent again.
struct KittyStore {
    private struct Entry {
        let id: UInt32
        /// The turn of its last use.
        var used: Int
    }

    private var entries: [PixelPicture: Entry] = [:]
    private var bytes = 0
    private var turn = 0
    private var lastIndex: UInt32 = 0

    /// Bytes of pictures, as they are sent. kitty's own bound is 320 MB for all that its windows hold.
    private static let limit = 48 << 20
    /// Numbers 1 to 255 below one that is this program's own: placeholders can name no others in a palette of 256 colours.
    private static let mostPictures = 250

    /// The numbers of all pictures.
    var numbers: [UInt32] { entries.values.map(\.id) }

    /// Whether a picture was sent, and is still there.
    func holds(_ picture: PixelPicture) -> Bool { entries[picture] != nil }

    /// The number of a picture, those of pictures that had to go for it, and whether it has to be sent.
    mutating func number(for picture: PixelPicture) -> (id: UInt32, forgotten: [UInt32], isNew: Bool) {
        turn += 1
        if let entry = entries[picture] {
            entries[picture]?.used = turn
            return (entry.id, [], false)
        }
        var forgotten: [UInt32] = []
        while entries.count >= Self.mostPictures || (bytes + picture.byteCount > Self.limit && !entries.isEmpty) {
            guard let oldest = entries.min(by: { $0.value.used < $1.value.used }) else { break }
            entries[oldest.key] = nil
            bytes -= oldest.key.byteCount
            forgotten.append(oldest.value.id)
        }
        let id = freeNumber()
        entries[picture] = Entry(id: id, used: turn)
        bytes += picture.byteCount
        return (id, forgotten, true)
    }

    /// Two programs in one terminal share its numbers: ours have the process' in their highest byte.
    private mutating func freeNumber() -> UInt32 {
        let taken = Set(entries.values.map(\.id))
        let high = (UInt32(truncatingIfNeeded: getpid()) & 0x7F | 0x80) << 24
        repeat { lastIndex = lastIndex % 255 + 1 } while taken.contains(high | lastIndex)
        return high | lastIndex
    }
}
