import Cells
import Pictures
import Settings

extension DrawingStyle {
    /// The best that a terminal can show, but for the characters that the user wants, and for what is to be seen through pictures.
    public init(_ capabilities: Capabilities, _ settings: Settings) {
        self.init(capabilities)
        isChequered = settings.transparency == .chequer
        switch settings.symbols {
        case .auto: break
        case .ascii: symbols = .ascii
        case .ramp: symbols = .ramp
        case .half: symbols = .half
        case .quad: symbols = .quadrant
        case .sextant: symbols = .sextant
        }
    }
}
