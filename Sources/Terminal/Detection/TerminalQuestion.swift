/// Something that a terminal can be asked.
enum TerminalQuestion: CaseIterable, Hashable, Sendable {
    /// Its name and version.
    case version
    /// Whether it takes kitty's pictures.
    case kitty
    /// The pixels of a cell.
    case cellSize
    /// The pixels of all cells together, for terminals that do not know about one.
    case areaSize
    /// What is behind the text.
    case background
    /// Whether it knows synchronised output.
    case synchronises
    /// How many colours a sixel picture may have.
    case sixelColours
    /// The same as the first, of the terminal that a tmux is in.
    case outerVersion
    /// The same as the second, of the terminal that a tmux is in.
    case outerKitty
    /// What it can do. Asked last: an answer to this means that there will be none any more to what was asked before.
    case attributes

    /// What is sent to ask it.
    ///
    /// - Parameter number: tells our question about kitty's pictures from those of others.
    func bytes(number: Int) -> String {
        // One pixel, black, to be looked at and not to be kept.
        let kitty = "Gi=\(number),s=1,v=1,a=q,t=d,f=24;AAAA"
        return switch self {
        case .version: "\u{1B}[>q"
        case .kitty: "\u{1B}_\(kitty)\u{1B}\\"
        case .cellSize: "\u{1B}[16t"
        case .areaSize: "\u{1B}[14t"
        case .background: "\u{1B}]11;?\u{1B}\\"
        case .synchronises: "\u{1B}[?2026$p"
        case .sixelColours: "\u{1B}[?1;1;0S"
        // What tmux is to pass on stands in a string of its own, with every escape in it doubled.
        case .outerVersion: "\u{1B}Ptmux;\u{1B}\u{1B}[>q\u{1B}\\"
        case .outerKitty: "\u{1B}Ptmux;\u{1B}\u{1B}_\(kitty)\u{1B}\u{1B}\\\u{1B}\\"
        case .attributes: "\u{1B}[c"
        }
    }

    /// Whether the answer comes from the terminal that a tmux is in.
    var isForOuter: Bool { self == .outerVersion || self == .outerKitty }
}
