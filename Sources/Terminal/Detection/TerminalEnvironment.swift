import Cells
import Glibc
import Text

/// The terminal's properties according to environment variables, for the first frame.
public struct TerminalEnvironment: Sendable {
    /// The value of the environment variable `TERM`.
    public let kind: String
    private let colourTerm: String
    private let noColour: String
    private let escapeDelay: String
    /// Whether the terminal is on another machine, behind SSH.
    let isRemote: Bool
    /// The environment variables that identify brands of terminals.
    private let marks: [String: String]

    /// Reads the environment of this process.
    public init() {
        self.init { name in getenv(name).map { String(cString: $0) } }
    }

    /// Reads variables through a function, so that tests can set them.
    public init(_ variable: (String) -> String?) {
        kind = variable("TERM") ?? ""
        colourTerm = variable("COLORTERM") ?? ""
        noColour = variable("NO_COLOR") ?? ""
        escapeDelay = variable("ESCDELAY") ?? ""
        isRemote = !(variable("SSH_CONNECTION") ?? "").isEmpty
        let names = Set(TerminalBrand.allCases.flatMap { $0.traits.variables.map(\.name) })
        marks = names.reduce(into: [:]) { marks, name in
            if let value = variable(name), !value.isEmpty { marks[name] = value }
        }
    }

    /// Returns the number of colours to use.
    ///
    /// Terminals announce 24-bit colours in `COLORTERM`, because terminfo cannot. `NO_COLOR`: "when present and not an
    /// empty string (regardless of its value), prevents the addition of ANSI color".
    ///
    /// - Parameter brand: the terminal's brand, if Vitrine knows the brand.
    func colourDepth(terminfoColours: Int, on brand: TerminalBrand?) -> ColourDepth {
        guard noColour.isEmpty, terminfoColours >= 8 else { return .none }
        if claimsAllColours(on: brand) { return .full }
        return terminfoColours >= 256 ? .palette : terminfoColours >= 16 ? .sixteen : .eight
    }

    /// Returns whether the environment announces 24-bit colours.
    ///
    /// Programs in GNU screen inherit `COLORTERM` from the terminal around it. GNU screen 4 takes the numbers of a
    /// 24-bit colour for attributes such as bold.
    private func claimsAllColours(on brand: TerminalBrand?) -> Bool {
        if kind.hasSuffix("-direct") { return true }
        return brand != .gnuScreen && (colourTerm == "truecolor" || colourTerm == "24bit")
    }

    /// Whether the user has turned colours off with `NO_COLOR`.
    var refusesColours: Bool { !noColour.isEmpty }

    /// Whether the locale uses UTF-8. The caller must have called `setlocale` before.
    public var isUnicode: Bool { ASCIIFallback.isLocaleUnicode }

    /// The milliseconds to wait after an escape byte until the byte counts as the Escape key.
    var escapeWait: Int {
        min(1_000, max(1, Int(escapeDelay) ?? 25))
    }

    /// Whether the terminal supports or ignores xterm's extensions, such as bracketed paste and focus reports. The
    /// Linux console and real VT100s would print some of these sequences.
    var isXtermLike: Bool {
        let families = [
            "xterm", "tmux", "screen", "rxvt", "alacritty", "foot", "kitty", "wezterm", "konsole", "vte", "gnome",
            "st-",
            "stterm", "contour", "ghostty", "putty", "mintty", "mlterm", "rio", "iterm",
        ]
        return families.contains { kind.hasPrefix($0) }
    }

    // MARK: - Brands

    /// The terminal's brand, and whether `TERM` names the brand.
    ///
    /// Multiplexers come first, because the variables of the terminal around them may be set too. `TERM` is more
    /// reliable than other variables, which every program inherits, including other terminals.
    var brand: (brand: TerminalBrand, isByKind: Bool)? {
        if let multiplexer { return multiplexer }
        let byKind = TerminalBrand.allCases.first { brand in
            brand.traits.kind.map { kind.hasPrefix($0) } ?? false
        }
        if let byKind { return (byKind, true) }
        return markedBrand.map { ($0, false) }
    }

    /// The brand that variables other than `TERM` identify; never a multiplexer. If several brands set a variable, its
    /// value decides, because the last terminal overwrote the value.
    var markedBrand: TerminalBrand? {
        let brands = TerminalBrand.allCases.filter { !$0.isMultiplexer }
        let named = brands.first { brand in
            brand.traits.variables.contains { $0.value != nil && marks[$0.name] == $0.value }
        }
        return named
            ?? brands.first { brand in
                brand.traits.variables.contains { $0.value == nil && marks[$0.name] != nil }
            }
    }

    private var multiplexer: (brand: TerminalBrand, isByKind: Bool)? {
        if kind.hasPrefix("tmux") { return (.tmux, true) }
        if kind.hasPrefix("screen") {
            // tmux may set `TERM` to `screen`, too. The answer to the version query will tell whether this is tmux or
            // GNU screen.
            return marks["TMUX"] != nil && marks["STY"] == nil ? (.tmux, false) : (.gnuScreen, true)
        }
        for brand in [TerminalBrand.tmux, .gnuScreen, .zellij]
        where brand.traits.variables.contains(where: { marks[$0.name] != nil }) {
            return (brand, false)
        }
        return nil
    }
}

/// The brand of a terminal, and how Vitrine knows it.
struct TerminalIdentity: Hashable, Sendable {
    /// The terminal's brand, if Vitrine knows the brand.
    let brand: TerminalBrand?
    /// The brand as text, and how Vitrine knows the brand.
    let text: String
    /// Whether the brand is certain enough to rely on its pixel support, for example because the terminal reported its
    /// version.
    let isCertain: Bool

    /// Combines the environment and the terminal's answers.
    init(_ environment: TerminalEnvironment, _ answers: TerminalAnswers) {
        if let version = answers.version {
            brand = TerminalBrand(version: version)
            text = "\(version), as reported"
            isCertain = true
            return
        }
        guard let (brand, isByKind) = environment.brand else {
            self.brand = nil
            text =
                environment.kind.isEmpty
                ? "unknown: TERM is not set" : "type \(environment.kind.madeVisible) (TERM)"
            isCertain = false
            return
        }
        let traits = brand.traits
        let source = isByKind ? "TERM" : "the environment"
        // The terminal answered later queries, but not the version query. The named brand would have answered it.
        let isRefuted = answers.attributes != nil && traits.version != nil && !traits.mayBeSilent
        guard !isRefuted || brand.isMultiplexer else {
            self.brand = nil
            text =
                "unknown: \(source) names \(brand.rawValue), but the terminal does not answer as \(brand.rawValue) does"
            isCertain = false
            return
        }
        self.brand = brand
        text = "\(brand.rawValue), according to \(source)"
        isCertain = isByKind || (traits.version == nil && answers.attributes != nil)
    }

    /// The queries that this terminal can answer.
    ///
    /// tmux mistakes kitty's query for a title, and GNU screen mistakes the query for a message. So Vitrine does not
    /// send this query to tmux or GNU screen. tmux only passes the query on to the terminal around tmux.
    var questions: Set<TerminalQuestion> {
        switch brand {
        case .gnuScreen: [.version, .attributes]
        case .tmux:
            [
                .version, .cellSize, .areaSize, .background, .synchronises, .sixelColours, .outerVersion, .outerKitty,
                .attributes,
            ]
        case .zellij: [.version, .cellSize, .areaSize, .background, .synchronises, .sixelColours, .attributes]
        case let brand? where !brand.traits.ignoresUnknownQueries: [.attributes]
        default:
            [.version, .kitty, .cellSize, .areaSize, .background, .synchronises, .sixelColours, .attributes]
        }
    }
}
