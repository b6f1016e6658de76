import Cells
import Glibc

extension Capabilities {
    /// What standard output can show, for drawing without a screen: see ``TerminalFindings``.
    public init(ofStandardOutput environment: TerminalEnvironment, _ wishes: TerminalWishes = TerminalWishes()) {
        self = TerminalFindings(ofStandardOutput: environment, wishes).capabilities
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
