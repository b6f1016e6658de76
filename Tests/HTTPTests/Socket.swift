import Glibc
import Testing

/// A loopback socket that is closed with its object.
final class Socket: Sendable {
    let number: Int32

    private init(_ number: Int32) { self.number = number }
    deinit { close(number) }

    static func listening() throws -> Socket {
        let socket = Socket(Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        try #require(socket.bind(to: 0) == 0 && listen(socket.number, 1) == 0)
        return socket
    }

    /// The other end of the next connection.
    func accepted() -> Socket { Socket(accept(number, nil, nil)) }

    static func connected(from port: UInt16, to listener: Socket) throws -> Socket {
        let socket = Socket(Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        var yes: Int32 = 1
        setsockopt(socket.number, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        try #require(socket.bind(to: port) == 0)
        try #require(Self.with(Self.address(listener.port)) { connect(socket.number, $0, $1) } == 0)
        return socket
    }

    private func bind(to port: UInt16) -> Int32 {
        Self.with(Self.address(port)) { Glibc.bind(number, $0, $1) }
    }

    private static func address(_ port: UInt16) -> sockaddr_in {
        sockaddr_in(
            sin_family: sa_family_t(AF_INET), sin_port: port.bigEndian,
            sin_addr: in_addr(s_addr: UInt32(0x7F00_0001).bigEndian), sin_zero: (0, 0, 0, 0, 0, 0, 0, 0))
    }

    private static func with(
        _ address: sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    var port: UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(number, $0, &length) }
        }
        return UInt16(bigEndian: address.sin_port)
    }
}
