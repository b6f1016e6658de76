import CNcurses
import Cells
import Glibc

/// Standard output, for drawing without a screen.
///
///     let terminal = OutputTerminal(TerminalEnvironment(), TerminalWishes())
///     draw(terminal.findings.capabilities)
///     terminal.end()
///
/// Create the object after `setlocale`. If standard output is a terminal and the environment does not determine the terminal's
/// capabilities, Vitrine queries the terminal for at most a quarter of a second.
public final class OutputTerminal {
    /// The terminal's capabilities, with the reason for each.
    public let findings: TerminalFindings
    /// The number of columns and rows, if standard output is a terminal.
    public let size: Size?
    private let probe: TerminalProbe?

    /// Examines standard output, and queries the terminal if the environment leaves doubts.
    ///
    /// - Parameter isThorough: whether to query the terminal in any case.
    public init(
        _ environment: TerminalEnvironment, _ wishes: TerminalWishes = TerminalWishes(), isThorough: Bool = false
    ) {
        var status: Int32 = 0
        // Without a status argument, setupterm would exit for unknown terminals.
        let isKnown = setupterm(environment.kind, STDOUT_FILENO, &status) == OK
        var window = winsize()
        let hasSize = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0
        let cells = Size(columns: Int(window.ws_col), rows: Int(window.ws_row))
        let isTerminal = isatty(STDOUT_FILENO) == 1
        let circumstances = TerminalFindings.Circumstances(
            terminfoColours: isKnown ? Int(vitrine_terminfo_number("colors")) : 0, isUnicode: environment.isUnicode,
            size: cells, cell: hasSize ? CellPixels(window) : nil, isTerminal: isTerminal,
            // A file gets no reverse video, so that text without colours has no control characters.
            reverses: isTerminal && isKnown && vitrine_terminfo_reverses())
        size = circumstances.isTerminal && !cells.isEmpty ? cells : nil
        let mayAsk = circumstances.isTerminal && environment.isXtermLike
        let isAsked = mayAsk && (isThorough || Self.isInDoubt(environment, circumstances, wishes))
        probe = isAsked ? TerminalProbe(environment, size: cells) : nil
        findings = TerminalFindings(environment, circumstances, probe?.answers ?? TerminalAnswers(), wishes)
    }

    /// Restores the terminal after all output. Waits for late answers until one second after the query.
    public func end() {
        probe?.end()
    }

    /// Returns whether an answer of the terminal could change how pictures are drawn.
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
            // The terminal may be tmux, whose `TERM` can be `screen`.
            case .none: return brand == .gnuScreen
            }
        }
    }
}

/// Queries the terminal and waits for the answers, for commands that draw only once.
///
///     let probe = TerminalProbe(environment, size: size)
///     draw(probe?.answers ?? TerminalAnswers())
///     probe?.end()
final class TerminalProbe {
    /// The milliseconds to wait for answers before drawing. Nearly every terminal answers the last query sooner.
    static let limit = 250
    /// The milliseconds during which Vitrine still reads late answers, so that the shell does not read them.
    static let overdueLimit = 1_000

    private let descriptor: Int32
    private let environment: TerminalEnvironment
    private let size: Size
    private let originalModes: termios
    private let start = ContinuousClock.now
    private var inquiry = Inquiry()
    private var parser = InputParser()
    private var isEnded = false

    /// Queries the controlling terminal. Returns nil if there is no such terminal or it cannot be queried.
    ///
    /// - Parameter size: the number of cells.
    init?(_ environment: TerminalEnvironment, size: Size) {
        let descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var modes = termios()
        // The system would stop a background process that changes the modes. Such a process must not read input either.
        guard tcgetpgrp(descriptor) == getpgrp(), tcgetattr(descriptor, &modes) == 0 else {
            close(descriptor)
            return nil
        }
        (self.descriptor, self.environment, self.size, originalModes) = (descriptor, environment, size, modes)
        // No echo and no line buffering. Signal keys stay enabled; after a signal the shell restores the modes.
        modes.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(descriptor, TCSANOW, &modes)
        if ask() { giveBack() }
    }

    deinit { end() }

    /// The answers that have arrived so far.
    var answers: TerminalAnswers { inquiry.answers }

    /// Restores the terminal, unless an earlier call has done so.
    ///
    /// A slow terminal usually answers now, because the picture was queued behind the queries. The next program must
    /// not read these answers as input.
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

    /// Sends the queries and waits. Returns whether the terminal answered all queries.
    private func ask() -> Bool {
        var asked = TerminalIdentity(environment, TerminalAnswers()).questions.filter { !$0.isForOuter }
        guard write(inquiry.ask(asked, on: size)) else { return false }
        while true {
            while inquiry.isOpen {
                guard wait(milliseconds: Self.limit) else { return false }
            }
            // Now that the terminal is identified, further queries may be useful.
            let further = TerminalIdentity(environment, inquiry.answers).questions.subtracting(asked)
            guard !further.isEmpty else { return true }
            asked.formUnion(further)
            guard write(inquiry.ask(further, on: size)) else { return false }
        }
    }

    /// Waits for input until a given time after the start. Returns whether input arrived.
    private func wait(milliseconds: Int) -> Bool {
        let left = (start + .milliseconds(milliseconds) - ContinuousClock.now) / .milliseconds(1)
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return left > 0 && poll(&entry, 1, Int32(left.rounded(.up))) > 0 && read()
    }

    private func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
        // Keys typed at this moment are lost.
        _ = parser.parse(buffer.prefix(count))
        for reply in parser.takeReplies() { inquiry.take(reply) }
        return true
    }

    /// Writes bytes to the terminal. Returns false if the terminal does not accept all bytes at once.
    private func write(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) } == bytes.count
    }
}
