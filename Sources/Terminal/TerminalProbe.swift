import Cells
import Glibc

/// Asks the terminal about itself and waits for the answers, for programs that draw once and end.
struct TerminalProbe {
    /// Milliseconds that answers are waited for, at most. Nearly every terminal answers the last question, and then it is over.
    static let limit = 250

    private let descriptor: Int32
    private let environment: TerminalEnvironment
    private let size: Size
    private var inquiry = Inquiry()
    private var parser = InputParser()

    /// What the terminal that the program was started from answers; nothing, if it cannot be asked.
    static func answers(_ environment: TerminalEnvironment, on size: Size) -> TerminalAnswers {
        let descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return TerminalAnswers() }
        defer { close(descriptor) }
        var modes = termios()
        // Who is not in the foreground would be stopped for changing the modes, and must not take what others are to read.
        guard tcgetpgrp(descriptor) == getpgrp(), tcgetattr(descriptor, &modes) == 0 else { return TerminalAnswers() }
        var quiet = modes
        // Neither shown nor held back until a line is complete. The keys that end a program still do: shells then put the
        // modes right by themselves.
        quiet.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(descriptor, TCSANOW, &quiet)
        var probe = TerminalProbe(descriptor: descriptor, environment: environment, size: size)
        let isDone = probe.run()
        // Nothing is left for the shell.
        if !isDone { tcflush(descriptor, TCIFLUSH) }
        tcsetattr(descriptor, TCSANOW, &modes)
        return probe.inquiry.answers
    }

    private init(descriptor: Int32, environment: TerminalEnvironment, size: Size) {
        self.descriptor = descriptor
        self.environment = environment
        self.size = size
    }

    /// Returns whether all was answered.
    private mutating func run() -> Bool {
        let deadline = ContinuousClock.now + .milliseconds(Self.limit)
        var asked = TerminalIdentity(environment, TerminalAnswers()).questions.filter { !$0.isForOuter }
        guard write(inquiry.ask(asked, on: size)) else { return false }
        while true {
            while inquiry.isOpen {
                let left = (deadline - ContinuousClock.now) / .milliseconds(1)
                var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard left > 0, poll(&entry, 1, Int32(left.rounded(.up))) > 0, read() else {
                    inquiry.giveUp()
                    return false
                }
            }
            // Now that it has said who it is, there may be more to ask.
            let further = TerminalIdentity(environment, inquiry.answers).questions.subtracting(asked)
            guard !further.isEmpty else { return true }
            asked.formUnion(further)
            guard write(inquiry.ask(further, on: size)) else { return false }
        }
    }

    private mutating func read() -> Bool {
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
