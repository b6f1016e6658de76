import Glibc
import Pixels
import Synchronization

/// Keeps a decoder server running: starts it on demand and replaces it when lost.
///
/// Forked processes share one memory layout. An attacker who breaks one learns that layout, and could use it against
/// the next picture's process. So each server is replaced after a number of pictures.
final class DecoderServer: Sendable {
    /// The outcome of a picture.
    enum Outcome {
        /// The process ended normally.
        case answered
        /// There is no server, or it left the picture to a program.
        case unserved
        /// The server ended or misbehaved.
        case lost
    }

    private struct State {
        var process: ServerProcess?
        /// The number of pictures given to the process.
        var count = 0
        /// Whether a server has ended without serving any picture: then another one would not help.
        var isUseless = false
    }

    private let path: String
    private let budget: Int32
    /// Guards the choice of process for new pictures. Running pictures hold their own reference.
    private let state = Mutex(State())

    /// The most pictures per server.
    static let lifetime = 256
    /// Milliseconds to wait for the confirmation that a process was ended. Generous, for busy machines.
    private static let grace: Int32 = 2_000

    init(path: String, budget: Int32) {
        self.path = path
        self.budget = budget
    }

    /// Asks the server to decode a picture. Blocks until its process has ended.
    func run(
        _ request: DecodeRequest, input: Int32, output: Int32, _ cancellation: DecodeCancellation
    ) throws(PictureError) -> Outcome {
        guard let process = process() else { return .unserved }
        guard let connection = process.begin(request, input: input, output: output) else { return lose(process) }
        // The connection closes on every way out, which ends the picture's process.
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
        // The server is gone or talks nonsense.
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
                    // Descriptors may be free again for the next picture.
                    state.isUseless = error != .tooFewDescriptors
                }
            }
            state.count += 1
            return state.process
        }
    }

    /// Ends a server that is not reliable any more.
    private func lose(_ process: ServerProcess) -> Outcome {
        process.end()
        state.withLock { state in
            // Another picture's thread may have replaced it already.
            if state.process === process { state.process = nil }
            if !process.hasServed { state.isUseless = true }
        }
        return .lost
    }
}

/// A running decoder server, ended with this object. Every waiting picture holds a reference.
///
/// It also ends if Vitrine dies: once its socket is closed it accepts no more pictures, and it exits after the last
/// one. Its processes are killed when it ends.
final class ServerProcess: Sendable {
    private let number: pid_t
    private let requests: PacketSocket
    private let served = Atomic(false)

    /// Starts a server.
    init(path: String) throws(PictureError) {
        let ends: (ours: PacketSocket, theirs: PacketSocket)
        do { ends = try PacketSocket.pair() } catch { throw PictureError(starting: error) }
        requests = ends.ours
        // Otherwise every forked process would resolve the same symbols again.
        number = try SpawnedProgram.start(path, [DecoderService.argument], environment: ["LD_BIND_NOW=1"]) { actions in
            posix_spawn_file_actions_adddup2(&actions, ends.theirs.descriptor, STDIN_FILENO)
            // Libraries repeat their messages for every picture.
            for standard in [STDOUT_FILENO, STDERR_FILENO] {
                posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_RDWR, 0)
            }
        }
    }

    deinit {
        end()
        SpawnedProgram.reap(number)
    }

    /// Kills the server and with it all its processes. It is reaped with this object, so the identifier stays valid
    /// until then.
    func end() {
        kill(number, SIGKILL)
    }

    /// Gives it a picture. Returns the connection for its answer; nil if it accepts no pictures.
    func begin(_ request: DecodeRequest, input: Int32, output: Int32) -> PacketSocket? {
        guard let ends = try? PacketSocket.pair() else { return nil }
        // Its end of the connection tells whether the server is alive, so this process must not keep a copy.
        return withExtendedLifetime(ends.1) { theirs in
            let descriptors = [input, output, theirs.descriptor]
            return (try? requests.send(request.packet, passing: descriptors)) == nil ? nil : ends.0
        }
    }

    /// Records that a picture was served.
    func recordService() {
        served.store(true, ordering: .relaxed)
    }

    /// Whether any picture was served.
    var hasServed: Bool { served.load(ordering: .relaxed) }
}
