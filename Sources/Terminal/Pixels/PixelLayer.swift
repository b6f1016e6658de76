import Cells
import Glibc

/// The pictures whose pixels lie over the screen.
///
/// A picture is shown when the screen has been at rest for a moment, stays as long as it is wanted in that place, and is gone
/// before anything else is drawn there. With kitty pictures float above the text and are removed by their numbers. With the
/// others they take the cells' place: what is written into such a cell removes that part of them. Those cells are ceded,
/// that is, ncurses is let believe that something stands in them, and so writes all of them when they are text again.
struct PixelLayer {
    private struct Shown {
        let placement: PixelPlacement
        /// Its number, for kitty.
        let id: UInt32
        /// The number of this showing.
        let showing: UInt32
    }

    private var shown: [Shown] = []
    private var wanted: [PixelPlacement] = []
    /// Those of the wanted for which the terminal has no room beside the others, as long as the same are wanted.
    private var unplaced: Set<PixelPlacement> = []
    /// Whether the last frame wanted others than the one before it.
    private(set) var hasChanged = false
    private var store = KittyStore()
    private var showings: UInt32 = 0
    /// Whether a tmux has to be asked to pass everything on.
    let isThroughTmux: Bool

    init(isThroughTmux: Bool = false) {
        self.isThroughTmux = isThroughTmux
    }

    /// Whether everything that is wanted is shown, as far as there is room for it.
    var isComplete: Bool { !missing.contains { _ in true } }

    /// Whether nothing is shown, and nothing kept to be shown again.
    var isEmpty: Bool { shown.isEmpty && store.numbers.isEmpty }

    /// The cells that are no text now.
    var ceded: [Rect] { shown.filter { cedesCells($0.placement) }.map(\.placement.rect) }

    /// Takes in what the next frame wants, and takes away what it does not. Returns the bytes for that, to be sent before the
    /// frame's text.
    mutating func prepare(for placements: [PixelPlacement], on size: Size) -> [UInt8] {
        let before = wanted
        wanted = placements.filter { Self.isSafe($0, on: size) && $0.picture.isThroughTmux == isThroughTmux }
        hasChanged = wanted != before
        if hasChanged { unplaced = [] }
        let kept = Set(wanted)
        var bytes: [UInt8] = []
        for gone in shown where !kept.contains(gone.placement) && gone.placement.picture.language == .kitty {
            bytes += passed(KittySequence.remove(id: gone.id, placement: gone.showing))
        }
        shown.removeAll { !kept.contains($0.placement) }
        return bytes
    }

    /// Shows the next picture that is wanted and not shown yet. Returns its bytes, in pieces that follow each other, and the
    /// cells that it takes from the text; nil when all of them are shown.
    ///
    /// - Parameter most: pictures that take more bytes than that are passed over. Their places stay text.
    mutating func showNext(upTo most: Int = .max) -> (pieces: [[UInt8]], ceded: Rect?)? {
        while let placement = missing.first(where: { cost(of: $0.picture) <= most }) {
            if let sent = show(placement) { return sent }
            unplaced.insert(placement)
        }
        return nil
    }

    /// Shows a picture; nil if the terminal has no room for it.
    private mutating func show(_ placement: PixelPlacement) -> (pieces: [[UInt8]], ceded: Rect?)? {
        showings &+= 1
        var id: UInt32 = 0
        var pieces: [[UInt8]] = []
        switch placement.picture.language {
        case .kitty:
            guard
                let (number, forgotten, isNew) = store.number(for: placement.picture, beside: Set(shown.map(\.id)))
            else { return nil }
            id = number
            pieces += forgotten.map { passed(KittySequence.forget(id: $0)) }
            if isNew { pieces += KittySequence.transmit(placement.picture, id: id) }
            pieces +=
                isThroughTmux
                ? [
                    passed(KittyPlaceholders.begin(id: id, placement: showings, size: placement.picture.size)),
                    KittyPlaceholders.cells(id: id, placement.rect),
                ]
                : [
                    Self.go(to: placement.origin),
                    KittySequence.place(id: id, placement: showings, size: placement.picture.size),
                ]
        case .iterm: pieces = [Self.go(to: placement.origin)] + ITermSequence.show(placement.picture)
        case .sixel: pieces = [Self.go(to: placement.origin)] + SixelSequence.show(placement.picture)
        }
        shown.append(Shown(placement: placement, id: id, showing: showings))
        return (pieces, cedesCells(placement) ? placement.rect : nil)
    }

    /// Begins anew on a screen that was cleared, or that is not ours any more. Returns the bytes that remove what a cleared
    /// screen leaves.
    mutating func clear() -> [UInt8] {
        defer {
            shown = []
            unplaced = []
            store = KittyStore()
        }
        return store.numbers.flatMap { passed(KittySequence.forget(id: $0)) }
    }

    private var missing: some Sequence<PixelPlacement> {
        let done = unplaced.union(shown.lazy.map(\.placement))
        return wanted.lazy.filter { !done.contains($0) }
    }

    /// The bytes that it takes to show a picture: next to none, if it was sent before.
    private func cost(of picture: PixelPicture) -> Int {
        picture.language == .kitty && store.holds(picture) ? 0 : picture.byteCount
    }

    private func cedesCells(_ placement: PixelPlacement) -> Bool {
        placement.picture.language != .kitty || isThroughTmux
    }

    private func passed(_ sequence: [UInt8]) -> [UInt8] {
        isThroughTmux ? TmuxPassage.wrapped(sequence) : sequence
    }

    private static func go(to point: Point) -> [UInt8] {
        Array("\u{1B}[\(point.row + 1);\(point.column + 1)H".utf8)
    }

    /// After a picture some terminals put the cursor into the line below, and scroll where there is none.
    private static func isSafe(_ placement: PixelPlacement, on size: Size) -> Bool {
        placement.picture.language == .kitty || placement.rect.rows.upperBound < size.rows
    }
}

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
