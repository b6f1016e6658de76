import Glibc
import Pixels
import Synchronization

/// The decoder's server, as long as there is one: started when it is first needed, and started again when it is lost, and
/// after a number of pictures in any case.
///
/// Processes that are copies of one program have their code and their first data at the same addresses. Who breaks one learns where
/// they are, and if he can tell the next picture, he need not guess. So no server lasts for many pictures.
final class DecoderServer: Sendable {
    /// What came of a picture.
    enum Outcome {
        /// Its process ended as it should.
        case answered
        /// It is not decoded here: there is no server, or it leaves the picture to a program.
        case unserved
        /// The server came to an end meanwhile.
        case lost
    }

    private struct State {
        var process: ServerProcess?
        /// How many pictures it has taken.
        var count = 0
        /// Whether a server has ended without having served anybody: there is no use in another one.
        var isUseless = false
    }

    private let path: String
    private let budget: Int32
    /// Guards the process that new pictures are given to. Those that it has are between it and their callers.
    private let state = Mutex(State())

    /// As many pictures as one server takes.
    static let lifetime = 256
    /// Milliseconds that it may take to say that it has ended a process, which it does at once, on a machine with much to do.
    private static let grace: Int32 = 2_000

    init(path: String, budget: Int32) {
        self.path = path
        self.budget = budget
    }

    /// Has a picture decoded, and holds up the calling thread until its process has ended.
    func run(
        _ request: DecodeRequest, input: Int32, output: Int32, _ cancellation: DecodeCancellation
    ) throws(PictureError) -> Outcome {
        guard let process = process() else { return .unserved }
        guard let connection = process.begin(request, input: input, output: output) else { return lose(process) }
        // The connection is closed on every way out, and with it the picture's process is ended.
        guard cancellation.begin(.connection(connection)) else { throw .cancelled }
        var patience = Deadline(milliseconds: budget)
        let isInTime = patience.poll(connection.descriptor) != nil
        if cancellation.end() { throw .cancelled }
        if !isInTime {
            connection.finish()
            var grace = Deadline(milliseconds: Self.grace)
            // It says that it has ended the process, or it is the server that hangs.
            if grace.poll(connection.descriptor) == nil { _ = lose(process) }
        }
        let packet = try? connection.receive(atMost: DecoderService.longestPacket)
        packet?.descriptors.forEach { close($0) }
        let end = packet.flatMap { DecoderService.End(bytes: $0.bytes) }
        if end != nil { process.noteService() }
        guard isInTime else { throw .tookTooLong }
        switch end {
        case .ended(0): return .answered
        case .ended(DecoderService.elsewhere << 8), .notBegun: return .unserved
        case .ended: throw .decoderDied
        // It is gone, or makes no sense.
        case nil: return lose(process)
        }
    }

    // MARK: -

    /// The server that takes the next picture.
    private func process() -> ServerProcess? {
        state.withLock { state -> ServerProcess? in
            guard !state.isUseless else { return nil }
            if state.process == nil || state.count == Self.lifetime {
                // One that has taken all that it should ends with the last of them.
                state.process = nil
                state.count = 0
                do throws(PictureError) {
                    state.process = try ServerProcess(path: path)
                } catch {
                    // The next picture may find free descriptors again.
                    state.isUseless = error != .tooFewDescriptors
                }
            }
            state.count += 1
            return state.process
        }
    }

    /// Ends a server that cannot be relied on.
    private func lose(_ process: ServerProcess) -> Outcome {
        process.end()
        state.withLock { state in
            // Another picture may have noticed before, and there may be a new one.
            if state.process === process { state.process = nil }
            if !process.hasServed { state.isUseless = true }
        }
        return .lost
    }
}

/// One server of the decoder's. It is ended with this object, which everybody holds who waits for a picture of it.
///
/// The system ends it with Vitrine too, in a way: when nobody holds the other end of its socket it takes no more pictures,
/// and when nobody waits for one it ends. So do its processes, which are killed when it ends.
final class ServerProcess: Sendable {
    private let number: pid_t
    private let requests: PacketSocket
    private let served = Atomic(false)

    /// Starts one.
    init(path: String) throws(PictureError) {
        let ends: (ours: PacketSocket, theirs: PacketSocket)
        do { ends = try PacketSocket.pair() } catch { throw PictureError(starting: error) }
        requests = ends.ours
        // Each of its processes would look for the same functions anew.
        number = try SpawnedProgram.start(path, [DecoderService.argument], environment: ["LD_BIND_NOW=1"]) { actions in
            posix_spawn_file_actions_adddup2(&actions, ends.theirs.descriptor, STDIN_FILENO)
            // What libraries have to complain of, they complain of in every picture's process.
            for standard in [STDOUT_FILENO, STDERR_FILENO] {
                posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_RDWR, 0)
            }
        }
    }

    deinit {
        end()
        SpawnedProgram.reap(number)
    }

    /// Ends it, if it has not ended by itself, and with it all its processes. It is reaped with this object: until then the
    /// number is its own.
    func end() {
        kill(number, SIGKILL)
    }

    /// Gives it a picture. Returns the connection on which it will say how that went; nil if it does not take it.
    func begin(_ request: DecodeRequest, input: Int32, output: Int32) -> PacketSocket? {
        guard let ends = try? PacketSocket.pair() else { return nil }
        // Whether the server is gone is told by its end of the connection, of which there must be no other.
        return withExtendedLifetime(ends.1) { theirs in
            let descriptors = [input, output, theirs.descriptor]
            return (try? requests.send(request.packet, passing: descriptors)) == nil ? nil : ends.0
        }
    }

    /// Notes that it has served somebody.
    func noteService() {
        served.store(true, ordering: .relaxed)
    }

    /// Whether it has ever served anybody.
    var hasServed: Bool { served.load(ordering: .relaxed) }
}
