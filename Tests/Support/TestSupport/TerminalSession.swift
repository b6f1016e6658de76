import Foundation

/// A program in a terminal of our own: a pseudo-terminal with a ``VirtualScreen`` at the other end.
///
/// It waits for what the program writes, and for nothing else: no time passes that nobody needs.
public final class TerminalSession {
    /// What the user sees.
    public let screen: VirtualScreen
    /// Everything that was written.
    public private(set) var bytes: [UInt8] = []
    /// The program.
    public let process: pid_t
    /// The terminal's modes before the program came.
    public let original: termios
    /// Who answers what the program asks the terminal; nil for nobody.
    public var persona: Persona?
    private var answered = 0
    /// -1 when it has been closed.
    private var terminal: Int32
    private var exitStatus: Int32?
    /// The path of the end that the program has.
    private let programsEnd: String

    /// Starts a program.
    ///
    /// - Parameter echoes: whether the terminal shows what is typed while nobody has taken it over.
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
        // In a session of its own, whose controlling terminal is the one it opens first.
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // Not `ttyname`, whose buffer tests that run at the same time share.
        var name = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard ttyname_r(other, &name, name.count) == 0 else { throw POSIXError(.ENODEV) }
        let programsEnd = name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        posix_spawn_file_actions_addopen(&actions, 0, programsEnd, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        posix_spawn_file_actions_addclose(&actions, terminal)
        posix_spawn_file_actions_addclose(&actions, other)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(0x80 | POSIX_SPAWN_SETSIGMASK))  // POSIX_SPAWN_SETSID
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

    /// Closes the terminal's window, as it were, or cuts the line to it.
    public func hangUp() {
        close(terminal)
        terminal = -1
    }

    /// Has the line take nothing from the program, as ^S does, until it is resumed.
    public func stopLine() { flow(TCOOFF) }

    /// Has the line take what the program writes again.
    public func resumeLine() { flow(TCOON) }

    private func flow(_ action: Int32) {
        // It is the program's end that is stopped.
        let end = open(programsEnd, O_RDWR | O_NOCTTY | O_NONBLOCK)
        tcflow(end, action)
        close(end)
    }

    /// Types text, or the bytes that a key sends.
    public func type(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(terminal, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Types keys, so many a second, at the end of a line that brings so many bytes a second: after each key, as much is read as
    /// comes until the next. How long that takes is all the same.
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

    /// Reads what the program writes until the condition holds. Returns false if it never did.
    @discardableResult
    public func until(seconds: Double = 60, _ condition: (VirtualScreen) -> Bool) -> Bool {
        let deadline = Date(timeIntervalSinceNow: seconds)
        while !condition(screen) {
            let left = deadline.timeIntervalSinceNow
            guard left > 0, read(milliseconds: Int32(left * 1000)) else { return condition(screen) }
        }
        return true
    }

    /// Reads what the program writes until some text is seen.
    @discardableResult
    public func until(seconds: Double = 60, shows text: String) -> Bool {
        until(seconds: seconds) { $0.text.contains(text) }
    }

    /// Reads until nothing has come for some time.
    public func untilQuiet(milliseconds: Int32 = 1_000) {
        while read(milliseconds: milliseconds) {}
    }

    /// Whether the program has ended by now.
    public var hasEnded: Bool {
        if exitStatus != nil { return true }
        var status: Int32 = 0
        guard waitpid(process, &status, WNOHANG) == process else { return false }
        while read(milliseconds: 0) {}
        exitStatus = Self.code(status)
        return true
    }

    /// Waits for the program's end, and returns its exit code; minus the signal, if one ended it.
    public func wait() -> Int32 {
        if let exitStatus { return exitStatus }
        // What it writes at last has to be read, or it would wait for us.
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

    /// The terminal's modes as they are now.
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

    /// Who has the terminal: the first process of the job that a shell has in the foreground.
    public var foregroundProcess: pid_t? {
        let group = tcgetpgrp(terminal)
        return group > 0 ? group : nil
    }

    /// Reads what has come, or comes soon. Returns false if nothing did, or if the program is gone.
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
