import Sandbox
import Glibc
import Pixels

/// Makes a process for each picture, as a copy of itself: what a program does before it looks at its first picture is done once.
///
///     PictureServer(requests: PacketSocket(adopting: STDIN_FILENO)) { request in decode(request) }.run()
///
/// It never looks at a picture, so no picture can do anything to it, nor through it to the next one. It has one thread, which
/// waits for everything at once: requests, ends of processes, and customers who have gone. What it is asked in is
/// `DecoderService`.
public struct PictureServer {
    /// A picture that is being decoded.
    private struct Work {
        let process: ForkedProcess
        /// Whoever wants the picture.
        let client: PacketSocket
        /// Whether he has gone, and it was ended therefore.
        var isAbandoned = false
    }

    private let requests: PacketSocket
    private let decode: ([UInt8]) -> Never
    private var works: [Work] = []
    private var isOpen = true

    /// A server that takes requests from this socket.
    ///
    /// - Parameter decode: what a process does with the packet of its request, the picture on descriptor 0 and the block for
    ///   the answer on 1. It has nothing else open but standard error.
    public init(requests: PacketSocket, decode: @escaping ([UInt8]) -> Never) {
        self.requests = requests
        self.decode = decode
    }

    /// Serves until the socket is closed and the last process has ended.
    public consuming func run() {
        while isOpen || !works.isEmpty { serve() }
    }

    // MARK: -

    private mutating func serve() {
        // A descriptor of -1 is passed over: who has gone is not asked again, nor is a socket that is closed.
        var entries = [Self.entry(isOpen ? requests.descriptor : -1)]
        for work in works {
            entries.append(Self.entry(work.process.descriptor))
            entries.append(Self.entry(work.isAbandoned ? -1 : work.client.descriptor))
        }
        guard poll(&entries, nfds_t(entries.count), -1) > 0 else { return }
        // From the back, so that those that are still to be looked at stay where they are.
        for index in works.indices.reversed() {
            if entries[1 + 2 * index].revents != 0 {
                let work = works.remove(at: index)
                Self.tell(work.client, .ended(work.process.reap()))
            } else if entries[2 + 2 * index].revents != 0 {
                // Nobody ever says anything there: he has gone, or sends no more. If he still reads, he is told of the end.
                works[index].process.end()
                works[index].isAbandoned = true
            }
        }
        if entries[0].revents != 0 { takeRequest() }
    }

    private mutating func takeRequest() {
        guard let packet = try? requests.receive(atMost: DecoderService.longestPacket), !packet.isEnd else {
            isOpen = false
            return
        }
        guard packet.descriptors.count == 3 else { return packet.descriptors.forEach { close($0) } }
        let (input, output) = (packet.descriptors[0], packet.descriptors[1])
        let client = PacketSocket(adopting: packet.descriptors[2])
        do throws(ForkedProcess.Failure) {
            let process = try ForkedProcess { [decode] in
                dup2(input, STDIN_FILENO)
                dup2(output, STDOUT_FILENO)
                // Before it looks at the picture's first bytes: those who wait for others are none of its business.
                guard Confinement.closeAllButThree() else { _exit(1) }
                decode(packet.bytes)
            }
            works.append(Work(process: process, client: client))
        } catch {
            Self.tell(client, .notBegun(error.code))
        }
        close(input)
        close(output)
    }

    private static func entry(_ descriptor: CInt) -> pollfd {
        pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    }

    /// Says how it went, to whoever is still there.
    private static func tell(_ client: PacketSocket, _ end: DecoderService.End) {
        try? client.send(end.bytes)
    }
}
