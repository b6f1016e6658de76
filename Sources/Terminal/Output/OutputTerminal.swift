import CNcurses
import Cells
import Glibc

/// Standard output, for drawing without a screen: what it can show.
///
///     let terminal = OutputTerminal(TerminalEnvironment(), TerminalWishes())
///     draw(terminal.findings.capabilities)
///     terminal.end()
///
/// Make it after `setlocale`. Where standard output is a terminal, and the environment leaves in doubt what it can do, it is
/// asked, which takes as long as its answer, and a quarter of a second at most.
public final class OutputTerminal {
    /// What was found out.
    public let findings: TerminalFindings
    /// How many cells it shows at once, if it is a terminal.
    public let size: Size?
    private let probe: TerminalProbe?

    /// Looks at it, and asks it.
    ///
    /// - Parameter isThorough: whether it is asked in any case.
    public init(
        _ environment: TerminalEnvironment, _ wishes: TerminalWishes = TerminalWishes(), isThorough: Bool = false
    ) {
        var status: Int32 = 0
        // The status is asked for so that a kind that is not known is no reason to print and exit.
        let isKnown = setupterm(environment.kind, STDOUT_FILENO, &status) == OK
        var window = winsize()
        let hasSize = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0
        let cells = Size(columns: Int(window.ws_col), rows: Int(window.ws_row))
        let circumstances = TerminalFindings.Circumstances(
            terminfoColours: isKnown ? Int(vitrine_terminfo_number("colors")) : 0, isUnicode: environment.isUnicode,
            size: cells, cell: hasSize ? CellPixels(window) : nil, isTerminal: isatty(STDOUT_FILENO) == 1)
        size = circumstances.isTerminal && !cells.isEmpty ? cells : nil
        let mayAsk = circumstances.isTerminal && environment.isXtermLike
        let isAsked = mayAsk && (isThorough || Self.isInDoubt(environment, circumstances, wishes))
        probe = isAsked ? TerminalProbe(environment, size: cells) : nil
        findings = TerminalFindings(environment, circumstances, probe?.answers ?? TerminalAnswers(), wishes)
    }

    /// Gives the terminal back, when everything is written: what it answers late is waited for, a second at most since it was
    /// asked.
    public func end() {
        probe?.end()
    }

    /// Whether an answer could change how a picture is drawn.
    private static func isInDoubt(
        _ environment: TerminalEnvironment, _ circumstances: TerminalFindings.Circumstances, _ wishes: TerminalWishes
    ) -> Bool {
        switch wishes.pixels {
        case .none: return false
        case .only: return circumstances.cell == nil
        case .asFound:
            let identity = TerminalIdentity(environment, TerminalAnswers())
            guard identity.isCertain, let brand = identity.brand else { return true }
            switch brand.traits.pixels {
            case .asAnswered: return true
            case .work: return circumstances.cell == nil
            // It may be a tmux that calls itself a screen.
            case .none: return brand == .gnuScreen
            }
        }
    }
}
