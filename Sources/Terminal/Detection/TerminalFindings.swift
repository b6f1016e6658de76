import Cells

/// A terminal's capabilities, and the reason for each.
///
/// Sources in order of precedence: the user's settings, the brand's known traits, kitty graphics, sixel, and finally
/// characters in the available colours.
public struct TerminalFindings: Hashable, Sendable {
    /// The capabilities to use.
    public let capabilities: Capabilities
    /// A line of text for each finding and its reason.
    public let lines: [String]

    /// The facts that Vitrine knows without a query to the terminal.
    struct Circumstances: Hashable {
        /// The number of colours according to terminfo.
        var terminfoColours: Int
        /// Whether the locale uses UTF-8.
        var isUnicode: Bool
        /// The number of columns and rows.
        var size: Size
        /// The size of a cell that the system reports.
        var cell: CellPixels?
        /// Whether output goes to a terminal.
        var isTerminal = true
        /// Whether the terminal has reverse video, according to terminfo.
        var reverses = true
    }

    init(
        _ environment: TerminalEnvironment, _ circumstances: Circumstances, _ answers: TerminalAnswers,
        _ wishes: TerminalWishes
    ) {
        let identity = TerminalIdentity(environment, answers)
        let traits = identity.brand?.traits
        let (cell, cellText) = Self.cell(circumstances, answers)
        let (colours, coloursText) = Self.colours(environment, circumstances, identity, wishes)
        let isUnicode = circumstances.isUnicode && !wishes.isASCII
        let pixels = PixelFindings(environment, circumstances, identity, answers, wishes, cell: cell)
        let sextants = isUnicode && traits?.drawsSextants ?? false
        capabilities = Capabilities(
            unicode: isUnicode, colours: colours, cellAspect: cell?.aspect ?? 0.5, pixels: pixels.capabilities,
            synchronises: answers.synchronises, background: answers.background ?? .terminal, sextants: sextants,
            reverses: circumstances.reverses,
            // GNU screen passes no text on, and prints the end of a long text.
            clipboard: environment.isXtermLike && identity.brand != .gnuScreen)
        let misreport = traits?.misreport.map { "; \($0)" } ?? ""
        let updates = answers.synchronises ? "synchronized (mode 2026)" : "not synchronized"
        lines = [
            "terminal: \(circumstances.isTerminal ? "" : "standard output is not a terminal; otherwise ")\(identity.text)\(misreport)",
            "pixels: \(pixels.text)", "cell: \(cellText)", "colours: \(coloursText)",
            "characters: \(Self.characters(circumstances, identity, wishes, hasSextants: sextants))",
            "updates: \(updates)", "background: \(Self.text(answers.background))",
        ]
    }

    private static func characters(
        _ circumstances: Circumstances, _ identity: TerminalIdentity, _ wishes: TerminalWishes, hasSextants: Bool
    ) -> String {
        if wishes.isASCII { return "ASCII only, as configured" }
        guard circumstances.isUnicode else { return "ASCII only: the locale is not UTF-8" }
        guard hasSextants, let brand = identity.brand else { return "all except sextants, which few fonts have" }
        return "all, including sextants, which \(brand.rawValue) draws itself"
    }

    /// Returns the size of a cell. The terminal's answer takes precedence over the system's size, which some terminals
    /// report wrongly or not at all. The reported text area counts only until a resize, because the system's size is
    /// newer then. If the system reports no size, Vitrine uses the old cell size until the terminal answers again.
    private static func cell(
        _ circumstances: Circumstances, _ answers: TerminalAnswers
    ) -> (cell: CellPixels?, text: String) {
        let area = answers.area
        let candidates = [
            (answers.cell, "as reported"),
            (area?.size == circumstances.size ? area?.cell : nil, "from the reported window size"),
            (circumstances.cell, "from the system"),
            (area?.cell, "from the window size before the last resize"),
        ]
        for case (let cell?, let source) in candidates {
            return (cell, "\(cell.width) × \(cell.height) pixels, \(source)")
        }
        return (nil, "unknown; assumed twice as high as wide")
    }

    private static func colours(
        _ environment: TerminalEnvironment, _ circumstances: Circumstances, _ identity: TerminalIdentity,
        _ wishes: TerminalWishes
    ) -> (ColourDepth, String) {
        if let wanted = wishes.colours { return (wanted, "\(text(wanted)), as configured") }
        let found = environment.colourDepth(terminfoColours: circumstances.terminfoColours, on: identity.brand)
        if environment.refusesColours { return (found, "none, because NO_COLOR is set") }
        if found == .full {
            return (found, "all, according to " + (environment.kind.hasSuffix("-direct") ? "TERM" : "COLORTERM"))
        }
        if let brand = identity.brand, brand.traits.isTrueColour, found != .none {
            return (.full, "all, supported by \(brand.rawValue)")
        }
        return (found, "\(text(found)), according to terminfo")
    }

    private static func text(_ depth: ColourDepth) -> String {
        switch depth {
        case .none: "none"
        case .eight: "8"
        case .sixteen: "16"
        case .palette: "256"
        case .full: "all"
        }
    }

    private static func text(_ background: Colour?) -> String {
        guard case .rgb(let red, let green, let blue) = background else { return "unknown" }
        let digits = [red, green, blue].map { part in
            let text = String(part, radix: 16)
            return text.count < 2 ? "0" + text : text
        }
        return "#\(digits.joined()), as reported"
    }
}

/// The pixel protocol to use, and the reason for the choice.
struct PixelFindings {
    /// The protocol and its parameters; nil if Vitrine cannot send pixels.
    let capabilities: PixelCapabilities?
    /// The reason for the choice, as text.
    let text: String

    init(
        _ environment: TerminalEnvironment, _ circumstances: TerminalFindings.Circumstances,
        _ identity: TerminalIdentity,
        _ answers: TerminalAnswers, _ wishes: TerminalWishes, cell: CellPixels?
    ) {
        let isTmux = identity.brand == .tmux
        /// Returns the capabilities for a protocol. Kitty and iTerm2 scale a picture to its cells, so that an unknown
        /// cell size makes the picture only less sharp. A sixel picture would cover the wrong cells.
        func pixels(_ language: PixelProtocol) -> PixelCapabilities {
            PixelCapabilities(
                language, cellWidth: cell?.width ?? 10, cellHeight: cell?.height ?? 20,
                paletteSize: min(256, answers.sixelColours ?? 256), isThroughTmux: isTmux && language == .kitty,
                isRemote: environment.isRemote)
        }
        func described(_ language: PixelProtocol, _ reason: String) -> String {
            let saving = environment.isRemote && language == .kitty ? "; sends fewer bytes over SSH" : ""
            return "\(Self.name(language)), \(reason)\(saving)"
        }
        (capabilities, text) =
            switch wishes.pixels {
            case .none: (nil, "none, as configured")
            case .only(let language): (pixels(language), described(language, "as configured"))
            case .asFound where !circumstances.isTerminal: (nil, "none: standard output is not a terminal")
            case .asFound:
                switch Self.found(
                    environment, identity, answers, hasCell: cell != nil,
                    isUnicode: circumstances.isUnicode && !wishes.isASCII)
                {
                case (let language?, let text): (pixels(language), described(language, text))
                case (nil, let text): (nil, "none: \(text)")
                }
            }
    }

    private static func found(
        _ environment: TerminalEnvironment, _ identity: TerminalIdentity, _ answers: TerminalAnswers, hasCell: Bool,
        isUnicode: Bool
    ) -> (PixelProtocol?, String) {
        if let brand = identity.brand, identity.isCertain {
            switch brand.traits.pixels {
            case .work(let language): return (language, "supported by \(brand.rawValue)")
            case .none: return (nil, "\(brand.rawValue) has no support")
            case .asAnswered: break
            }
        }
        if identity.brand == .tmux, let throughTmux = throughTmux(environment, answers, isUnicode: isUnicode) {
            return throughTmux
        }
        if answers.takesKitty { return (.kitty, "as reported") }
        if answers.takesSixel {
            guard hasCell else { return (nil, "sixel needs the cell size, which is unknown") }
            return (.sixel, "as reported")
        }
        if identity.brand == .tmux { return (nil, "tmux has no support and passes nothing on (allow-passthrough)") }
        if !environment.isXtermLike { return (nil, "Vitrine does not query this type of terminal") }
        return (nil, answers.attributes == nil ? "the terminal does not answer" : "the terminal reports no support")
    }

    /// Returns the pixel protocol of the terminal around tmux; nil if that terminal has no kitty graphics. In tmux,
    /// Vitrine places pictures with placeholder characters (U+10EEEE), which not all terminals with kitty graphics
    /// support.
    private static func throughTmux(
        _ environment: TerminalEnvironment, _ answers: TerminalAnswers, isUnicode: Bool
    ) -> (PixelProtocol?, String)? {
        guard answers.outerTakesKitty, isUnicode else { return nil }
        let brand: TerminalBrand?
        if let version = answers.outerVersion {
            brand = TerminalBrand(version: version)
        } else {
            brand = environment.markedBrand
        }
        let name = answers.outerVersion ?? brand?.rawValue ?? "the terminal around it"
        guard let brand, brand.traits.pixels == .work(.kitty) else {
            return (nil, "\(name) is not known to support graphics through tmux")
        }
        return (.kitty, "passed on by tmux to \(name)")
    }

    private static func name(_ language: PixelProtocol) -> String {
        switch language {
        case .kitty: "kitty graphics"
        case .iterm: "iTerm2 images"
        case .sixel: "sixel"
        }
    }
}

/// The user's settings for the terminal, which override all findings.
public struct TerminalWishes: Hashable, Sendable {
    /// The ways to send pixels.
    public enum Pixels: Hashable, Sendable {
        /// Send pixels with the detected protocol, if any.
        case asFound
        /// Never send pixels.
        case none
        /// Send pixels with this protocol.
        case only(PixelProtocol)
    }

    /// The way to send pixels.
    public var pixels: Pixels
    /// The number of colours; nil for as many as Vitrine detects.
    public var colours: ColourDepth?
    /// Whether to show only ASCII characters.
    public var isASCII: Bool

    /// Creates settings. The defaults leave everything to detection.
    public init(pixels: Pixels = .asFound, colours: ColourDepth? = nil, isASCII: Bool = false) {
        self.pixels = pixels
        self.colours = colours
        self.isASCII = isASCII
    }
}
