import Glibc

/// Asks the user for a line at the terminal, for commands without a screen.
enum TerminalQuestion {
    /// The most bytes of a line.
    private static let longest = 4_096
    /// The longest time until a cancelled question ends, in milliseconds.
    private static let patience: Int32 = 200

    /// Whether the user can answer. A program in the background must not read from the terminal.
    static var canBeAsked: Bool {
        isatty(STDIN_FILENO) == 1 && Output.showsProgress && tcgetpgrp(STDIN_FILENO) == getpgrp()
    }

    /// Returns the typed line. Returns nil if the line is empty, at the end of the input, and after a cancellation.
    ///
    /// - Parameter isSecret: whether the terminal must not show the line.
    static func answer(_ question: String, isSecret: Bool = false) -> String? {
        var modes = termios()
        guard tcgetattr(STDIN_FILENO, &modes) == 0 else { return nil }
        if isSecret {
            var silent = modes
            silent.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        }
        defer {
            if isSecret { tcsetattr(STDIN_FILENO, TCSANOW, &modes) }
            Output.progress("")
        }
        Output.progress(question)
        return line()
    }

    private static func line() -> String? {
        var bytes: [UInt8] = []
        while !Task.isCancelled {
            var waiting = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            // A signal ends the wait too.
            guard poll(&waiting, 1, patience) > 0 else { continue }
            var byte: UInt8 = 0
            guard read(STDIN_FILENO, &byte, 1) == 1 else { return nil }
            if byte == UInt8(ascii: "\n") { return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self) }
            if bytes.count < longest { bytes.append(byte) }
        }
        return nil
    }
}
