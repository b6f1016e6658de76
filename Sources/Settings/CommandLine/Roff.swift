/// A manual page in the language of `man`: macros at the beginnings of lines, and text.
struct Roff {
    private(set) var text = ""

    /// Begins a page.
    mutating func title(_ name: String, section: Int, source: String, manual: String) {
        macro("TH", name, String(section), "", source, manual)
    }

    mutating func section(_ name: String) { macro("SH", name) }
    mutating func subsection(_ name: String) { macro("SS", name) }
    mutating func paragraph(_ text: String) {
        macro("PP")
        line(Self.plain(text))
    }

    /// A term, ready for roff, and what there is to say of it.
    mutating func term(_ term: String, _ meaning: String) {
        macro("TP")
        line(term)
        line(Self.plain(meaning))
    }

    /// Lines as they are.
    mutating func example(_ lines: [String]) {
        macro("PP")
        macro("nf")
        macro("RS")
        for line in lines { self.line(Self.plain(line)) }
        macro("RE")
        macro("fi")
    }

    private mutating func macro(_ name: String, _ arguments: String...) {
        // What is in quotes is one argument.
        text += "." + ([name] + arguments.map { "\"" + Self.plain($0) + "\"" }).joined(separator: " ") + "\n"
    }

    private mutating func line(_ line: String) {
        // Else it would be a macro.
        let isControl = line.hasPrefix(".") || line.hasPrefix("'")
        text += (isControl ? "\\&" : "") + line + "\n"
    }

    static func bold(_ text: String) -> String { "\\fB" + plain(text) + "\\fR" }
    static func italic(_ text: String) -> String { "\\fI" + plain(text) + "\\fR" }

    /// Text that is shown as it is, in whatever encoding the page is read.
    static func plain(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "\\": result += "\\(rs"
            // Else they are typographers' signs, and cannot be typed.
            case "-": result += "\\-"
            case "'": result += "\\(aq"
            case "`": result += "\\(ga"
            case "^": result += "\\(ha"
            case "~": result += "\\(ti"
            case "\"": result += "\\(dq"
            // Not in every encoding, and nothing is put in its place there.
            case "…": result += "..."
            case _ where scalar.isASCII: result.unicodeScalars.append(scalar)
            default:
                let digits = String(scalar.value, radix: 16, uppercase: true)
                result += "\\[u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "]"
            }
        }
    }
}
