import Glibc
import Pixels

/// The decoder as a program that is started for one picture and ends with it.
struct DecoderProgram: Sendable {
    let path: String
    /// Milliseconds that a picture may take, after which its decoder is ended.
    let budget: Int32

    /// Starts the decoder and waits for its end.
    func run(
        _ arguments: [String], input: Int32, output: Int32, _ cancellation: DecodeCancellation
    ) throws(PictureError) {
        // Nobody writes into this pipe. When its other end, the decoder's standard error, is closed, the decoder is no
        // more, and that can be waited for with a limit.
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
        // One that has ended is not changed by this, and one that only let go of the pipe is not waited for.
        kill(process, SIGKILL)
        // Once it is reaped, the number may be another process's: from here on nobody else kills it.
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

    /// Returns false if the time ran out first, whether something is there to be read or not.
    func waitForEnd(_ lifeline: Int32) -> Bool {
        var patience = Deadline(milliseconds: budget)
        while let events = patience.poll(lifeline) {
            if events & POLLIN == 0 { return true }
            // Something was written after all: a library's complaint. It is read to get at the end, and dropped.
            var buffer = [UInt8](repeating: 0, count: 1_024)
            if buffer.withUnsafeMutableBytes({ read(lifeline, $0.baseAddress, $0.count) }) <= 0 { return true }
        }
        return false
    }
}

/// What is done with every program that is started to decode.
enum SpawnedProgram {
    /// Starts the program at a path, with nothing of this one's environment. Its descriptors are those that `give` says, and what is open
    /// here by accident.
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
        // Signals that are blocked here, for the sake of event sources, are none of its business either.
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

    /// Waits for a program's end. Returns the system's word of how it ended, 0 if all is well.
    @discardableResult
    static func reap(_ process: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }
}
