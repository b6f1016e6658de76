import Glibc
import Pixels
import Synchronization

/// The processes that decode small pictures, as many as are at work at once, and those that wait for the next picture.
///
/// One that is lost or answers nonsense is thrown away, and its picture is decoded in a process of its own; one that hangs is ended
/// when the picture's time is up. None lasts for many pictures: see `DecoderServer` for why that is better, though here no
/// picture can do anything to its process.
final class SmallPictureDecoders: Sendable {
    private struct Place {
        let decoder: SmallPictureDecoder
        /// How many pictures it has taken.
        var count = 0
    }

    private struct State {
        var idle: [Place] = []
        /// How many were lost since one has answered.
        var losses = 0
    }

    private let path: String
    private let budget: Int32
    private let state = Mutex(State())
    /// The most that wait: as many as there are processors, and so threads that have pictures decoded.
    private let mostIdle = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

    /// As many pictures as one process takes. All of them together have the time that a decoder has for one: on a slow machine it
    /// may end sooner.
    static let lifetime = 1_000
    /// When so many are lost in a row, there is no use in others.
    static let mostLosses = 3

    init(path: String, budget: Int32) {
        self.path = path
        self.budget = budget
    }

    /// Has a picture decoded, if it is one for them, and holds up the calling thread until it is; nil if it is to be decoded in
    /// another way.
    func decode(
        _ picture: [UInt8], _ request: DecodeRequest, _ cancellation: DecodeCancellation
    ) throws(PictureError) -> DecodeReply? {
        guard SmallPictureService.takes(picture, for: request) else { return nil }
        // Nobody is given a picture whose answer he would not be there for.
        guard !cancellation.isCancelled else { throw .cancelled }
        guard var place = take() else { return nil }
        place.count += 1
        let outcome: SmallPictureDecoder.Outcome
        do {
            outcome = try place.decoder.run(
                UInt32(place.count), picture, request, budget: budget, cancellation)
        } catch {
            if error == .tookTooLong { lose() }
            throw error
        }
        switch outcome {
        case .answered(let reply):
            giveBack(place)
            return reply
        case .elsewhere: giveBack(place)
        case .lost: lose()
        }
        return nil
    }

    // MARK: -

    /// One that nobody uses.
    private func take() -> Place? {
        let (idle, losses) = state.withLock { ($0.idle.popLast(), $0.losses) }
        if let idle { return idle }
        guard losses < Self.mostLosses else { return nil }
        do {
            return Place(decoder: try SmallPictureDecoder(path: path))
        } catch {
            if error != .tooFewDescriptors { lose() }
            return nil
        }
    }

    /// Keeps one for the next picture, unless it has taken all that it should.
    private func giveBack(_ place: Place) {
        state.withLock { state in
            state.losses = 0
            guard place.count < Self.lifetime, state.idle.count < mostIdle else { return }
            state.idle.append(place)
        }
    }

    private func lose() {
        state.withLock { $0.losses += 1 }
    }
}

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

/// A file as short as those are that may go to a decoder of small pictures.
enum SmallFile {
    /// Reads one from its beginning; nil if it is longer, empty, or cannot be read like that. The descriptor stays where it is.
    static func read(_ descriptor: Int32) -> [UInt8]? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            1...SmallPictureService.longestPicture ~= Int(status.st_size)
        else { return nil }
        let size = Int(status.st_size)
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(0, pread(descriptor, buffer.baseAddress, size, 0))
        }
        // One that has become shorter meanwhile is somebody's who can look at it alone.
        return bytes.count == size ? bytes : nil
    }
}
