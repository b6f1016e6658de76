import Foundation

/// A loopback port with a full queue: the system lets all further connections wait.
public final class FullListener: Sendable {
    private let descriptors: [Int32]
    /// The port.
    public let port: Int

    /// Fills the queue.
    public init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        var descriptors = [listener]
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                guard bind(listener, pointer, length) == 0, listen(listener, 0) == 0,
                    getsockname(listener, pointer, &length) == 0
                else { return false }
                for _ in 0..<4 {
                    let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
                    descriptors.append(client)
                    _ = connect(client, pointer, length)
                }
                return true
            }
        }
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        self.descriptors = descriptors
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
    }
}
