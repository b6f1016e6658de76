import Foundation

/// A program in a pseudo-terminal with a ``VirtualScreen`` at the other end.
///
/// It waits only for the program's output, never for a fixed time.
public final class TerminalSession {
    /// The visible screen.
    public let screen: VirtualScreen
    /// The program's whole output.
    public private(set) var bytes: [UInt8] = []
    /// The program.
    public let process: pid_t
    /// The terminal's modes before the program started.
    public let original: termios
    /// The terminal that answers the program's queries; nil for no answers.
    public var persona: Persona?
    private var answered = 0
    /// The descriptor of this end; -1 after it was closed.
    private var terminal: Int32
    private var exitStatus: Int32?
    /// The path of the program's end.
    private let programsEnd: String

    /// Starts a program.
    ///
    /// - Parameter echoes: whether the terminal echoes typed text until the program changes its modes.
    public init(
        _ path: String = Built.vitrine, arguments: [String] = [], columns: Int = 80, rows: Int = 24,
        environment: [String: String], persona: Persona? = nil, echoes: Bool = true
    ) throws {
        self.persona = persona
        screen = VirtualScreen(columns: columns, rows: rows)
        var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        var terminal: Int32 = -1
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for word in words + variables { free(word) } }
        var other: Int32 = -1
        guard openpty(&terminal, &other, nil, nil, &size) == 0 else { throw POSIXError(.ENODEV) }
        var original = termios()
        tcgetattr(terminal, &original)
        if !echoes { original.c_lflag &= ~tcflag_t(ECHO) }
        tcsetattr(terminal, TCSANOW, &original)
        self.original = original
        // The program gets its own session. The first terminal that it opens becomes the controlling one.
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // Not `ttyname`, because parallel tests share its buffer.
        var name = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard ttyname_r(other, &name, name.count) == 0 else { throw POSIXError(.ENODEV) }
        let programsEnd = name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        posix_spawn_file_actions_addopen(&actions, 0, programsEnd, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        posix_spawn_file_actions_addclose(&actions, terminal)
        posix_spawn_file_actions_addclose(&actions, other)
        var attributes = posix_spawnattr_t(isNewSession: true)
        defer { posix_spawnattr_destroy(&attributes) }
        var process = pid_t()
        let failure = posix_spawn(&process, path, &actions, &attributes, &words, &variables)
        close(other)
        guard failure == 0 else { throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EIO) }
        self.process = process
        self.terminal = terminal
        self.programsEnd = programsEnd
    }

    deinit {
        if exitStatus == nil {
            kill(process, SIGKILL)
            _ = wait()
        }
        if terminal >= 0 { close(terminal) }
    }

    /// Closes this end, like a closed window or a broken connection.
    public func hangUp() {
        close(terminal)
        terminal = -1
    }

    /// Stops the program's output, as ^S does, until ``resumeLine()``.
    public func stopLine() { flow(TCOOFF) }

    /// Resumes the program's output.
    public func resumeLine() { flow(TCOON) }

    private func flow(_ action: Int32) {
        // The program's end must be stopped.
        let end = open(programsEnd, O_RDWR | O_NOCTTY | O_NONBLOCK)
        tcflow(end, action)
        close(end)
    }

    /// Types text, or the bytes of a key.
    public func type(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(terminal, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Types keys as over a slow connection.
    ///
    /// After each key, it reads as many bytes as the connection would carry until the next key. The real time does not
    /// matter.
    public func type(_ keys: [String], perSecond rate: Int, bytesPerSecond: Int) {
        for key in keys {
            type(key)
            read(milliseconds: Int32(1_000 / rate), atMost: bytesPerSecond / rate)
        }
    }

    /// Changes the window's size.
    public func resize(columns: Int, rows: Int) {
        screen.resize(columns: columns, rows: rows)
        var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(terminal, UInt(TIOCSWINSZ), &size)
    }

    /// Reads output until the condition holds. Returns false if it never did.
    @discardableResult
    public func until(seconds: Double = 60, _ condition: (VirtualScreen) -> Bool) -> Bool {
        let deadline = Date(timeIntervalSinceNow: seconds)
        while !condition(screen) {
            let left = deadline.timeIntervalSinceNow
            guard left > 0, read(milliseconds: Int32(left * 1000)) else { return condition(screen) }
        }
        return true
    }

    /// Reads output until a text is visible.
    @discardableResult
    public func until(seconds: Double = 60, shows text: String) -> Bool {
        until(seconds: seconds) { $0.text.contains(text) }
    }

    /// Reads output until none has arrived for some time.
    public func untilQuiet(milliseconds: Int32 = 1_000) {
        while read(milliseconds: milliseconds) {}
    }

    /// Whether the program has ended.
    public var hasEnded: Bool {
        if exitStatus != nil { return true }
        var status: Int32 = 0
        guard waitpid(process, &status, WNOHANG) == process else { return false }
        while read(milliseconds: 0) {}
        exitStatus = Self.code(status)
        return true
    }

    /// Waits for the program's end, and returns its exit code; minus the signal, if a signal ended it.
    ///
    /// A program that runs on for two minutes is killed, whether it draws or waits.
    public func wait() -> Int32 {
        if let exitStatus { return exitStatus }
        let end = DispatchWorkItem { [process] in kill(process, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + 120, execute: end)
        defer { end.cancel() }
        // Read the program's last output, since it would block otherwise.
        while terminal >= 0, read(milliseconds: 60_000) {}
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        let code = Self.code(status)
        exitStatus = code
        return code
    }

    private static func code(_ status: Int32) -> Int32 {
        status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }

    /// The terminal's current modes.
    public var modes: termios {
        get {
            var modes = termios()
            tcgetattr(terminal, &modes)
            return modes
        }
        set {
            var modes = newValue
            tcsetattr(terminal, TCSANOW, &modes)
        }
    }

    /// The first process of the job in the terminal's foreground.
    public var foregroundProcess: pid_t? {
        let group = tcgetpgrp(terminal)
        return group > 0 ? group : nil
    }

    /// Reads available output, or waits for some. Returns false if none came, or if the program is gone.
    @discardableResult
    private func read(milliseconds: Int32, atMost most: Int = 65_536) -> Bool {
        var entry = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, milliseconds) > 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: most)
        let count = buffer.withUnsafeMutableBytes { Glibc.read(terminal, $0.baseAddress, $0.count) }
        guard count > 0 else { return false }
        bytes += buffer.prefix(count)
        screen.write(buffer.prefix(count))
        answer()
        return true
    }

    private func answer() {
        guard let persona else { return }
        for question in screen.questions[answered...] {
            if let answer = persona.answer(to: question) { type(answer) }
        }
        answered = screen.questions.count
    }
}
