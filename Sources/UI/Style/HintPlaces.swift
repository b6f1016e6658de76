import Cells
import Commands

/// Where hints were drawn, for a mouse to find them.
struct HintPlaces {
    private var places: [(frame: Rect, command: Command)] = []

    /// Notes where a hint was drawn.
    mutating func note(_ frame: Rect, _ command: Command) { places.append((frame, command)) }

    /// The command that is hinted at at a place of the screen.
    func command(at position: Point) -> Command? {
        places.first { $0.frame.contains(position) }?.command
    }
}
