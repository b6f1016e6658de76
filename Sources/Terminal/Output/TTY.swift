import Cells
import Glibc

/// The terminal's device: its descriptor, its modes and its size.
///
/// This class opens the device again. Making standard output non-blocking would affect the shell and all programs that
/// share standard output.
final class TTY {
    /// The descriptor of the terminal, to which the output queue writes.
    let descriptor: Int32
    /// The modes before Vitrine changed them. Vitrine restores these modes at the end.
    private(set) var originalModes: termios
    /// Whether Vitrine has changed the modes.
    private var hasChanged = false

    init() throws(TerminalError) {
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else { throw .notATerminal }
        descriptor = try TTY.opened()
        var modes = termios()
        guard tcgetattr(descriptor, &modes) == 0 else { throw .cannotSetUp(String(cString: strerror(errno))) }
        originalModes = modes
    }

    deinit {
        close(descriptor)
    }

    /// Opens the terminal of standard output.
    ///
    /// After `su`, the device belongs to the first user. In a container, the device may have no name. A process may
    /// still open its controlling terminal.
    private static func opened() throws(TerminalError) -> Int32 {
        let flags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC
        var descriptor: Int32 = -1
        if let name = ttyname(STDOUT_FILENO) { descriptor = open(name, flags) }
        guard descriptor < 0 else { return descriptor }
        let reason = String(cString: strerror(errno))
        // "When fd does not refer to the controlling terminal of the calling process, -1 is returned" (tcgetpgrp(3)).
        if tcgetpgrp(STDOUT_FILENO) >= 0 { descriptor = open("/dev/tty", flags) }
        guard descriptor >= 0 else { throw .cannotSetUp(reason) }
        return descriptor
    }

    /// Returns whether a terminal controls this process, and another job is in its foreground.
    static func isInBackground(_ descriptor: Int32) -> Bool {
        let foreground = tcgetpgrp(descriptor)
        return foreground > 0 && foreground != getpgrp()
    }

    /// Turns off echo, line buffering, signal keys and output processing.
    func makeRaw() {
        // If a shell started Vitrine in the background, the modes were those of the shell's command line.
        if !hasChanged { tcgetattr(descriptor, &originalModes) }
        hasChanged = true
        var modes = originalModes
        cfmakeraw(&modes)
        setModes(modes)
    }

    func makeOriginal() {
        setModes(originalModes)
    }

    /// The number of columns and rows, and the size of a cell if the system knows the size.
    var geometry: (size: Size, cell: CellPixels?) {
        var window = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else {
            return (Size(columns: 80, rows: 24), nil)
        }
        return (Size(columns: Int(window.ws_col), rows: Int(window.ws_row)), CellPixels(window))
    }

    private func setModes(_ modes: termios) {
        var modes = modes
        // TCSADRAIN would wait for a slow terminal.
        while tcsetattr(descriptor, TCSANOW, &modes) != 0, errno == EINTR {}
    }
}

/// An error that prevents the full-screen display.
public enum TerminalError: Error, Equatable, CustomStringConvertible {
    /// Standard input or output is not a terminal.
    case notATerminal
    /// The terminfo database does not have the type of this terminal.
    case unknownKind(String)
    /// Terminals of this type cannot move the cursor.
    case fixedCursor(String)
    /// The terminal cannot be set up, for the system's reason.
    case cannotSetUp(String)

    /// The error as a sentence for the user.
    public var description: String {
        switch self {
        case .notATerminal: "Browsing needs a terminal; “vitrine list” and “vitrine show” work without one."
        case .unknownKind(let kind):
            kind.isEmpty
                ? "TERM is not set, so the terminal’s type is unknown."
                : "The terminal type “\(kind)” (TERM) is unknown; install ncurses-term, or set TERM=xterm."
        case .fixedCursor(let kind):
            "The terminal “\(kind)” (TERM) cannot move the cursor; “vitrine list” and “vitrine show” work without that."
        case .cannotSetUp(let reason): "The terminal cannot be set up: \(reason)."
        }
    }
}
