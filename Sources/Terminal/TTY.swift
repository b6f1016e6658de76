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

    /// Its size, and the shape of its cells, where it knows.
    var geometry: (size: Size, cellAspect: Double?) {
        var window = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else {
            return (Size(columns: 80, rows: 24), nil)
        }
        let size = Size(columns: Int(window.ws_col), rows: Int(window.ws_row))
        return (size, Self.cellAspect(window))
    }

    /// Over a connection the pixels may be zero or nonsense: they are believed only where they make a cell that a person
    /// could read.
    static func cellAspect(_ window: winsize) -> Double? {
        let width = Double(window.ws_xpixel) / Double(window.ws_col)
        let height = Double(window.ws_ypixel) / Double(window.ws_row)
        guard (3...100).contains(width), (5...200).contains(height) else { return nil }
        let aspect = width / height
        return (0.25...1.0).contains(aspect) ? aspect : nil
    }

    private func setModes(_ modes: termios) {
        var modes = modes
        // TCSADRAIN would wait for a terminal that reads slowly, or not at all.
        while tcsetattr(descriptor, TCSANOW, &modes) != 0, errno == EINTR {}
    }
}
