import Cells

/// Whether and how a terminal takes pixels, and why that is believed.
struct PixelFindings {
    /// How it does; nil if it does not.
    let capabilities: PixelCapabilities?
    /// Why.
    let text: String

    init(
        _ environment: TerminalEnvironment, _ circumstances: TerminalFindings.Circumstances,
        _ identity: TerminalIdentity,
        _ answers: TerminalAnswers, _ wishes: TerminalWishes, cell: CellPixels?
    ) {
        let isTmux = identity.brand == .tmux
        /// Kitty and iTerm2 scale a picture to the cells that it is given: where nobody knows how large those are, it is
        /// less sharp than it could be, and in its place all the same. A sixel picture would cover other cells.
        func pixels(_ language: PixelProtocol) -> PixelCapabilities {
            PixelCapabilities(
                language, cellWidth: cell?.width ?? 10, cellHeight: cell?.height ?? 20,
                paletteSize: min(256, answers.sixelColours ?? 256), isThroughTmux: isTmux && language == .kitty)
        }
        (capabilities, text) =
            switch wishes.pixels {
            case .none: (nil, "none, as you say")
            case .only(let language): (pixels(language), "\(Self.name(language)), as you say")
            case .asFound where !circumstances.isTerminal: (nil, "none: standard output is no terminal")
            case .asFound:
                switch Self.found(
                    environment, identity, answers, hasCell: cell != nil,
                    isUnicode: circumstances.isUnicode && !wishes.isASCII)
                {
                case (let language?, let text): (pixels(language), "\(Self.name(language)), \(text)")
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
            case .work(let language): return (language, "which works in \(brand.rawValue)")
            case .none: return (nil, "\(brand.rawValue) shows none")
            case .asAnswered: break
            }
        }
        if identity.brand == .tmux, let throughTmux = throughTmux(environment, answers, isUnicode: isUnicode) {
            return throughTmux
        }
        if answers.takesKitty { return (.kitty, "it says") }
        if answers.takesSixel {
            guard hasCell else { return (nil, "it takes sixel, but does not say how large a cell is") }
            return (.sixel, "it says")
        }
        if identity.brand == .tmux { return (nil, "tmux shows none, and passes none on (allow-passthrough)") }
        if !environment.isXtermLike { return (nil, "its kind is not asked") }
        return (nil, answers.attributes == nil ? "it does not answer" : "it says")
    }

    /// What the terminal that a tmux is in can do, if that passes it on. Kitty's pictures are then placed by characters that
    /// stand for them (U+10EEEE), which not all know who else speak its language.
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
        let name = answers.outerVersion ?? brand?.rawValue ?? "its terminal"
        guard let brand, brand.traits.pixels == .work(.kitty) else {
            return (nil, "\(name) is not known to show them through tmux")
        }
        return (.kitty, "which tmux passes on to \(name)")
    }

    private static func name(_ language: PixelProtocol) -> String {
        switch language {
        case .kitty: "kitty’s language"
        case .iterm: "iTerm2’s language"
        case .sixel: "sixel"
        }
    }
}
