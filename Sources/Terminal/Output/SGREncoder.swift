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
    /// Whether a sequence has begun, so that another code is one of several.
    private var isInSequence = false

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
        if cell.style != current { adopt(cell.style) }
        bytes += (capabilities.unicode ? cell.text : ASCIIFallback.text(for: cell.text)).utf8
    }

    /// Goes back to writing plainly.
    public mutating func reset() {
        if current != .plain { bytes += "\u{1B}[0m".utf8 }
        current = .plain
    }

    private mutating func adopt(_ style: Style) {
        if !current.attributes.subtracting(style.attributes).isEmpty {
            // Attributes are not taken back one by one: terminals disagree on how.
            append(0)
            current = .plain
        }
        let added = style.attributes.subtracting(current.attributes)
        for (attribute, code) in Self.attributeCodes where added.contains(attribute) { append(code) }
        if capabilities.colours != .none {
            if style.foreground != current.foreground { append(style.foreground, 30) }
            if style.background != current.background { append(style.background, 40) }
        }
        current = style
        if isInSequence { bytes.append(UInt8(ascii: "m")) }
        isInSequence = false
    }

    /// - Parameter base: 30 for text, 40 for the background.
    private mutating func append(_ colour: Colour, _ base: UInt8) {
        switch colour {
        case .terminal: append(base + 9)
        case .palette(let index) where index < 8: append(base + index)
        case .palette(let index) where index < 16: append(base + 60 + index - 8)
        case .palette(let index):
            append(base + 8)
            append(5)
            append(index)
        case .rgb(let red, let green, let blue):
            append(base + 8)
            append(2)
            append(red)
            append(green)
            append(blue)
        }
    }

    private mutating func append(_ code: UInt8) {
        if isInSequence {
            bytes.append(UInt8(ascii: ";"))
        } else {
            bytes += "\u{1B}[".utf8
            isInSequence = true
        }
        if code >= 100 { bytes.append(UInt8(ascii: "0") + code / 100) }
        if code >= 10 { bytes.append(UInt8(ascii: "0") + code / 10 % 10) }
        bytes.append(UInt8(ascii: "0") + code % 10)
    }

    private static let attributeCodes: [(Style.Attributes, UInt8)] = [
        (.bold, 1), (.dim, 2), (.underline, 4), (.reverse, 7),
    ]
}
