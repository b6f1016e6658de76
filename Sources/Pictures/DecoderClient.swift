import Glibc
import Pixels

/// Starts the decoder, a process for each picture, and takes its answer.
///
/// The bytes of a picture are a stranger's, and the libraries that read them are large. So they are read in a process that
/// is given one file to read and one to write, limits on its time and memory, and an end of its own: whatever is wrong with
/// a picture, it takes no more with it than the process.
///
///     let decoder = DecoderClient(path: "/usr/libexec/vitrine/vitrine-decoder")
///     let reply = try decoder.decode(.file("photo.jpg"), request)
public struct DecoderClient: Sendable {
    private let path: String
    /// Milliseconds that a picture may take, after which its decoder is ended.
    private let budget: Int32

    /// A client that starts the program at this path.
    public init(path: String, budget: Int32 = 15_000) {
        self.path = path
        self.budget = budget
    }

    /// Finds out what a picture is, without decoding it: its size, and all it says about itself.
    public func facts(of source: PictureSource) throws(PictureError) -> DecodeReply {
        var request = DecodeRequest(box: PixelSize(width: 1, height: 1))
        request.product = .facts
        return try decode(source, request)
    }

    /// Asks the decoder how it is confined on this machine, and what it decodes with.
    public func report() throws(PictureError) -> DecoderReport {
        let (input, output) = try memory { () throws(PixelsError) in (try SealedMemory(), try SealedMemory()) }
        try run([DecoderReport.argument], input: input.descriptor, output: output.descriptor, DecodeCancellation())
        do {
            return try DecoderReport(reading: output)
        } catch {
            throw .decoderDied
        }
    }

    /// Decodes one picture. Holds up the calling thread until the decoder has ended.
    ///
    /// The thread must be one that stays until then, which every thread does that is held up: the decoder asks to be
    /// killed when the thread that started it ends.
    package func decode(
        _ source: PictureSource, _ request: DecodeRequest, cancellation: DecodeCancellation = DecodeCancellation()
    ) throws(PictureError) -> DecodeReply {
        let output = try memory { () throws(PixelsError) in try SealedMemory() }
        switch source {
        case .bytes(let bytes):
            let input = try memory { () throws(PixelsError) in try SealedMemory(sealing: bytes) }
            try run(request.arguments, input: input.descriptor, output: output.descriptor, cancellation)
        case .file(let path):
            let input = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
            guard input >= 0 else { throw .file(String(cString: strerror(errno))) }
            defer { close(input) }
            try run(request.arguments, input: input, output: output.descriptor, cancellation)
        }
        let outcome: DecodeOutcome
        do {
            outcome = try DecodeOutcome(reading: output, for: request)
        } catch {
            // No seals, or nonsense: a decoder that was broken, or taken over.
            throw .decoderDied
        }
        switch outcome {
        case .picture(let reply): return reply
        case .failure(let failure): throw .undecodable(failure)
        }
    }

    private func memory<Memory>(_ make: () throws(PixelsError) -> Memory) throws(PictureError) -> Memory {
        do { return try make() } catch { throw .cannotStart("\(error)") }
    }

    /// Starts the decoder and waits for its end.
    private func run(
        _ arguments: [String], input: Int32, output: Int32, _ cancellation: DecodeCancellation
    ) throws(PictureError) {
        // Nobody writes into this pipe. When its other end, the decoder's standard error, is closed, the decoder is no
        // more, and that can be waited for with a limit.
        var lifeline: (reading: Int32, writing: Int32) = (-1, -1)
        guard withUnsafeMutableBytes(of: &lifeline, { pipe($0.bindMemory(to: Int32.self).baseAddress!) }) == 0 else {
            throw .cannotStart(String(cString: strerror(errno)))
        }
        defer { close(lifeline.reading) }
        // A decoder that another thread starts just now may get the pipe too, but it closes at once all that is not its own.
        _ = fcntl(lifeline.reading, F_SETFD, FD_CLOEXEC)
        _ = fcntl(lifeline.writing, F_SETFD, FD_CLOEXEC)
        let process: pid_t
        do {
            defer { close(lifeline.writing) }
            process = try spawn(arguments, descriptors: [input, output, lifeline.writing])
        }
        guard cancellation.begin(process) else {
            kill(process, SIGKILL)
            reap(process)
            throw .cancelled
        }
        let isInTime = waitForEnd(lifeline.reading)
        // One that has ended is not changed by this, and one that only let go of the pipe is not waited for.
        kill(process, SIGKILL)
        // Once it is reaped, the number may be another process's: from here on nobody else kills it.
        let wasCancelled = cancellation.end()
        let status = reap(process)
        if wasCancelled { throw .cancelled }
        guard isInTime else { throw .tookTooLong }
        guard status == 0 else { throw .decoderDied }
    }

    private func spawn(_ arguments: [String], descriptors: [Int32]) throws(PictureError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, descriptor) in descriptors.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
        }
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
        var environment: [UnsafeMutablePointer<CChar>?] = [nil]
        var process = pid_t()
        let failure = posix_spawn(&process, path, &actions, &attributes, &words, &environment)
        guard failure == 0 else { throw .cannotStart("\(path): \(String(cString: strerror(failure)))") }
        return process
    }

    /// Returns false if the time ran out first, whether something is there to be read or not.
    func waitForEnd(_ lifeline: Int32) -> Bool {
        var entry = pollfd(fd: lifeline, events: Int16(POLLIN), revents: 0)
        let deadline = Self.milliseconds + Int64(budget)
        repeat {
            let count = poll(&entry, 1, Int32(clamping: max(0, deadline - Self.milliseconds)))
            if count == 0 { return false }
            if count > 0 {
                if Int32(entry.revents) & POLLIN == 0 { return true }
                // Something was written after all: a library's complaint. It is read to get at the end, and dropped.
                var buffer = [UInt8](repeating: 0, count: 1_024)
                if buffer.withUnsafeMutableBytes({ read(lifeline, $0.baseAddress, $0.count) }) <= 0 { return true }
            }
        } while Self.milliseconds < deadline
        return false
    }

    @discardableResult
    private func reap(_ process: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }

    private static var milliseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
