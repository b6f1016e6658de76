import Cells
import Glibc

/// The terminal as the system has it: a descriptor, its modes and its size.
///
/// It is opened anew and not shared: to make standard output non-blocking would make it so for the shell too, and for
/// every program that was handed the same one.
final class TTY {
    let descriptor: Int32
    /// As they were found; what they are put back to.
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

    /// Bytes come in as they are typed, signals' keys too, and go out as they are.
    func makeRaw() {
        var modes = originalModes
        cfmakeraw(&modes)
        setModes(modes)
    }

    func makeOriginal() {
        setModes(originalModes)
    }

    /// How many cells it has, and how large they are, where it knows.
    var geometry: (size: Size, cell: CellPixels?) {
        var window = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else {
            return (Size(columns: 80, rows: 24), nil)
        }
        return (Size(columns: Int(window.ws_col), rows: Int(window.ws_row)), CellPixels(window))
    }

    private func setModes(_ modes: termios) {
        var modes = modes
        // TCSADRAIN would wait for a terminal that reads slowly, or not at all.
        while tcsetattr(descriptor, TCSANOW, &modes) != 0, errno == EINTR {}
    }
}

/// Why there can be no screen.
public enum TerminalError: Error, Equatable, CustomStringConvertible {
    /// Standard input or output is no terminal.
    case notATerminal
    /// The terminal's kind is not in the terminfo database.
    case unknownKind(String)
    /// The terminal cannot be set up; the system's reason.
    case cannotSetUp(String)

    /// A sentence for the user.
    public var description: String {
        switch self {
        case .notATerminal: "Browsing needs a terminal; “vitrine list” and “vitrine show” do without."
        case .unknownKind(let kind):
            kind.isEmpty
                ? "TERM is not set, so nothing is known of this terminal."
                : "Nothing is known of terminals of the kind “\(kind)” (TERM); install ncurses-term, or set TERM=xterm."
        case .cannotSetUp(let reason): "The terminal cannot be set up: \(reason)."
        }
    }
}
