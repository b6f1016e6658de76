import Cells
import Settings

/// What a theme is for.
enum ThemeKind: CaseIterable {
    /// Bright letters on something dark.
    case dark
    /// Dark letters on something bright.
    case light
    /// As much contrast as there can be, and nothing said by a colour alone.
    case contrast
    /// No colours.
    case mono

    /// What the user wants; or else what suits the terminal's background, as far as it has told, and dark where it has not, as
    /// most are.
    init(_ choice: Settings.Theme, on capabilities: Capabilities) {
        guard capabilities.colours != .none || choice == .contrast else {
            self = .mono
            return
        }
        switch choice {
        case .auto: self = Self.isLight(capabilities.background) ? .light : .dark
        case .dark: self = .dark
        case .light: self = .light
        case .contrast: self = .contrast
        case .mono: self = .mono
        }
    }

    /// Whether black can be read on it better than white.
    static func isLight(_ background: Colour) -> Bool {
        guard case .rgb(let red, let green, let blue) = background else { return false }
        // Where (1 + 0.05) / (l + 0.05) = (l + 0.05) / 0.05.
        return Luminance(red, green, blue).value > 0.179
    }
}
