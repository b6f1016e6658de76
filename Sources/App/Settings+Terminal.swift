import Cells
import Settings
import Terminal

extension Settings {
    /// What the user insists on, whatever is found out about the terminal.
    var terminalWishes: TerminalWishes {
        TerminalWishes(pixels: plain ? .none : pixels.wish, colours: colours.depth, isASCII: ascii)
    }
}

extension Settings.Pixels {
    fileprivate var wish: TerminalWishes.Pixels {
        switch self {
        case .auto: .asFound
        case .none: .none
        case .sixel: .only(.sixel)
        case .kitty: .only(.kitty)
        case .iterm: .only(.iterm)
        }
    }
}

extension Settings.Colours {
    /// The depth that the user insists on.
    var depth: ColourDepth? {
        switch self {
        case .auto: nil
        case .none: ColourDepth.none
        case .sixteen: .sixteen
        case .palette: .palette
        case .full: .full
        }
    }
}
