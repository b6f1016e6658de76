import Files
import Glibc
import Pixels
import Synchronization

/// The processes that decode small pictures: one for each concurrent picture, and some idle ones.
///
/// If a process ends or breaks the protocol, a separate process decodes the picture. If a process hangs, this class
/// ends it after the picture's time limit. A new process replaces each process after a number of pictures, for the
/// reason given in `DecoderServer`. This is a mere precaution: the code of these processes is memory-safe, so pictures
/// cannot change them.
final class SmallPictureDecoders: Sendable {
    private struct Slot {
        let decoder: SmallPictureDecoder
        /// The number of pictures given to this process.
        var count = 0
    }

    private struct State {
        var idle: [Slot] = []
        /// The number of processes lost since the last answer.
        var losses = 0
    }

    private let path: String
    private let budget: Int32
    private let state = Mutex(State())
    /// The maximum number of idle processes: one per processor, like the threads that draw pictures.
    private let mostIdle = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

    /// The maximum number of pictures per process. The kernel limits the processor time of a process for all pictures
    /// together, so on a slow machine the process may end sooner.
    static let lifetime = 1_000
    /// After this number of lost processes in a row, no new process starts.
    static let mostLosses = 3

    init(path: String, budget: Int32) {
        self.path = path
        self.budget = budget
    }

    /// Decodes a small picture in a shared process. Blocks until the answer. Returns nil if the picture must be decoded
    /// elsewhere.
    func decode(
        _ picture: [UInt8], _ request: DecodeRequest, _ cancellation: DecodeCancellation
    ) throws(PictureError) -> DecodeReply? {
        guard SmallPictureService.takes(picture, for: request) else { return nil }
        // Don't start work for a cancelled caller.
        guard !cancellation.isCancelled else { throw .cancelled }
        guard var slot = take() else { return nil }
        slot.count += 1
        let outcome: SmallPictureDecoder.Outcome
        do {
            outcome = try slot.decoder.run(
                UInt32(slot.count), picture, request, budget: budget, cancellation)
        } catch {
            if error == .tookTooLong { lose() }
            throw error
        }
        switch outcome {
        case .answered(let reply):
            giveBack(slot)
            return reply
        case .elsewhere: giveBack(slot)
        case .lost: lose()
        }
        return nil
    }

    // MARK: -

    /// Returns an idle process, or starts one. Returns nil after too many losses.
    private func take() -> Slot? {
        let (idle, losses) = state.withLock { ($0.idle.popLast(), $0.losses) }
        if let idle { return idle }
        guard losses < Self.mostLosses else { return nil }
        do {
            return Slot(decoder: try SmallPictureDecoder(path: path))
        } catch {
            if error != .tooFewDescriptors { lose() }
            return nil
        }
    }

    /// Keeps a process for the next picture, unless it has reached its limit.
    private func giveBack(_ slot: Slot) {
        state.withLock { state in
            state.losses = 0
            guard slot.count < Self.lifetime, state.idle.count < mostIdle else { return }
            state.idle.append(slot)
        }
    }

    private func lose() {
        state.withLock { $0.losses += 1 }
    }
}

/// A process that decodes small pictures, one at a time. The process ends when this object is released.
///
/// The owner must use this object from one thread at a time.
final class SmallPictureDecoder: Sendable {
    /// The result of asking the process to decode a picture.
    enum Outcome {
        /// The process has decoded the picture.
        case answered(DecodeReply)
        /// The process declined the picture, so a separate process must decode it.
        case elsewhere
        /// The process has ended, accepts no pictures, or broke the protocol.
        case lost
    }

    private let process: pid_t
    private let socket: PacketSocket

    /// Starts the decoder's program.
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
        // The process has no work to finish, and might not end without a signal.
        kill(process, SIGKILL)
        SpawnedProgram.reap(process)
    }

    /// Asks the process to decode a picture. Blocks until the answer. Do not use the object again after an error or
    /// `lost`.
    ///
    /// - Parameter number: a number that differs for each picture, so that a late answer does not count for the next
    ///   picture.
    func run(
        _ number: UInt32, _ picture: [UInt8], _ request: DecodeRequest, budget: Int32,
        _ cancellation: DecodeCancellation
    ) throws(PictureError) -> Outcome {
        guard (try? socket.send(SmallPictureService.packet(number, request, picture))) != nil else { return .lost }
        guard cancellation.begin(.connection(socket)) else { throw .cancelled }
        var deadline = Deadline(milliseconds: budget)
        let isInTime = deadline.poll(socket.descriptor) != nil
        if cancellation.end() { throw .cancelled }
        guard isInTime else { throw .tookTooLong }
        let packet = try? socket.receive(atMost: SmallPictureService.longestAnswer(to: request))
        packet?.descriptors.forEach { close($0) }
        // Without a packet, the answer was too long or the process has ended.
        guard let packet, packet.descriptors.isEmpty,
            let block = SmallPictureService.block(packet.bytes, to: number)
        else { return .lost }
        guard !block.isEmpty else { return .elsewhere }
        // The process answers only with pictures, and leaves failures to separate processes. Any other answer means
        // that it was compromised.
        guard case .picture(let reply)? = block.withUnsafeBytes({ try? DecodeOutcome(reading: $0, for: request) })
        else { return .lost }
        return .answered(reply)
    }
}

/// Reads files that are short enough for a decoder of small pictures.
enum SmallFile {
    /// Reads the whole file. Returns nil if it is too long, empty or unreadable. The descriptor's position does not
    /// change.
    static func read(_ descriptor: Int32) -> [UInt8]? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            1...SmallPictureService.longestPicture ~= Int(status.st_size)
        else { return nil }
        let size = Int(status.st_size)
        let bytes = try? OpenFile.beginning(of: descriptor, count: size)
        // If the file was truncated meanwhile, a separate process decodes it.
        return bytes?.count == size ? bytes : nil
    }
}
