import Cells
import Text

/// A photo's name in a list, with what was searched for set off.
struct PhotoName {
    let name: String
    /// Where in the name the words that were searched for stand, in bytes.
    let hits: [Range<Int>]

    func draw(isSelected: Bool, _ theme: Theme, in surface: inout Surface, _ line: Rect) {
        surface.write(
            name.truncated(toWidth: line.size.columns), in: line, style: isSelected ? theme.selectedName : theme.name)
        drawHits(theme, in: &surface, line)
    }

    /// Writes the words that were searched for once more, as far as they are in sight.
    private func drawHits(_ theme: Theme, in surface: inout Surface, _ line: Rect) {
        let bytes = Array(name.utf8)
        for hit in hits where hit.upperBound <= bytes.count {
            let before = String(decoding: bytes[..<hit.lowerBound], as: UTF8.self).madeVisible.displayWidth
            let word = String(decoding: bytes[hit], as: UTF8.self)
            var room = line
            guard before + word.madeVisible.displayWidth < line.size.columns else { continue }
            _ = room.takeLeft(before)
            surface.write(word, in: room, style: theme.hit)
        }
    }
}
