import Cells

/// The terminal's 256 colours: 16 that users configure, a cube of 216, and 24 greys.
enum Palette {
    /// Returns the nearest of the colours 16 to 255. The first 16 are excluded, because users configure them.
    static func nearest(red: UInt8, green: UInt8, blue: UInt8) -> UInt8 {
        let wanted = (Int(red), Int(green), Int(blue))
        let (cube, grey) = (cubeColour(wanted), greyColour(wanted))
        let toGrey = distance(wanted, Colour.usualValues(ofPalette: grey))
        return toGrey < distance(wanted, Colour.usualValues(ofPalette: cube)) ? grey : cube
    }

    /// Returns the nearest cube colour and the nearest grey. The given colour may lie outside the range from 0 to 255.
    static func near(_ colour: SIMD4<Float>) -> [UInt8] {
        let held = colour.clamped(lowerBound: .zero, upperBound: SIMD4(repeating: 255))
        let wanted = (Int(held.x.rounded()), Int(held.y.rounded()), Int(held.z.rounded()))
        return [cubeColour(wanted), greyColour(wanted)]
    }

    /// Returns the red, green, blue and brightness of a colour, from 0 to 1.
    static func part(_ index: UInt8) -> SIMD4<Float> {
        let (red, green, blue) = Colour.usualValues(ofPalette: index)
        let part = SIMD4(Float(red), Float(green), Float(blue), 0) / 255
        return SIMD4(part.x, part.y, part.z, 0.299 * part.x + 0.587 * part.y + 0.114 * part.z)
    }

    /// Returns the squared distance of two colours. Green counts most and blue least, roughly as for the eye.
    private static func distance(_ left: (Int, Int, Int), _ right: (UInt8, UInt8, UInt8)) -> Int {
        let red = left.0 - Int(right.0)
        let green = left.1 - Int(right.1)
        let blue = left.2 - Int(right.2)
        return 3 * red * red + 6 * green * green + 2 * blue * blue
    }

    private static func cubeColour(_ wanted: (Int, Int, Int)) -> UInt8 {
        UInt8(16 + 36 * cubeStep(wanted.0) + 6 * cubeStep(wanted.1) + cubeStep(wanted.2))
    }

    private static func cubeStep(_ value: Int) -> Int {
        value < 48 ? 0 : value < 115 ? 1 : (value - 35) / 40
    }

    private static func greyColour(_ wanted: (Int, Int, Int)) -> UInt8 {
        let average = (wanted.0 + wanted.1 + wanted.2) / 3
        return UInt8(232 + (average > 238 ? 23 : max(0, (average - 3) / 10)))
    }
}

/// The colour of a part of a cell, or a sum of such colours.
struct PartColour: Hashable {
    var red: Int32
    var green: Int32
    var blue: Int32

    static let zero = PartColour(red: 0, green: 0, blue: 0)

    /// The squared distance from black.
    @inline(__always) var square: Int { Int(red) * Int(red) + Int(green) * Int(green) + Int(blue) * Int(blue) }

    /// Returns the mean, if this is a sum of `count` colours.
    func mean(of count: Int32) -> PartColour {
        PartColour(
            red: (2 * red + count) / (2 * count), green: (2 * green + count) / (2 * count),
            blue: (2 * blue + count) / (2 * count))
    }

    @inline(__always) static func + (left: PartColour, right: PartColour) -> PartColour {
        PartColour(red: left.red &+ right.red, green: left.green &+ right.green, blue: left.blue &+ right.blue)
    }

    @inline(__always) static func - (left: PartColour, right: PartColour) -> PartColour {
        PartColour(red: left.red &- right.red, green: left.green &- right.green, blue: left.blue &- right.blue)
    }

    @inline(__always) static func * (left: PartColour, factor: Int32) -> PartColour {
        PartColour(red: left.red &* factor, green: left.green &* factor, blue: left.blue &* factor)
    }
}
