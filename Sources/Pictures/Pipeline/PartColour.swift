/// The colour of a part of a cell, or the sum of several.
struct PartColour: Hashable {
    var red: Int32
    var green: Int32
    var blue: Int32

    static let zero = PartColour(red: 0, green: 0, blue: 0)

    /// How far it is from black, squared.
    @inline(__always) var square: Int { Int(red) * Int(red) + Int(green) * Int(green) + Int(blue) * Int(blue) }

    /// The mean, if it is the sum of so many.
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
