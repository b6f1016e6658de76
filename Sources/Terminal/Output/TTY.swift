import Cells
import Glibc

/// The terminal's device: its descriptor, modes and size.
///
/// Opens the device again, because making standard output non-blocking would affect the shell and all programs that
/// share it.
final class TTY {
    /// The terminal; the output queue writes to it.
    let descriptor: Int32
    /// The original modes, restored at the end.
    let originalModes: termios

    init() throws(TerminalError) {
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1, let name = ttyname(STDOUT_FILENO) else {
            throw .notATerminal
        }
        descriptor = open(name, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw .cannotSetUp(String(cString: strerror(errno))) }
        var modes = termios()
        guard tcgetattr(descriptor, &modes) == 0 else { throw .cannotSetUp(String(cString: strerror(errno))) }
        originalModes = modes
    }

    deinit {
        close(descriptor)
    }

    /// Disables echo, line buffering, signal keys and output processing.
    func makeRaw() {
        var modes = originalModes
        cfmakeraw(&modes)
        setModes(modes)
    }

    func makeOriginal() {
        setModes(originalModes)
    }

    /// The number of cells, and their size if the system knows it.
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

/// An error that prevents a full-screen display.
public enum TerminalError: Error, Equatable, CustomStringConvertible {
    /// Standard input or output is not a terminal.
    case notATerminal
    /// The terminal's type is not in the terminfo database.
    case unknownKind(String)
    /// The terminal cannot be set up; the system's reason.
    case cannotSetUp(String)

    /// A sentence for the user.
    public var description: String {
        switch self {
        case .notATerminal: "Browsing needs a terminal; “vitrine list” and “vitrine show” work without one."
        case .unknownKind(let kind):
            kind.isEmpty
                ? "TERM is not set, so the terminal’s type is unknown."
                : "The terminal type “\(kind)” (TERM) is unknown; install ncurses-term, or set TERM=xterm."
        case .cannotSetUp(let reason): "The terminal cannot be set up: \(reason)."
        }
    }
}
