import CNcurses
import Cells

/// ncurses' numbered pairs of text and background colour, made as they are needed.
struct ColourPairs {
    private struct Pair: Hashable {
        let foreground: Int32
        let background: Int32
    }

    private let colours: Int32
    private let limit: Int32
    private var numbers: [Pair: Int32] = [:]

    /// Asks ncurses what there is, for the screen that is set.
    init() {
        start_color()
        // -1 is then the terminal's own colour. Terminals that cannot go back to it get white on black.
        use_default_colors()
        colours = vitrine_ncurses_colors()
        limit = vitrine_ncurses_pairs()
    }

    /// How many colours there are, in terminfo's count.
    var colourCount: Int { Int(colours) }

    /// The pair for two colours, and whether text and background are to be exchanged; nil when there are no pairs left.
    mutating func pair(_ foreground: Colour, _ background: Colour) -> (number: Int32, isReversed: Bool)? {
        let pair = Pair(foreground: number(foreground), background: number(background))
        guard pair.foreground >= 0 || pair.background >= 0 else { return (0, false) }
        if let number = numbers[pair] { return (number, false) }
        // With eight colours there are sixty-four pairs, and as many combinations: each serves both ways round. Not so the
        // terminal's own colours: exchanged, its background would be what its text was.
        let other = Pair(foreground: pair.background, background: pair.foreground)
        if limit <= 256, pair.foreground >= 0, pair.background >= 0, let number = numbers[other] {
            return (number, true)
        }
        let next = Int32(numbers.count) + 1
        guard next < limit else { return nil }
        init_extended_pair(next, pair.foreground, pair.background)
        numbers[pair] = next
        return (next, false)
    }

    /// Begins anew. Every cell that is shown has to be put again.
    mutating func removeAll() {
        numbers.removeAll(keepingCapacity: true)
    }

    private func number(_ colour: Colour) -> Int32 {
        switch colour {
        case .terminal, .rgb: -1
        case .palette(let index): Int32(index) < colours ? Int32(index) : Int32(index) % max(1, colours)
        }
    }
}
