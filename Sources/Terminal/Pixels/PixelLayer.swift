import Cells
import Dispatch
import Glibc

/// The pictures shown as pixels over the screen.
///
/// The layer shows a picture when the screen has been still for a moment. The picture stays as long as the screen wants
/// it at that position. The layer removes the picture before anything else is drawn there. Kitty pictures float above
/// the text and are removed by id. Pictures of other protocols replace cells, and text written to such a cell removes
/// that part of the picture. Such cells are called ceded. For ncurses they contain a marker, so ncurses writes all of
/// them when they become text again.
struct PixelLayer {
    private struct Shown {
        let placement: PixelPlacement
        /// The picture's id in kitty.
        let id: UInt32
        /// The id of the placement that shows the picture.
        let showing: UInt32
    }

    private var shown: [Shown] = []
    private var wanted: [PixelPlacement] = []
    /// The wanted pictures for which the terminal has no memory. The set is cleared when the wanted pictures change.
    private var unplaced: Set<PixelPlacement> = []
    /// Whether the last frame removed, moved or replaced a picture of the frame before. A picture that follows another
    /// one in place does not count.
    private(set) var hasRemoved = false
    private var store = KittyStore()
    private var showings: UInt32 = 0
    /// Whether the sequences must be wrapped for tmux.
    let isThroughTmux: Bool

    init(isThroughTmux: Bool = false) {
        self.isThroughTmux = isThroughTmux
    }

    /// Whether the terminal shows all wanted pictures, except those that do not fit into its memory.
    var isComplete: Bool { !missing.contains { _ in true } }

    /// Whether the terminal shows a picture.
    var showsPictures: Bool { !shown.isEmpty }

    /// Whether the terminal neither shows nor stores a picture.
    var isEmpty: Bool { shown.isEmpty && store.numbers.isEmpty }

    /// The areas of cells that pictures replace.
    var ceded: [Rect] { shown.filter { cedesCells($0.placement) }.map(\.placement.rect) }

    /// Sets the pictures that the next frame wants. Returns the bytes that remove all other pictures. The caller sends
    /// these bytes before the frame's text.
    ///
    /// A frame of a video stays until ``showNext(upTo:)`` replaces it with the next one, so that no characters appear
    /// between them.
    ///
    /// - Parameter most: the maximum number of bytes of the next picture.
    mutating func prepare(for placements: [PixelPlacement], on size: Size, upTo most: Int = .max) -> [UInt8] {
        let before = wanted
        wanted = placements.filter { Self.isSafe($0, on: size) && $0.picture.isThroughTmux == isThroughTmux }
        if wanted != before { unplaced = [] }
        let kept = Set(wanted)
        let frames = wanted.filter { $0.isMoving && !unplaced.contains($0) && fits($0, upTo: most) }
        func stays(_ old: PixelPlacement) -> Bool { kept.contains(old) || frames.contains { $0.follows(old) } }
        hasRemoved = !before.allSatisfy(stays)
        let erasure = Self.erase(shown.map(\.placement).filter { $0.picture.language == .sixel && !stays($0) })
        return forget { !stays($0) } + erasure
    }

    /// Returns the bytes that print spaces over pictures.
    ///
    /// xterm remembers sixel pictures. Printed characters remove cells from a remembered picture. Sequences that erase
    /// parts of a line (EL, ECH) do not, so the picture would return when another window uncovers the terminal.
    private static func erase(_ gone: [PixelPlacement]) -> [UInt8] {
        guard !gone.isEmpty else { return [] }
        var bytes = Array("\u{1B}7\u{1B}[0m".utf8)
        for rect in gone.map(\.rect) {
            for row in rect.rows {
                bytes += go(to: Point(column: rect.origin.column, row: row))
                bytes += [UInt8](repeating: UInt8(ascii: " "), count: rect.size.columns)
            }
        }
        return bytes + Array("\u{1B}8".utf8)
    }

    /// Shows the next wanted picture. Returns the bytes to send and the cells that the picture replaces; nil if no
    /// picture is left to show.
    ///
    /// - Parameter most: the maximum number of bytes to send. A larger picture is shown as characters for now.
    mutating func showNext(upTo most: Int = .max) -> (pieces: [[UInt8]], ceded: Rect?)? {
        while let placement = missing.first(where: { fits($0, upTo: most) }) {
            if let sent = show(placement) { return sent }
            unplaced.insert(placement)
        }
        return nil
    }

    /// Shows a picture; returns nil if the terminal has no memory for the picture.
    private mutating func show(_ placement: PixelPlacement) -> (pieces: [[UInt8]], ceded: Rect?)? {
        showings &+= 1
        var id: UInt32 = 0
        var pieces: [[UInt8]] = []
        switch placement.picture.language {
        case .kitty:
            guard
                let (number, deleted, isNew) = store.number(for: placement.picture, beside: Set(shown.map(\.id)))
            else { return nil }
            id = number
            pieces += deleted.map { passed(KittySequence.delete(id: $0)) }
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
        case .sixel:
            pieces = SixelSequence.show(placement.picture) { [origin = placement.origin] tile in
                Self.go(to: Point(column: origin.column + tile.column, row: origin.row + tile.row))
            }
        }
        pieces.append(forget { placement.follows($0) })
        shown.append(Shown(placement: placement, id: id, showing: showings))
        return (pieces, cedesCells(placement) ? placement.rect : nil)
    }

    /// Forgets some of the shown pictures. Returns the bytes that remove those of kitty.
    private mutating func forget(_ isGone: (PixelPlacement) -> Bool) -> [UInt8] {
        let gone = shown.filter { isGone($0.placement) }
        shown.removeAll { isGone($0.placement) }
        return gone.filter { $0.placement.picture.language == .kitty }.flatMap {
            passed(KittySequence.remove(id: $0.id, placement: $0.showing))
        }
    }

    /// Forgets all pictures, because the screen is cleared. Returns the bytes that delete stored pictures.
    mutating func clear() -> [UInt8] {
        defer {
            shown = []
            unplaced = []
            store = KittyStore()
        }
        return store.numbers.flatMap { passed(KittySequence.delete(id: $0)) }
    }

    private var missing: some Sequence<PixelPlacement> {
        let done = unplaced.union(shown.lazy.map(\.placement))
        return wanted.lazy.filter { !done.contains($0) }
    }

    /// Returns whether a picture has at most this number of bytes.
    ///
    /// A frame of a video that would replace characters may have only half the bytes. Otherwise characters and pixels
    /// would take turns when the frames have about the largest size.
    private func fits(_ placement: PixelPlacement, upTo most: Int) -> Bool {
        let isFirst = placement.isMoving && !shown.contains { placement.follows($0.placement) }
        return cost(of: placement.picture) <= (isFirst ? most / 2 : most)
    }

    /// Returns the number of bytes that show a picture; 0 if the terminal has stored the picture.
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

    /// Returns whether a picture can be shown without scrolling. Some terminals move the cursor below a picture, and
    /// scroll if the picture reaches the last row.
    private static func isSafe(_ placement: PixelPlacement, on size: Size) -> Bool {
        placement.picture.language == .kitty || placement.rect.rows.upperBound < size.rows
    }
}

/// Divides each row of the screen into the parts between pictures.
///
/// ncurses writes a row from its first to its last change and may rewrite everything in between. So the screen passes
/// the changes on different sides of a picture to ncurses one part at a time.
struct PictureGaps {
    /// The sorted columns where pictures end, for each row.
    private var ends: [Int: [Int]] = [:]

    init(_ pictures: [Rect]) {
        for picture in pictures {
            for row in picture.rows { ends[row, default: []].append(picture.columns.upperBound) }
        }
        for row in ends.keys { ends[row]?.sort() }
    }

    /// The maximum number of pictures in any row.
    var most: Int { ends.values.map(\.count).max() ?? 0 }

    /// Returns the index of the part of a row that contains a column.
    func index(ofColumn column: Int, row: Int) -> Int {
        ends[row]?.firstIndex { column < $0 } ?? ends[row]?.count ?? 0
    }
}

/// The record of the pictures that kitty stores, so that Vitrine sends each picture once.
struct KittyStore {
    private struct Entry {
        let id: UInt32
        let byteCount: Int
        /// The value of the store's `turn` when the picture was last used.
        var used: Int
    }

    private var entries: [PixelPicture.Identity: Entry] = [:]
    private var bytes = 0
    private var turn = 0
    private var lastIndex: UInt32 = 0

    /// The maximum number of bytes of stored pictures, as sent, before Vitrine deletes hidden pictures. Kitty stores at
    /// most 320 MB for all its windows.
    private static let limit = 48 << 20
    /// The maximum number of bytes of visible pictures, as sent: enough for the largest screens.
    private static let mostOnScreen = 192 << 20
    /// The maximum number of stored pictures. Ids differ in one byte, because placeholders encode this byte in a
    /// palette of 256 colours.
    private static let mostPictures = 250

    /// The ids of all stored pictures.
    var numbers: [UInt32] { entries.values.map(\.id) }

    /// Returns whether the terminal stores a picture.
    func holds(_ picture: PixelPicture) -> Bool { entries[picture.identity] != nil }

    /// Returns a picture's id, the ids of pictures to delete first, and whether to send the picture. Returns nil if the
    /// picture does not fit beside the visible pictures.
    ///
    /// - Parameter shown: the ids of visible pictures, which are never deleted.
    mutating func number(
        for picture: PixelPicture, beside shown: Set<UInt32>
    ) -> (id: UInt32, deleted: [UInt32], isNew: Bool)? {
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
        var deleted: [UInt32] = []
        for (identity, entry) in idle {
            guard entries.count >= Self.mostPictures || bytes + picture.byteCount > Self.limit else { break }
            entries[identity] = nil
            bytes -= entry.byteCount
            deleted.append(entry.id)
        }
        let id = freeNumber()
        entries[picture.identity] = Entry(id: id, byteCount: picture.byteCount, used: turn)
        bytes += picture.byteCount
        return (id, deleted, true)
    }

    /// Returns an unused id. The highest byte contains six bits of the process id, because all programs in one terminal
    /// use the same set of ids. Its first bit is 0, because Konsole reads ids as signed numbers.
    private mutating func freeNumber() -> UInt32 {
        let taken = Set(entries.values.map(\.id))
        let high = (UInt32(truncatingIfNeeded: getpid()) & 0x3F | 0x40) << 24
        repeat { lastIndex = lastIndex % 255 + 1 } while taken.contains(high | lastIndex)
        return high | lastIndex
    }
}

/// Calls a closure after a pause, unless the wait is restarted or cancelled.
@MainActor
final class RestTimer {
    /// The default pause. The pause is longer than a frame, so that a key held down does not count as rest.
    static let pause = DispatchTimeInterval.milliseconds(30)

    /// The number of the latest start. Timers of earlier starts have no effect.
    private var generation = 0
    /// Whether the timer is running.
    private var isWaiting = false
    private let onRest: () -> Void

    init(onRest: @escaping () -> Void) {
        self.onRest = onRest
    }

    /// Starts the wait, or restarts it.
    func begin(after pause: DispatchTimeInterval = RestTimer.pause) {
        generation += 1
        isWaiting = true
        let begun = generation
        DispatchQueue.main.asyncAfter(deadline: .now() + pause) { [weak self] in
            MainActor.assumeIsolated {
                guard let self, self.generation == begun else { return }
                self.isWaiting = false
                self.onRest()
            }
        }
    }

    /// Starts the wait, unless the timer is running.
    func goOn(after pause: DispatchTimeInterval) {
        if !isWaiting { begin(after: pause) }
    }

    /// Cancels the wait.
    func cancel() {
        generation += 1
        isWaiting = false
    }
}
