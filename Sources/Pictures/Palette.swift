/// The terminal's palette as far as it is known: a cube of 216 colours and 24 greys, and before them sixteen that every
/// user sets as he likes.
enum Palette {
    /// The nearest of colours 16 to 255. The first sixteen are not used: nobody knows what they look like.
    static func nearest(red: UInt8, green: UInt8, blue: UInt8) -> UInt8 {
        let cube = (cubeStep(red), cubeStep(green), cubeStep(blue))
        let cubeColour = (levels[cube.0], levels[cube.1], levels[cube.2])
        let average = (Int(red) + Int(green) + Int(blue)) / 3
        let grey = average > 238 ? 23 : max(0, (average - 3) / 10)
        let greyLevel = UInt8(8 + 10 * grey)
        let wanted = (Int(red), Int(green), Int(blue))
        let isGreyNearer = distance(wanted, (greyLevel, greyLevel, greyLevel)) < distance(wanted, cubeColour)
        return UInt8(isGreyNearer ? 232 + grey : 16 + 36 * cube.0 + 6 * cube.1 + cube.2)
    }

    /// The nearest of the first eight or sixteen, as most terminals have them, to a colour that may lie beyond what can be
    /// shown.
    static func nearest(ofFirst count: Int, red: Int, green: Int, blue: Int) -> UInt8 {
        var best = 0
        var bestDistance = Int.max
        for (index, colour) in sixteen.prefix(count).enumerated() {
            let distance = distance((red, green, blue), colour)
            if distance < bestDistance { (best, bestDistance) = (index, distance) }
        }
        return UInt8(best)
    }

    /// What one of the sixteen most likely looks like.
    static func colourOfSixteen(_ index: UInt8) -> (UInt8, UInt8, UInt8) { sixteen[Int(index)] }

    /// Green counts most and blue least, about as eyes have it.
    private static func distance(_ left: (Int, Int, Int), _ right: (UInt8, UInt8, UInt8)) -> Int {
        let red = left.0 - Int(right.0)
        let green = left.1 - Int(right.1)
        let blue = left.2 - Int(right.2)
        return 3 * red * red + 6 * green * green + 2 * blue * blue
    }

    private static func cubeStep(_ value: UInt8) -> Int {
        value < 48 ? 0 : value < 115 ? 1 : (Int(value) - 35) / 40
    }

    private static let levels: [UInt8] = [0, 95, 135, 175, 215, 255]

    /// xterm's.
    private static let sixteen: [(UInt8, UInt8, UInt8)] = [
        (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229),
        (127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0), (92, 92, 255), (255, 0, 255), (0, 255, 255),
        (255, 255, 255),
    ]
}
