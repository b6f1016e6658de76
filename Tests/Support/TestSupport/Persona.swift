/// The answers of a real kind of terminal to queries.
public struct Persona: Sendable {
    /// Its name and version.
    public var version: String?
    /// Its device attributes.
    public var attributes: String?
    /// Whether it supports kitty's pictures.
    public var takesKitty: Bool
    /// The pixels of a cell: height and width.
    public var cell: String?
    /// The colour of its background.
    public var background: String?
    /// The state of mode 2026.
    public var synchronises: String?
    /// The most colours of a sixel picture.
    public var sixelColours: String?

    /// Creates a persona with these answers only.
    public init(
        version: String? = nil, attributes: String? = "62;22", takesKitty: Bool = false, cell: String? = nil,
        background: String? = nil, synchronises: String? = nil, sixelColours: String? = nil
    ) {
        self.version = version
        self.attributes = attributes
        self.takesKitty = takesKitty
        self.cell = cell
        self.background = background
        self.synchronises = synchronises
        self.sixelColours = sixelColours
    }

    /// A terminal with kitty's pictures.
    public static let kitty = Persona(
        version: "kitty(0.35.2)", attributes: "62;", takesKitty: true, cell: "20;10",
        background: "rgb:1e1e/1e1e/2e2e", synchronises: "2")
    /// A terminal with sixel pictures.
    public static let foot = Persona(
        version: "foot(1.16.2)", attributes: "62;4;22;28;29", cell: "18;9", background: "rgb:24/24/24",
        synchronises: "2", sixelColours: "1024")
    /// A terminal without pictures.
    public static let alacritty = Persona(attributes: "6", cell: "17;8", synchronises: "2")
    /// A terminal whose answers are wrong.
    public static let wezTerm = Persona(
        version: "WezTerm 20240203-110809", attributes: "65;4;6;18;22", takesKitty: true, cell: "20;10",
        synchronises: "2")

    /// Returns the answer to a query from ``VirtualScreen/questions``; nil for none.
    public func answer(to question: String) -> String? {
        switch question {
        case "CSI >q", "CSI >0q": version.map { "\u{1B}P>|\($0)\u{1B}\\" }
        case "CSI c", "CSI 0c": attributes.map { "\u{1B}[?\($0)c" }
        case "CSI >c": "\u{1B}[>1;4000;35c"
        case "CSI 16t": cell.map { "\u{1B}[6;\($0)t" }
        case "OSC 11;?": background.map { "\u{1B}]11;\($0)\u{1B}\\" }
        case "CSI ?2026$p": synchronises.map { "\u{1B}[?2026;\($0)$y" }
        case "CSI ?1;1;0S": sixelColours.map { "\u{1B}[?1;0;\($0)S" }
        default: kittyAnswer(to: question)
        }
    }

    private func kittyAnswer(to question: String) -> String? {
        guard takesKitty, question.hasPrefix("APC G"), question.contains("a=q") else { return nil }
        let keys = question.dropFirst(5).prefix { $0 != ";" }.split(separator: ",")
        return keys.first { $0.hasPrefix("i=") }.map { "\u{1B}_G\($0);OK\u{1B}\\" }
    }
}
