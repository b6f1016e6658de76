import Glibc
import Pixels
import Synchronization

/// The decoder as a program started for one picture.
struct DecoderProgram: Sendable {
    let path: String
    /// The time limit in milliseconds, after which the decoder is killed.
    let budget: Int32
    let requirement: DecoderRequirement

    /// Throws an error if the user requires restrictions that this system lacks.
    func checkRestrictions() throws(PictureError) { try requirement.check(self) }

    /// Starts the decoder to report its restrictions and libraries.
    func report() throws(PictureError) -> DecoderReport {
        let (input, output): (SealedMemory, SealedMemory)
        do { (input, output) = (try SealedMemory(), try SealedMemory()) } catch { throw PictureError(starting: error) }
        try run([DecoderReport.argument], input: input.descriptor, output: output.descriptor, DecodeCancellation())
        guard let report = try? DecoderReport(reading: output) else { throw .decoderDied }
        return report
    }

    /// Starts the decoder and waits until it ends.
    func run(
        _ arguments: [String], input: Int32, output: Int32, _ cancellation: DecodeCancellation
    ) throws(PictureError) {
        // This pipe's other end is the decoder's standard error. The pipe closes when the decoder ends. `poll` can wait
        // for that with a time limit, but `waitpid` cannot.
        let lifeline: PrivatePipe
        do { lifeline = try PrivatePipe() } catch { throw PictureError(starting: error) }
        defer { close(lifeline.reading) }
        let process: pid_t
        do {
            defer { close(lifeline.writing) }
            process = try spawn(arguments, descriptors: [input, output, lifeline.writing])
        }
        guard cancellation.begin(.program(process)) else {
            kill(process, SIGKILL)
            SpawnedProgram.reap(process)
            throw .cancelled
        }
        let isInTime = waitForEnd(lifeline.reading)
        // This signal has no effect on a process that has ended. A process that only closed its end of the pipe must
        // end now.
        kill(process, SIGKILL)
        // Forget the identifier before the process is reaped. Afterwards it may belong to another process, which
        // `cancel` must not kill.
        let wasCancelled = cancellation.end()
        let status = SpawnedProgram.reap(process)
        if wasCancelled { throw .cancelled }
        guard isInTime else { throw .tookTooLong }
        guard status == 0 else { throw .decoderDied }
    }

    private func spawn(_ arguments: [String], descriptors: [Int32]) throws(PictureError) -> pid_t {
        try SpawnedProgram.start(path, arguments) { actions in
            for (number, descriptor) in descriptors.enumerated() {
                posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
            }
        }
    }

    /// Waits until the pipe closes. Returns false after the time limit, even if the decoder has written messages.
    func waitForEnd(_ lifeline: Int32) -> Bool {
        var deadline = Deadline(milliseconds: budget)
        while let events = deadline.poll(lifeline) {
            if events & POLLIN == 0 { return true }
            // A library has written a message. Read and drop the message, so that `poll` can report the end.
            var buffer = [UInt8](repeating: 0, count: 1_024)
            if buffer.withUnsafeMutableBytes({ read(lifeline, $0.baseAddress, $0.count) }) <= 0 { return true }
        }
        return false
    }
}

/// Prevents decoding if the user requires restrictions that this system lacks.
final class DecoderRequirement: Sendable {
    private let isMade: @Sendable () -> Bool
    /// The missing restrictions according to a decoder's report; nil before the first report. The value is kept,
    /// because the system does not change while Vitrine runs. A failure is not kept: the next decoder may give a report.
    private let missing = Mutex<[String]?>(nil)

    /// - Parameter isMade: returns whether the user requires all restrictions now.
    init(isMade: @escaping @Sendable () -> Bool) {
        self.isMade = isMade
    }

    func check(_ program: DecoderProgram) throws(PictureError) {
        guard isMade() else { return }
        let names = try missing.withLock { missing throws(PictureError) in
            let names = if let missing { missing } else { try program.report().missingRestrictions }
            missing = names
            return names
        }
        guard names.isEmpty else { throw .unrestricted(names) }
    }
}

/// Starts programs, and waits for their end.
enum SpawnedProgram {
    /// Starts a program with the given environment. `give` assigns the program's descriptors. Other descriptors that
    /// are open without `O_CLOEXEC` stay open.
    static func start(
        _ path: String, _ arguments: [String], environment: [String] = [],
        _ give: (inout posix_spawn_file_actions_t) -> Void
    ) throws(PictureError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        give(&actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Unblock all signals in the program. Vitrine blocks signals for its event sources, and a program would inherit
        // this.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
        defer { words.forEach { free($0) } }
        words.append(nil)
        var environment: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) }
        defer { environment.forEach { free($0) } }
        environment.append(nil)
        var process = pid_t()
        let failure = posix_spawn(&process, path, &actions, &attributes, &words, &environment)
        guard ![EMFILE, ENFILE].contains(failure) else { throw .tooFewDescriptors }
        guard failure == 0 else { throw .cannotStart("\(path): \(String(cString: strerror(failure)))") }
        return process
    }

    /// Waits for a process to end. Returns the wait status of the process, 0 for success.
    @discardableResult
    static func reap(_ process: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }
}
