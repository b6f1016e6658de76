import Glibc
import Pixels
import Synchronization

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
