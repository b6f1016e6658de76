import Text

/// Which terminal it is, and how that is known.
struct TerminalIdentity: Hashable, Sendable {
    /// Its brand, if that is one of which something is known.
    let brand: TerminalBrand?
    /// What is known of it, in words.
    let text: String
    /// Whether pixels can be sent for the brand's sake: it has said who it is, or its kind has, which no other terminal
    /// inherits.
    let isCertain: Bool

    /// Weighs what the environment says against what the terminal has answered.
    init(_ environment: TerminalEnvironment, _ answers: TerminalAnswers) {
        if let version = answers.version {
            brand = TerminalBrand(version: version)
            text = "\(version), it says"
            isCertain = true
            return
        }
        guard let (brand, isByKind) = environment.brand else {
            self.brand = nil
            text =
                environment.kind.isEmpty
                ? "unknown, TERM is not set" : "of the kind \(environment.kind.madeVisible) (TERM)"
            isCertain = false
            return
        }
        let traits = brand.traits
        let source = isByKind ? "TERM" : "the environment"
        // It was asked who it is and, though it has answered what came after that, it has not said.
        let isRefuted = answers.attributes != nil && traits.version != nil && !traits.mayBeSilent
        guard !isRefuted || brand.isMultiplexer else {
            self.brand = nil
            text = "unknown; \(brand.rawValue) by \(source), but it does not answer as that"
            isCertain = false
            return
        }
        self.brand = brand
        text = "\(brand.rawValue), by \(source)"
        isCertain = isByKind || (traits.version == nil && answers.attributes != nil)
    }

    /// What to ask this terminal, if it may be asked at all.
    ///
    /// Kitty's question is one in a string of a kind that tmux takes for a title and GNU screen for a message, so they are
    /// not asked, and tmux passes it on instead.
    var questions: Set<TerminalQuestion> {
        switch brand {
        case .gnuScreen: [.version, .attributes]
        case .tmux:
            [
                .version, .cellSize, .areaSize, .background, .synchronises, .sixelColours, .outerVersion, .outerKitty,
                .attributes,
            ]
        case .zellij: [.version, .cellSize, .areaSize, .background, .synchronises, .sixelColours, .attributes]
        case let brand? where !brand.traits.passesOver: [.attributes]
        default:
            [.version, .kitty, .cellSize, .areaSize, .background, .synchronises, .sixelColours, .attributes]
        }
    }
}
