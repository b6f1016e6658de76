/// A value as JSON (RFC 8259), for programs to read.
enum JSONText {
    case string(String)
    case number(Int)
    case decimal(Double)
    case flag(Bool)
    case null
    case array([JSONText])
    /// Members in this order.
    case object([(String, JSONText)])

    /// On one line, with nothing in it that a terminal would obey.
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

    /// Text as it is, so that a program gets what was in the gallery; but everything that is not plain is escaped, so that
    /// a person who prints it is safe all the same.
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
