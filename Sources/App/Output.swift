import Glibc
import Model
import Text

/// Writes results to standard output, and messages to standard error.
enum Output {
    /// Writes a line to standard output. The caller must apply `madeVisible` to text from outside.
    static func print(_ line: String) {
        write(Array((line + "\n").utf8), to: STDOUT_FILENO)
    }

    /// Writes bytes to standard output. The bytes must be free of text from outside.
    static func write(_ bytes: [UInt8]) {
        write(bytes, to: STDOUT_FILENO)
    }

    /// Writes an error message to standard error, with passwords removed.
    static func complain(_ message: String) {
        let words = Address.withoutCredentials(message).madeVisible
        write(Array("vitrine: \(words)\n".utf8), to: STDERR_FILENO)
    }

    /// Writes advice to standard error, unchanged so that the user can copy commands.
    ///
    /// The lines must contain no control characters and no secrets.
    static func advise(_ lines: [String]) {
        for line in lines { write(Array((line + "\n").utf8), to: STDERR_FILENO) }
    }

    /// Whether standard output is a terminal.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether standard error is a terminal, which can show progress.
    static var showsProgress: Bool { isatty(STDERR_FILENO) == 1 }

    /// Shows progress in one line of the terminal, in place of the previous text.
    static func progress(_ text: String) {
        guard showsProgress else { return }
        // The control sequence EL clears the rest of a longer text.
        write(Array("\r\(text.madeVisible)\u{1B}[K".utf8), to: STDERR_FILENO)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                // A closed pipe is no failure: `vitrine list … | head`.
                if errno == EPIPE { exit(ExitCode.done.rawValue) }
                return
            }
        }
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
