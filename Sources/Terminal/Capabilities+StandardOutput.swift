import Cells
import Glibc

extension Capabilities {
    /// What standard output can show, for drawing without a screen: see ``TerminalFindings``.
    public init(ofStandardOutput environment: TerminalEnvironment, _ wishes: TerminalWishes = TerminalWishes()) {
        self = TerminalFindings(ofStandardOutput: environment, wishes).capabilities
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
