import CNcurses
import Cells
import Glibc

extension TerminalFindings {
    /// What standard output can show, for drawing without a screen.
    ///
    ///     let findings = TerminalFindings(ofStandardOutput: TerminalEnvironment(), TerminalWishes())
    ///     draw(findings.capabilities)
    ///
    /// Ask after `setlocale`. Where standard output is a terminal, and the environment leaves in doubt what it can do, it is
    /// asked, which takes as long as its answer, and a quarter of a second at most.
    ///
    /// - Parameter isThorough: whether it is asked in any case.
    public init(
        ofStandardOutput environment: TerminalEnvironment, _ wishes: TerminalWishes = TerminalWishes(),
        isThorough: Bool = false
    ) {
        var status: Int32 = 0
        // The status is asked for so that a kind that is not known is no reason to print and exit.
        let isKnown = setupterm(environment.kind, STDOUT_FILENO, &status) == OK
        var window = winsize()
        let hasSize = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0
        let circumstances = Circumstances(
            terminfoColours: isKnown ? Int(vitrine_terminfo_number("colors")) : 0, isUnicode: environment.isUnicode,
            size: Size(columns: Int(window.ws_col), rows: Int(window.ws_row)),
            cell: hasSize ? CellPixels(window) : nil, isTerminal: isatty(STDOUT_FILENO) == 1)
        let mayAsk = circumstances.isTerminal && environment.isXtermLike
        let isAsked = mayAsk && (isThorough || Self.isInDoubt(environment, circumstances, wishes))
        let answers = isAsked ? TerminalProbe.answers(environment, on: circumstances.size) : TerminalAnswers()
        self.init(environment, circumstances, answers, wishes)
    }

    /// Whether an answer could change how a picture is drawn.
    private static func isInDoubt(
        _ environment: TerminalEnvironment, _ circumstances: Circumstances, _ wishes: TerminalWishes
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
