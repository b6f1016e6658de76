import Cells
import Concurrency
import Model
import Pictures

/// The pane beside a list: the photo that the cursor rests on, and what it says of itself. Whether there is one, and where.
@MainActor
final class PhotoPane {
    /// Whether the user wants it, where there is room.
    private(set) var isWanted = true
    let rest: Debounce<PhotoKey>
    /// What was drawn last: it stays until there is something of the next photo, so that nothing goes blank on the way.
    var shown: (key: PhotoKey, picture: DrawnPicture)?
    private var isRoomy = false

    /// With fewer columns there is none.
    static let leastWidth = 120
    /// How long the cursor has to rest on a photo before the pane shows it.
    static let restInterval = Duration.milliseconds(120)

    init(_ context: ScreenContext) {
        rest = Debounce(interval: Self.restInterval, wait: context.wait)
    }

    /// Takes it away, or brings it back. Returns whether there is room for it.
    func toggle() -> Bool {
        guard isRoomy else { return false }
        isWanted.toggle()
        return true
    }

    /// Takes its room from the list's.
    func takeRoom(_ rest: inout Rect) -> Rect? {
        isRoomy = rest.size.columns >= Self.leastWidth
        guard isRoomy, isWanted else { return nil }
        return rest.takeRight(min(90, rest.size.columns * 2 / 5))
    }

    /// Lines for what a photo says: the same for all of them, so that no picture is drawn in another size for it.
    static func lines(in frame: Rect) -> Int { min(14, frame.size.rows * 2 / 5) }
}
