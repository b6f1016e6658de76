/// Why there can be no screen.
public enum TerminalError: Error, Equatable, CustomStringConvertible {
    /// Standard input or output is no terminal.
    case notATerminal
    /// The terminal's kind is not in the terminfo database.
    case unknownKind(String)
    /// The terminal cannot be set up; the system's reason.
    case cannotSetUp(String)

    /// A sentence for the user.
    public var description: String {
        switch self {
        case .notATerminal: "Browsing needs a terminal; “vitrine list” and “vitrine show” do without."
        case .unknownKind(let kind):
            kind.isEmpty
                ? "TERM is not set, so nothing is known of this terminal."
                : "Nothing is known of terminals of the kind “\(kind)” (TERM); install ncurses-term, or set TERM=xterm."
        case .cannotSetUp(let reason): "The terminal cannot be set up: \(reason)."
        }
    }
}
