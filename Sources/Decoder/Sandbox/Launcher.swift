import CSandbox
@preconcurrency import Glibc  // for environ, which Vitrine never changes
import Pixels

/// A small process that starts programs without the restrictions that this process gets later.
///
///     let launcher = try Launcher()               // while this process has one thread
///     let restrictions = ScreensRules().apply()
///     let program = try launcher.start(["xdg-open", "https://example.org/"])
///     let status = program.wait()
///
/// The launcher ends when this object is released, or when this process ends in any way. Its programs continue.
///
/// The launcher starts every program that this process requests, because the user may change the program that opens
/// photos at any time. So if this process is compromised, it can start any program, as if it had no restrictions.
public final class Launcher: Sendable {
    /// The reason why a program, or the launcher, did not start.
    public struct Failure: Error, CustomStringConvertible {
        /// The system's error code. EPIPE means that the launcher has ended.
        public let code: Int32

        /// Creates a reason.
        public init(code: Int32) {
            self.code = code
        }

        /// An error message for the user.
        public var description: String {
            "Vitrine cannot start other programs: \(String(cString: strerror(code)))."
        }
    }

    /// A program that the launcher has started.
    public struct Program: Sendable {
        /// The number of the process, valid until `wait` returns.
        public let number: pid_t
        fileprivate let answers: PacketSocket

        /// Waits for the program to end. Returns its wait status, 0 for success; nil if the launcher has ended.
        public func wait() -> Int32? { Launcher.answer(answers) }

        /// Waits for the program to end. Kills it if it still runs after `patience` milliseconds.
        public func end(after patience: Int32) {
            var watched = pollfd(fd: answers.descriptor, events: Int16(POLLIN), revents: 0)
            var ready = poll(&watched, 1, patience)
            while ready < 0, errno == EINTR { ready = poll(&watched, 1, patience) }
            let hasAnswer = ready == 1 && Int32(watched.revents) & POLLIN != 0
            // Without an answer, the program may still run, even if the launcher has ended.
            if !hasAnswer { kill(number, SIGKILL) }
        }
    }

    private let number: pid_t
    private let requests: PacketSocket

    /// Forks the launcher. The current process must have one thread, and may have open files, which the launcher
    /// closes.
    public init() throws(Failure) {
        do throws(PixelsError) {
            let (ours, theirs) = try PacketSocket.pair()
            number = csandbox_fork_apart()
            if number == 0 { LauncherProcess.run(theirs) }
            guard number > 0 else { throw .system(call: "fork", code: errno) }
            requests = ours
        } catch {
            throw Failure(error)
        }
    }

    deinit {
        requests.end()
        var status: Int32 = 0
        while waitpid(number, &status, 0) < 0, errno == EINTR {}
    }

    /// Starts a program in a session of its own. Its standard input, output and error are `/dev/null`, and its
    /// environment variables are those of this process. `input` and `isBare` change the input and the variables.
    ///
    /// - Parameters:
    ///   - words: the program's name, which is looked up in `$PATH`, and its arguments; together at most 100,000 bytes.
    ///   - input: an open descriptor; the program gets a copy of it as its standard input.
    ///   - isBare: whether the program gets only the environment variables for networks, languages, the loader and
    ///     tests. These include variables of proxies, which may contain passwords.
    public func start(_ words: [String], input: CInt? = nil, isBare: Bool = false) throws(Failure) -> Program {
        do throws(PixelsError) {
            guard words.first?.isEmpty == false else { throw .system(call: "posix_spawnp", code: EINVAL) }
            // If the first word is empty, the program gets only the needed variables.
            let answers = try request((isBare ? [""] : []) + words, input)
            guard let number = Self.answer(answers) else { throw .system(call: "poll", code: EPIPE) }
            // The launcher reports an error as a negative number.
            guard number > 0 else { throw .system(call: "posix_spawnp", code: 0 &- number) }
            return Program(number: number, answers: answers)
        } catch {
            throw Failure(error)
        }
    }

    /// Sends a request. Returns the socket on which the launcher answers it.
    private func request(_ words: [String], _ input: CInt?) throws(PixelsError) -> PacketSocket {
        // The launcher would interpret a null character as the end of a word.
        guard !words.isEmpty, !words.contains(where: { $0.utf8.contains(0) }) else {
            throw .system(call: "posix_spawnp", code: EINVAL)
        }
        let bytes = Array(words.joined(separator: "\0").utf8)
        guard bytes.count <= Self.longestRequest else { throw .system(call: "posix_spawnp", code: E2BIG) }
        let (ours, theirs) = try PacketSocket.pair()
        try requests.send(bytes, passing: [theirs.descriptor] + (input.map { [$0] } ?? []))
        // Only the launcher keeps `theirs`, so the socket reports when the launcher ends.
        withExtendedLifetime(theirs) {}
        return ours
    }

    /// Waits for the next number from the launcher. Returns nil if the launcher has ended.
    fileprivate static func answer(_ socket: PacketSocket) -> Int32? {
        var watched = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&watched, 1, -1) < 0, errno == EINTR {}
        guard let bytes = try? socket.receive(atMost: 4).bytes, bytes.count == 4 else { return nil }
        return bytes.withUnsafeBytes { $0.loadUnaligned(as: Int32.self) }
    }

    /// The maximum number of bytes of a request. It fits into a socket's usual buffer of 208 KiB, which also contains
    /// data of the kernel.
    fileprivate static let longestRequest = 100_000
}

extension Launcher.Failure {
    fileprivate init(_ error: PixelsError) {
        code = if case .system(_, let code) = error { code } else { EPROTO }
    }
}

/// The code of the launcher's process. It starts programs on request, and reports when they end.
private enum LauncherProcess {
    private struct Program {
        let number: pid_t
        /// A descriptor that becomes readable when the program has ended.
        let end: CInt
        let answers: PacketSocket
    }

    static func run(_ socket: PacketSocket) -> Never {
        guard dup2(socket.descriptor, 0) == 0, csandbox_close_all_but_three() == 0 else { _exit(1) }
        // Only the parent process may use the terminal.
        let nowhere = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard nowhere >= 0, dup2(nowhere, 1) == 1, dup2(nowhere, 2) == 2 else { _exit(1) }
        let requests = PacketSocket(adopting: 0)
        var programs: [Program] = []
        while true {
            var watched = ([0] + programs.map(\.end)).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&watched, nfds_t(watched.count), -1) >= 0 || errno == EINTR else { _exit(1) }
            for (program, state) in zip(programs, watched.dropFirst()) where state.revents != 0 {
                report(program)
            }
            programs = zip(programs, watched.dropFirst()).filter { $0.1.revents == 0 }.map(\.0)
            guard watched[0].revents != 0 else { continue }
            guard let packet = try? requests.receive(atMost: Launcher.longestRequest), !packet.isEnd else { _exit(0) }
            if let program = start(packet) { programs.append(program) }
        }
    }

    private static func start(_ packet: PacketSocket.Packet) -> Program? {
        defer { for input in packet.descriptors.dropFirst() { close(input) } }
        guard let descriptor = packet.descriptors.first else { return nil }
        let answers = PacketSocket(adopting: descriptor)
        var words = packet.bytes.split(separator: 0, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        let isBare = words.first == ""
        if isBare { words.removeFirst() }
        var number = pid_t()
        // Without an input, the program reads /dev/null, which is open as descriptor 1.
        let code = spawn(words, input: packet.descriptors.dropFirst().first ?? 1, isBare: isBare, &number)
        answer(answers, code == 0 ? number : 0 &- code)
        guard code == 0 else { return nil }
        let end = csandbox_watch(number)
        return end < 0 ? nil : Program(number: number, end: end, answers: answers)
    }

    private static func report(_ program: Program) {
        var status: Int32 = 0
        while waitpid(program.number, &status, 0) < 0, errno == EINTR {}
        answer(program.answers, status)
        close(program.end)
    }

    /// Sends a number to the requesting process. Does nothing if that process no longer waits for it.
    private static func answer(_ socket: PacketSocket, _ number: Int32) {
        try? socket.send(withUnsafeBytes(of: number) { Array($0) })
    }

    private static func spawn(_ words: [String], input: CInt, isBare: Bool, _ number: inout pid_t) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // All other descriptors close on exec.
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        let newSession: Int32 = 0x80  // POSIX_SPAWN_SETSID
        posix_spawnattr_setflags(
            &attributes, Int16(newSession | Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)))
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        defer { arguments.forEach { free($0) } }
        arguments.append(nil)
        guard isBare else { return posix_spawnp(&number, words[0], &actions, &attributes, &arguments, environ) }
        var variables = bareVariables
        return posix_spawnp(&number, words[0], &actions, &attributes, &arguments, &variables)
    }

    /// The environment variables of this process that a network program needs. The pointers refer to the strings of
    /// this process's environment.
    private static var bareVariables: [UnsafeMutablePointer<CChar>?] {
        var variables: [UnsafeMutablePointer<CChar>?] = []
        var next = environ
        while let entry = next.pointee {
            let name = String(cString: entry).prefix { $0 != "=" }
            if isNeeded(String(name)) { variables.append(entry) }
            next += 1
        }
        return variables + [nil]
    }

    /// Whether a network program gets the environment variable with this name.
    private static func isNeeded(_ name: String) -> Bool {
        let names = [
            "PATH", "LANG", "LANGUAGE", "TZ", "TMPDIR", "CURL_CA_BUNDLE", "OPENSSL_CONF", "RES_OPTIONS", "LOCALDOMAIN",
        ]
        let beginnings = ["LC_", "SSL_CERT_", "LD_", "SWIFT_", "VITRINE_", "ASAN_", "TSAN_", "LLVM_"]
        return names.contains(name) || name.lowercased().hasSuffix("_proxy")
            || beginnings.contains(where: name.hasPrefix)
    }
}
