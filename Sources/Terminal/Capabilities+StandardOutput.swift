import CNcurses
import Cells
import Glibc

extension Capabilities {
    /// What standard output can show, as far as the environment and terminfo know: for drawing without a screen.
    ///
    /// Ask after `setlocale`.
    public init(ofStandardOutput environment: TerminalEnvironment) {
        var status: Int32 = 0
        // The status is asked for so that a kind that is not known is no reason to print and exit.
        let isKnown = setupterm(environment.kind, STDOUT_FILENO, &status) == OK
        let colours = isKnown ? Int(vitrine_terminfo_number("colors")) : 0
        var window = winsize()
        let hasSize = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0
        self.init(
            unicode: environment.isUnicode, colours: environment.colourDepth(terminfoColours: colours),
            cellAspect: (hasSize ? TTY.cellAspect(window) : nil) ?? 0.5)
    }

    /// The size of standard output's cells in pixels, if it is a terminal and says so.
    public static var standardOutputCell: (width: Int, height: Int)? {
        var window = winsize()
        guard isatty(STDOUT_FILENO) == 1, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0,
            TTY.cellAspect(window) != nil
        else { return nil }
        return (Int(window.ws_xpixel / window.ws_col), Int(window.ws_ypixel / window.ws_row))
    }

    /// How many cells standard output shows at once, if it is a terminal.
    public static var standardOutputSize: Size? {
        var window = winsize()
        guard isatty(STDOUT_FILENO) == 1, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0,
            window.ws_row > 0
        else { return nil }
        return Size(columns: Int(window.ws_col), rows: Int(window.ws_row))
    }
}
