import Foundation

/// A name server with one answer for every question, in a network of its own.
///
///     let resolver = try ScriptedResolver(.silent)
///     let transfer = resolver.inside { client.transfer(request) }
///
/// Code inside asks this server; code outside asks the usual one.
public final class ScriptedResolver: Sendable {
    /// The answer.
    public enum Answer: Sendable {
        /// None.
        case silent
        /// The name does not exist.
        case unknown
        /// The server failed.
        case failure
        /// The server refuses.
        case refusal
        /// Bytes that are no answer.
        case nonsense
    }

    private let network: OwnNetwork
    private let folder = TestFolder()
    private let descriptor: Int32

    private struct NotPossible: Error {}

    /// Starts answering.
    public init(_ answer: Answer) throws {
        network = try OwnNetwork()
        try network.ip("link", "set", "lo", "up")
        folder.write("resolv.conf", "nameserver 127.0.0.1\n")
        folder.write("nsswitch.conf", "hosts: files dns\n")
        descriptor = network.inside { Self.listen() }
        guard descriptor >= 0 else { throw NotPossible() }
        Thread.detachNewThread { [descriptor] in Self.serve(descriptor, answer) }
    }

    deinit {
        // A shutdown of a datagram socket wakes its reader, though it reports an error.
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Runs code that asks this server for names.
    public func inside<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result {
        let files = ["resolv.conf", "nsswitch.conf"].map { (folder.path($0), "/etc/\($0)") }
        return network.inside(with: files, body)
    }

    private static func listen() -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        address.sin_port = in_port_t(53).bigEndian
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        return isBound ? descriptor : -1
    }

    private static func serve(_ descriptor: Int32, _ answer: Answer) {
        defer { close(descriptor) }
        var question = [UInt8](repeating: 0, count: 512)
        while true {
            var sender = sockaddr()
            var length = socklen_t(MemoryLayout<sockaddr>.size)
            let count = recvfrom(descriptor, &question, question.count, 0, &sender, &length)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            guard let reply = reply(to: question.prefix(count), answer) else { continue }
            _ = sendto(descriptor, reply, reply.count, 0, &sender, length)
        }
    }

    /// The question marked as an answer with a result code (RFC 1035, 4.1.1), and without additional records.
    private static func reply(to question: ArraySlice<UInt8>, _ answer: Answer) -> [UInt8]? {
        let verdict: UInt8
        switch answer {
        case .silent: return nil
        case .nonsense: return question.prefix(2) + [0x81]
        case .failure: verdict = 2
        case .unknown: verdict = 3
        case .refusal: verdict = 5
        }
        let head: [UInt8] = question.prefix(2) + [0x81, 0x80 | verdict] + question[4..<6] + [0, 0, 0, 0, 0, 0]
        return head + question.dropFirst(12)
    }
}
