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
    /// Programs get the exact text, and terminals no control characters.
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
