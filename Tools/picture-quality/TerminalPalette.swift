import Cells

/// The colours of xterm's palette.
struct TerminalPalette {
    private let sixteen: [UInt32] = [
        0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD, 0x00CDCD, 0xE5E5E5, 0x7F7F7F, 0xFF0000, 0x00FF00,
        0xFFFF00, 0x5C5CFF, 0xFF00FF, 0x00FFFF, 0xFFFFFF,
    ]

    /// Returns a colour's value; nil for the terminal's own.
    func colour(_ colour: Colour) -> SIMD3<Float>? {
        switch colour {
        case .terminal: nil
        case .rgb(let red, let green, let blue): SIMD3(Float(red), Float(green), Float(blue))
        case .palette(let index): self.colour(Int(index))
        }
    }

    func colour(_ index: Int) -> SIMD3<Float> {
        switch index {
        case 0..<16:
            let value = sixteen[index]
            return SIMD3(Float(value >> 16), Float(value >> 8 & 255), Float(value & 255))
        case 16..<232:
            let levels: [Float] = [0, 95, 135, 175, 215, 255]
            let cube = index - 16
            return SIMD3(levels[cube / 36], levels[cube / 6 % 6], levels[cube % 6])
        default: return SIMD3(repeating: Float(8 + 10 * (index - 232)))
        }
    }
}
