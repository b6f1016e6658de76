/// One colour in sRGB.
public struct PixelColor: Hashable, Sendable {
    /// Red, 0…255.
    public var red: UInt8
    /// Green, 0…255.
    public var green: UInt8
    /// Blue, 0…255.
    public var blue: UInt8

    /// Makes a colour of its three parts.
    public init(red: UInt8, green: UInt8, blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }

    /// What a terminal shows behind everything unless told otherwise.
    public static let black = PixelColor(red: 0, green: 0, blue: 0)
}
