import Glibc

/// How bright a colour is to the eye, from 0 to 1, and how well two can be told from each other: as the Web Content
/// Accessibility Guidelines define it, 2.2, "relative luminance" and "contrast ratio".
struct Luminance {
    let value: Double

    init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
        value = 0.2126 * Self.linear(red) + 0.7152 * Self.linear(green) + 0.0722 * Self.linear(blue)
    }

    /// From 1, not at all, to 21: black and white.
    func contrast(to other: Luminance) -> Double {
        (max(value, other.value) + 0.05) / (min(value, other.value) + 0.05)
    }

    private static func linear(_ part: UInt8) -> Double {
        let part = Double(part) / 255
        return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
    }
}
