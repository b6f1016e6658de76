import Cells

/// Writes cells as text with the escape sequences that colour them (SGR, ECMA-48), no more of them than it takes.
///
/// It is what draws pictures on standard output, and what ncurses cannot do on the screen.
public struct SGREncoder {
    /// What was written so far.
    public private(set) var bytes: [UInt8] = []
    private let capabilities: Capabilities
    /// How the terminal writes now.
    private var current = Style.plain

    /// Begins with a terminal that writes plainly.
    public init(_ capabilities: Capabilities) {
        self.capabilities = capabilities
    }

    /// Writes bytes of ours.
    public mutating func write(_ text: String) {
        bytes += text.utf8
    }

    /// Writes one cell. The right half of a wide character was written with the left one.
    public mutating func write(_ cell: Cell) {
        guard cell.width > 0 else { return }
        adopt(cell.style)
        bytes += (capabilities.unicode ? cell.text : ASCIIFallback.text(for: cell.text)).utf8
    }

    /// Goes back to writing plainly.
    public mutating func reset() {
        if current != .plain { bytes += "\u{1B}[0m".utf8 }
        current = .plain
    }

    private mutating func adopt(_ style: Style) {
        var codes: [String] = []
        if !current.attributes.subtracting(style.attributes).isEmpty {
            // Attributes are not taken back one by one: terminals disagree on how.
            codes.append("0")
            current = .plain
        }
        let added = style.attributes.subtracting(current.attributes)
        for (attribute, code) in Self.attributeCodes where added.contains(attribute) { codes.append(code) }
        if capabilities.colours != .none {
            if style.foreground != current.foreground { codes.append(Self.code(style.foreground, 30)) }
            if style.background != current.background { codes.append(Self.code(style.background, 40)) }
        }
        current = style
        if !codes.isEmpty { bytes += "\u{1B}[\(codes.joined(separator: ";"))m".utf8 }
    }

    /// - Parameter base: 30 for text, 40 for the background.
    private static func code(_ colour: Colour, _ base: Int) -> String {
        switch colour {
        case .terminal: "\(base + 9)"
        case .palette(let index) where index < 8: "\(base + Int(index))"
        case .palette(let index) where index < 16: "\(base + 60 + Int(index) - 8)"
        case .palette(let index): "\(base + 8);5;\(index)"
        case .rgb(let red, let green, let blue): "\(base + 8);2;\(red);\(green);\(blue)"
        }
    }

    private static let attributeCodes: [(Style.Attributes, String)] = [
        (.bold, "1"), (.dim, "2"), (.underline, "4"), (.reverse, "7"),
    ]
}
