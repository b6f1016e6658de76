import Glibc
import Pixels

/// One process that decodes small pictures one after the other. It ends with this object.
///
/// Who has it uses it alone: it decodes nothing while nobody asks.
final class SmallPictureDecoder: Sendable {
    /// What came of a picture.
    enum Outcome {
        /// The picture.
        case answered(DecodeReply)
        /// It leaves the picture to a process of its own.
        case elsewhere
        /// It came to an end, does not take any, or talks nonsense.
        case lost
    }

    private let process: pid_t
    private let socket: PacketSocket

    /// Starts one from the decoder's program.
    init(path: String) throws(PictureError) {
        let ends: (ours: PacketSocket, theirs: PacketSocket)
        do { ends = try PacketSocket.pair() } catch { throw PictureError(starting: error) }
        socket = ends.ours
        process = try SpawnedProgram.start(path, [SmallPictureService.argument]) { actions in
            posix_spawn_file_actions_adddup2(&actions, ends.theirs.descriptor, STDIN_FILENO)
            for standard in [STDOUT_FILENO, STDERR_FILENO] {
                posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_RDWR, 0)
            }
        }
    }

    deinit {
        // It has nothing to finish, and might not end by itself.
        kill(process, SIGKILL)
        SpawnedProgram.reap(process)
    }

    /// Has a picture decoded, and holds up the calling thread until there is an answer. After an error, or when it is lost, it is
    /// not to be used again.
    ///
    /// - Parameter number: another one each time. An answer to what was asked before is none.
    func run(
        _ number: UInt32, _ picture: [UInt8], _ request: DecodeRequest, budget: Int32,
        _ cancellation: DecodeCancellation
    ) throws(PictureError) -> Outcome {
        guard (try? socket.send(SmallPictureService.packet(number, request, picture))) != nil else { return .lost }
        guard cancellation.begin(.connection(socket)) else { throw .cancelled }
        var patience = Deadline(milliseconds: budget)
        let isInTime = patience.poll(socket.descriptor) != nil
        if cancellation.end() { throw .cancelled }
        guard isInTime else { throw .tookTooLong }
        let packet = try? socket.receive(atMost: SmallPictureService.longestAnswer(to: request))
        packet?.descriptors.forEach { close($0) }
        // Longer than any answer, or the end.
        guard let packet, packet.descriptors.isEmpty,
            let block = SmallPictureService.block(packet.bytes, to: number)
        else { return .lost }
        guard !block.isEmpty else { return .elsewhere }
        // It sends pictures, and leaves what fails to others: whatever else it says, it is not what it was.
        guard case .picture(let reply)? = block.withUnsafeBytes({ try? DecodeOutcome(reading: $0, for: request) })
        else { return .lost }
        return .answered(reply)
    }
}
