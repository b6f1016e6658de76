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

/// Asks the terminal about itself and waits for the answers, for programs that draw once and end.
///
///     let probe = TerminalProbe(environment, size: size)
///     draw(probe?.answers ?? TerminalAnswers())
///     probe?.end()
final class TerminalProbe {
    /// Milliseconds that answers are waited for before anything is drawn. Nearly every terminal answers the last question, and
    /// then it is over.
    static let limit = 250
    /// Milliseconds within which answers that come too late to be of use are still taken, so that nobody else reads them.
    static let overdueLimit = 1_000

    private let descriptor: Int32
    private let environment: TerminalEnvironment
    private let size: Size
    private let originalModes: termios
    private let start = ContinuousClock.now
    private var inquiry = Inquiry()
    private var parser = InputParser()
    private var isEnded = false

    /// Asks the terminal that the program was started from; nil, if it cannot be asked.
    ///
    /// - Parameter size: how many cells it has.
    init?(_ environment: TerminalEnvironment, size: Size) {
        let descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var modes = termios()
        // Who is not in the foreground would be stopped for changing the modes, and must not take what others are to read.
        guard tcgetpgrp(descriptor) == getpgrp(), tcgetattr(descriptor, &modes) == 0 else {
            close(descriptor)
            return nil
        }
        (self.descriptor, self.environment, self.size, originalModes) = (descriptor, environment, size, modes)
        // Neither shown nor held back until a line is complete. The keys that end a program still do: shells then put the
        // modes right by themselves.
        modes.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(descriptor, TCSANOW, &modes)
        if ask() { giveBack() }
    }

    deinit { end() }

    /// What was answered by now.
    var answers: TerminalAnswers { inquiry.answers }

    /// Gives the terminal back, when all is drawn, if that was not done when everything had been answered. It can be repeated.
    ///
    /// A terminal that has not answered the last question in time does so now, most likely: the picture it was sent is behind
    /// the question. Whoever has it next must not read that as what its user types.
    func end() {
        guard !isEnded else { return }
        while inquiry.open.contains(.attributes), wait(milliseconds: Self.overdueLimit) {}
        tcflush(descriptor, TCIFLUSH)
        giveBack()
    }

    private func giveBack() {
        isEnded = true
        var modes = originalModes
        tcsetattr(descriptor, TCSANOW, &modes)
        close(descriptor)
    }

    /// Returns whether all was answered.
    private func ask() -> Bool {
        var asked = TerminalIdentity(environment, TerminalAnswers()).questions.filter { !$0.isForOuter }
        guard write(inquiry.ask(asked, on: size)) else { return false }
        while true {
            while inquiry.isOpen {
                guard wait(milliseconds: Self.limit) else { return false }
            }
            // Now that it has said who it is, there may be more to ask.
            let further = TerminalIdentity(environment, inquiry.answers).questions.subtracting(asked)
            guard !further.isEmpty else { return true }
            asked.formUnion(further)
            guard write(inquiry.ask(further, on: size)) else { return false }
        }
    }

    /// Waits for more until so long after the beginning. Returns whether it came.
    private func wait(milliseconds: Int) -> Bool {
        let left = (start + .milliseconds(milliseconds) - ContinuousClock.now) / .milliseconds(1)
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return left > 0 && poll(&entry, 1, Int32(left.rounded(.up))) > 0 && read()
    }

    private func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
        // What is typed in this moment is lost.
        _ = parser.parse(buffer.prefix(count))
        for reply in parser.takeReplies() { inquiry.take(reply) }
        return true
    }

    /// A terminal that takes less than a hundred bytes at once is not worth waiting for.
    private func write(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } == bytes.count
    }
}
