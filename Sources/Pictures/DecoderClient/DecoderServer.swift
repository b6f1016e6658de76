import Glibc
import Pixels
import Synchronization

/// Starts a decoder server on demand, and replaces a server that fails.
///
/// Forked processes share one memory layout. An attacker who breaks into one process learns that layout, and could use
/// it against the next picture's process. So a new server replaces each server after a number of pictures.
final class DecoderServer: Sendable {
    /// The result of asking a server to decode a picture.
    enum Outcome {
        /// The picture's process ended normally.
        case answered
        /// No server decodes the picture, so a separate program must.
        case unserved
        /// The server ended or broke the protocol.
        case lost
    }

    private struct State {
        var process: ServerProcess?
        /// The number of pictures given to the current server.
        var count = 0
        /// Whether a server failed to start, or ended without decoding any picture. A new server would fail, too.
        var isUseless = false
    }

    private let path: String
    private let budget: Int32
    /// Guards the choice of the server for new pictures. Each running picture holds its own reference to its server.
    private let state = Mutex(State())

    /// The maximum number of pictures that one server decodes.
    static let lifetime = 256
    /// The longest wait for the server to confirm the end of a process, in milliseconds. Busy machines need such a long
    /// limit.
    private static let grace: Int32 = 2_000

    init(path: String, budget: Int32) {
        self.path = path
        self.budget = budget
    }

    /// Asks the server to decode a picture. Blocks until the picture's process has ended.
    func run(
        _ request: DecodeRequest, input: Int32, output: Int32, _ cancellation: DecodeCancellation
    ) throws(PictureError) -> Outcome {
        guard let process = process() else { return .unserved }
        let connection: PacketSocket
        do {
            guard let begun = try process.begin(request, input: input, output: output) else { return lose(process) }
            connection = begun
        } catch {
            // The server is sound and decodes other pictures.
            return .unserved
        }
        // However this method ends, the connection closes, and the server then ends the picture's process.
        guard cancellation.begin(.connection(connection)) else { throw .cancelled }
        var deadline = Deadline(milliseconds: budget)
        let isInTime = deadline.poll(connection.descriptor) != nil
        if cancellation.end() { throw .cancelled }
        if !isInTime {
            connection.finish()
            var grace = Deadline(milliseconds: Self.grace)
            // Either the server confirms the end of the process, or the server itself hangs.
            if grace.poll(connection.descriptor) == nil { _ = lose(process) }
        }
        let packet = try? connection.receive(atMost: DecoderService.longestPacket)
        packet?.descriptors.forEach { close($0) }
        let end = packet.flatMap { DecoderService.End(bytes: $0.bytes) }
        if end != nil { process.recordService() }
        guard isInTime else { throw .tookTooLong }
        switch end {
        case .ended(0): return .answered
        case .ended(DecoderService.elsewhere << 8), .notBegun: return .unserved
        case .ended: throw .decoderDied
        // The server has ended or broken the protocol.
        case nil: return lose(process)
        }
    }

    // MARK: -

    /// Returns the server for the next picture, and starts one if needed.
    private func process() -> ServerProcess? {
        state.withLock { state -> ServerProcess? in
            guard !state.isUseless else { return nil }
            if state.process == nil || state.count == Self.lifetime {
                // A server at its limit ends once its last picture releases it.
                state.process = nil
                state.count = 0
                do throws(PictureError) {
                    state.process = try ServerProcess(path: path)
                } catch {
                    // If only descriptors were lacking, they may be free again for the next picture.
                    state.isUseless = error != .tooFewDescriptors
                }
            }
            state.count += 1
            return state.process
        }
    }

    /// Ends a server that is no longer reliable.
    private func lose(_ process: ServerProcess) -> Outcome {
        process.end()
        state.withLock { state in
            // Another picture's thread may have replaced the server already.
            if state.process === process { state.process = nil }
            if !process.hasServed { state.isUseless = true }
        }
        return .lost
    }
}

/// A running decoder server, which ends when this object is released. Every waiting picture holds a reference.
///
/// The server also ends if Vitrine dies. Its socket closes then, so it accepts no more pictures and exits after the
/// last one. If the server itself is killed, the processes that it forked end, too.
final class ServerProcess: Sendable {
    private let number: pid_t
    private let requests: PacketSocket
    private let served = Atomic(false)

    /// Starts the decoder's program as a server.
    init(path: String) throws(PictureError) {
        let ends: (ours: PacketSocket, theirs: PacketSocket)
        do { ends = try PacketSocket.pair() } catch { throw PictureError(starting: error) }
        requests = ends.ours
        // Without this variable, every forked process would resolve the same symbols again.
        number = try SpawnedProgram.start(path, [DecoderService.argument], environment: ["LD_BIND_NOW=1"]) { actions in
            posix_spawn_file_actions_adddup2(&actions, ends.theirs.descriptor, STDIN_FILENO)
            // Drop messages, because libraries repeat them for every picture.
            for standard in [STDOUT_FILENO, STDERR_FILENO] {
                posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_RDWR, 0)
            }
        }
    }

    deinit {
        end()
        SpawnedProgram.reap(number)
    }

    /// Kills the server and with it all its forked processes. Only `deinit` reaps the server, so the identifier stays
    /// valid until then.
    func end() {
        kill(number, SIGKILL)
    }

    /// Gives the server a picture, and returns the connection for the answer.
    ///
    /// Returns nil if the server accepts no pictures. Throws if this process cannot make a connection.
    func begin(_ request: DecodeRequest, input: Int32, output: Int32) throws(PixelsError) -> PacketSocket? {
        let ends = try PacketSocket.pair()
        // The connection closes when the server dies, unless this process keeps a copy of the server's end.
        return withExtendedLifetime(ends.1) { theirs in
            let descriptors = [input, output, theirs.descriptor]
            return (try? requests.send(request.packet, passing: descriptors)) == nil ? nil : ends.0
        }
    }

    /// Records that the server has decoded a picture.
    func recordService() {
        served.store(true, ordering: .relaxed)
    }

    /// Whether the server has decoded any picture.
    var hasServed: Bool { served.load(ordering: .relaxed) }
}
