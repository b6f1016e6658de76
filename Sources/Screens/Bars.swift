/// Signs that fill more and more of a cell from below.
struct Bars {
    /// The lowest first.
    let signs: [Character]

    /// - Parameter isPlain: whether there is ASCII alone; there, the higher, the more ink.
    init(isPlain: Bool) {
        signs = isPlain ? ["_", ".", "-", "=", "+", "*", "#"] : ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    }
}
