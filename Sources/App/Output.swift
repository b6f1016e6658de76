import Glibc
import Model
import Text

/// Standard output for results, standard error for everything else.
enum Output {
    /// Writes a line to standard output. Text from outside in it must have been made visible.
    static func print(_ line: String) {
        write(Array((line + "\n").utf8), to: STDOUT_FILENO)
    }

    /// Writes bytes of ours to standard output.
    static func write(_ bytes: [UInt8]) {
        write(bytes, to: STDOUT_FILENO)
    }

    /// Tells the user what went wrong. What he typed may be named in it, and have a password in it.
    static func complain(_ message: String) {
        let words = Address.withoutCredentials(message).madeVisible
        write(Array("vitrine: \(words)\n".utf8), to: STDERR_FILENO)
    }

    /// Tells the user what to do: lines on standard error that can be copied as they are. They must hold nothing that may not
    /// reach a terminal.
    static func advise(_ lines: [String]) {
        for line in lines { write(Array((line + "\n").utf8), to: STDERR_FILENO) }
    }

    /// Whether somebody sits there and looks at results as they come.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether progress is shown to somebody.
    static var showsProgress: Bool { isatty(STDERR_FILENO) == 1 }

    /// Shows how far things have come, in one line of the terminal that is written over and over.
    static func progress(_ text: String) {
        guard showsProgress else { return }
        // Back to the line's beginning, and whatever was longer is cleared away (EL).
        write(Array("\r\(text.madeVisible)\u{1B}[K".utf8), to: STDERR_FILENO)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                // Whoever read it has had enough: `vitrine list … | head` is no failure.
                if errno == EPIPE { exit(ExitCode.done.rawValue) }
                return
            }
        }
    }
}
