import Cells
import Text

/// Encodes cells as text with colour sequences (SGR, ECMA-48).
///
/// Vitrine uses this encoder for pictures on standard output, and for cells that ncurses cannot draw. The encoder
/// writes a style only where it changes.
public struct SGREncoder {
    /// The encoded bytes so far.
    public private(set) var bytes: [UInt8] = []
    private let capabilities: Capabilities
    /// The style that the terminal has after these bytes.
    private var current = Style.plain
    /// Whether a sequence is unfinished, so that the next code needs a separator.
    private var isInSequence = false

    /// Creates an encoder for a terminal that has its default style.
    public init(_ capabilities: Capabilities) {
        self.capabilities = capabilities
    }

    /// Adds text. The text must contain no control characters from untrusted sources.
    public mutating func write(_ text: String) {
        bytes += text.utf8
    }

    /// Adds a cell. The right half of a wide character adds nothing.
    public mutating func write(_ cell: Cell) {
        guard cell.width > 0 else { return }
        if cell.style != current { adopt(cell.style) }
        if capabilities.unicode {
            cell.forEachScalar { bytes += $0.utf8 }
        } else {
            bytes += ASCIIFallback.text(for: cell.text).utf8
        }
    }

    /// Resets the terminal's style to the default.
    public mutating func reset() {
        if current != .plain { bytes += "\u{1B}[0m".utf8 }
        current = .plain
    }

    private mutating func adopt(_ style: Style) {
        if !current.attributes.subtracting(style.attributes).isEmpty {
            // Reset all attributes, because terminals differ in how they reset single attributes.
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

    /// Adds the codes of a colour.
    ///
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
