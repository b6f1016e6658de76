import Cells

@testable import UI

/// xterm's colours. Other terminals have the same cube, and similar first sixteen colours.
enum Palette {
    private static let sixteen: [(UInt8, UInt8, UInt8)] = [
        (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229),
        (127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0), (92, 92, 255), (255, 0, 255), (0, 255, 255),
        (255, 255, 255),
    ]

    /// Returns the contrast of text in a style.
    ///
    /// - Parameters:
    ///   - text: the terminal's own text.
    ///   - background: the terminal's own background.
    static func contrast(_ style: Style, text: Colour, background: Colour) -> Double {
        var front = parts(style.foreground, or: text)
        let back = parts(style.background, or: background)
        if style.attributes.contains(.dim) {
            // Most terminals dim text at most half way to the background.
            func half(_ one: UInt8, _ other: UInt8) -> UInt8 { UInt8((Int(one) + Int(other)) / 2) }
            front = (half(front.0, back.0), half(front.1, back.1), half(front.2, back.2))
        }
        // The "contrast ratio" of the Web Content Accessibility Guidelines 2.2.
        let (one, other) = (
            Luminance(front.0, front.1, front.2).value, Luminance(back.0, back.1, back.2).value
        )
        return (max(one, other) + 0.05) / (min(one, other) + 0.05)
    }

    private static func parts(_ colour: Colour, or own: Colour) -> (UInt8, UInt8, UInt8) {
        switch colour {
        case .terminal: own == .terminal ? (0, 0, 0) : parts(own, or: .rgb(0, 0, 0))
        case .rgb(let red, let green, let blue): (red, green, blue)
        case .palette(let index) where index < 16: sixteen[Int(index)]
        case .palette(let index) where index < 232: cube(Int(index) - 16)
        case .palette(let index): grey(8 + (Int(index) - 232) * 10)
        }
    }

    private static func cube(_ index: Int) -> (UInt8, UInt8, UInt8) {
        func part(_ step: Int) -> UInt8 { step == 0 ? 0 : UInt8(55 + step * 40) }
        return (part(index / 36), part(index / 6 % 6), part(index % 6))
    }

    private static func grey(_ level: Int) -> (UInt8, UInt8, UInt8) { (UInt8(level), UInt8(level), UInt8(level)) }
}
