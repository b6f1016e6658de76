import Glibc
import Model
import Synchronization
import Text

/// Writes results to standard output, and messages to standard error.
///
///     let output = Output(endsProgram: command.onlyPrints)
///     output.print("28 photos")
///     _exit(output.exitCode(code))
///
/// After standard output has failed, this class drops all further results, so that they have no gaps. A terminal that
/// does not use UTF-8 gets only ASCII.
final class Output: Sendable {
    private let endsProgram: Bool
    private let state = Mutex(State())

    private struct State {
        /// The system's error number, if standard output has failed.
        var failure: Int32?
        var onClosed: (@Sendable () -> Void)?
    }

    /// - Parameter endsProgram: whether a closed pipe, as in `vitrine list … | head`, ends the program at once. The
    ///   exit code is then 0.
    init(endsProgram: Bool) {
        self.endsProgram = endsProgram
    }

    /// Writes a line to standard output. The caller must apply `madeVisible` to text from outside.
    func print(_ line: String) {
        write(Array((line + "\n").utf8))
    }

    /// Writes bytes to standard output. The bytes must be free of text from outside.
    func write(_ bytes: [UInt8]) {
        // Threads write in turn, so that their lines do not mix.
        let (failure, onClosed): (Int32?, (@Sendable () -> Void)?) = state.withLock { state in
            guard state.failure == nil else { return (nil, nil) }
            state.failure = Self.write(bytes, to: STDOUT_FILENO)
            return (state.failure, state.onClosed)
        }
        guard let failure else { return }
        guard failure == EPIPE else {
            Self.progress("")
            return Self.complain("Vitrine cannot write to standard output: \(String(cString: strerror(failure))).")
        }
        // Nothing is left to do, and `exit` would destroy globals while other threads still use them.
        if endsProgram { _exit(ExitCode.done.rawValue) }
        onClosed?()
    }

    /// Calls a closure when the reader of standard output closes the pipe.
    ///
    /// Calls the closure at once if Vitrine has already found the pipe closed.
    func onClosed(_ body: @escaping @Sendable () -> Void) {
        let isClosed = state.withLock { state in
            state.onClosed = body
            return state.failure == EPIPE
        }
        if isClosed { body() }
    }

    /// Returns the exit code, which is not 0 if results were lost.
    func exitCode(_ code: Int32) -> Int32 {
        guard code == ExitCode.done.rawValue, let failure = state.withLock({ $0.failure }) else { return code }
        // Shells use this code for a program that the signal of a closed pipe has ended.
        return failure == EPIPE ? 128 + SIGPIPE : ExitCode.someFailed.rawValue
    }

    /// Writes an error message to standard error, with passwords removed.
    static func complain(_ message: String) {
        let words = Address.withoutCredentials(message).madeVisible
        _ = write(Array("vitrine: \(words)\n".utf8), to: STDERR_FILENO)
    }

    /// Writes advice to standard error, unchanged so that the user can copy commands.
    ///
    /// The lines must contain no control characters and no secrets. Without UTF-8, a terminal gets only ASCII, so
    /// commands for such a terminal must be ASCII.
    static func advise(_ lines: [String]) {
        for line in lines { _ = write(Array((line + "\n").utf8), to: STDERR_FILENO) }
    }

    /// Whether standard output is a terminal.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether standard error is a terminal, which can show progress.
    static var showsProgress: Bool { isatty(STDERR_FILENO) == 1 }

    /// Shows progress in one line of the terminal, in place of the previous text.
    ///
    /// A text that is wider than the terminal is shortened. It would fill several rows, which the next text would not
    /// replace.
    static func progress(_ text: String) {
        guard showsProgress else { return }
        var window = winsize()
        let hasWidth = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &window) == 0 && window.ws_col > 0
        // The control sequence EL clears the rest of a longer text. In the last column, it would clear a character.
        let line = text.truncated(toWidth: (hasWidth ? Int(window.ws_col) : 80) - 1)
        _ = write(Array("\r\(line)\u{1B}[K".utf8), to: STDERR_FILENO)
    }

    /// Writes all bytes. Returns the system's error number, or nil on success.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        var rest = ASCIIFallback.bytes(bytes, for: descriptor)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
                continue
            }
            let code = count < 0 ? errno : EIO
            if code == EINTR { continue }
            guard code == EAGAIN else { return code }
            // Another program has made the terminal or pipe non-blocking, so wait for space.
            var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            if poll(&entry, 1, -1) < 0, errno != EINTR { return errno }
        }
        return nil
    }
}

/// A JSON value (RFC 8259).
enum JSONText {
    case string(String)
    case number(Int)
    case decimal(Double)
    case flag(Bool)
    case null
    case array([JSONText])
    /// An object; the members keep this order.
    case object([(String, JSONText)])

    /// The JSON text on one line, without control characters.
    var text: String {
        switch self {
        case .string(let text): Self.quoted(text)
        case .number(let number): String(number)
        case .decimal(let number): number.isFinite ? String(number) : "null"
        case .flag(let flag): flag ? "true" : "false"
        case .null: "null"
        case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { Self.quoted($0.0) + ":" + $0.1.text }.joined(separator: ",") + "}"
        }
    }

    static func string(_ text: String?) -> JSONText { text.map { .string($0) } ?? .null }

    /// Returns a JSON string in which all characters except printable ASCII are escaped.
    ///
    /// Programs get the exact text, and terminals get no control characters.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for unit in text.utf16 {
            switch unit {
            case 0x22: quoted += "\\\""
            case 0x5C: quoted += "\\\\"
            case 0x20...0x7E: quoted.unicodeScalars.append(Unicode.Scalar(UInt8(unit)))
            default:
                let digits = String(unit, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return quoted + "\""
    }
}
