import Foundation
import Synchronization

/// An HTTP server on loopback that does exactly what a test tells it to, right or wrong.
///
///     let server = try ScriptedServer { request in
///         request.path == "/ok" ? .answer(200, "hello") : [.send("HTTP/1.1 200 OK\r\nContent-Le"), .reset]
///     }
public final class ScriptedServer: Sendable {
    /// A request as it came.
    public struct Request: Sendable {
        /// `GET`; `TLS` for the greeting of a client that would like to speak in secret.
        public let method: String
        /// Everything between the method and the version.
        public let path: String
        /// Values by names in lower case.
        public let headers: [String: String]
        /// Which connection it came over, counted from 1.
        public let connection: Int
    }

    /// What the server does next.
    public enum Step: Sendable {
        /// Sends these bytes.
        case send([UInt8])
        /// Sends these bytes again and again, for as long as anybody takes them.
        case sendForever([UInt8])
        /// Sends these bytes again and again until a gate is open.
        case sendUntil(Gate, [UInt8])
        /// Sends a byte a second, for as long as anybody takes them.
        case drip
        /// Lets half a second pass, unless the connection ends before.
        case pause
        /// Waits until the other end's system has all that was sent, or is gone: a reset takes nothing of it back then.
        case deliver
        /// Waits until a gate is open.
        case hold(Gate)
        /// Opens a gate.
        case open(Gate)
        /// Closes the connection in order.
        case close
        /// Closes the connection with a reset.
        case reset
    }

    private let listener: Int32
    /// Where it listens.
    public let port: Int
    private let script: @Sendable (Request) -> [Step]
    private let log = Mutex<[Request]>([])
    private let connections = Mutex(Connections())

    private struct Connections {
        var count = 0
        var open: Set<Int32> = []
        var isInterrupted = false
    }

    /// Listens on a free port of loopback, or of another address that this machine has.
    ///
    /// - Parameter port: the port, if that is not to be any free one.
    public init(at host: String = "127.0.0.1", port: Int = 0, _ script: @escaping @Sendable (Request) -> [Step]) throws
    {
        self.script = script
        let (finder, listener) = (Self.makeSocket(), Self.makeSocket())
        defer { Glibc.close(finder) }
        self.listener = listener
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr(host)
        address.sin_port = in_port_t(port).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        // A port that the system has chosen is given back when nobody listens at it for a while; one that was asked for is
        // not. So it is asked for what it has chosen.
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(finder, pointer, length) == 0 && getsockname(finder, pointer, &length) == 0
                    && bind(listener, pointer, length) == 0 && listen(listener, 64) == 0
            }
        }
        guard bound else { throw POSIXError(.EADDRNOTAVAIL) }
        self.port = Int(UInt16(bigEndian: address.sin_port))
        acceptConnections()
    }

    private static func makeSocket() -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        return descriptor
    }

    private func acceptConnections() {
        // The thread holds the server, until it is stopped or the test process ends: a test may let go of it while what
        // it asked for is still coming.
        Thread.detachNewThread {
            while true {
                let connection = accept(self.listener, nil, nil)
                guard connection >= 0 else { return }
                self.serve(connection)
            }
        }
    }

    /// The URL of a path.
    public func url(_ path: String) -> String {
        "http://127.0.0.1:\(port)\(path)"
    }

    /// What was asked so far, in order.
    public var requests: [Request] { log.withLock { $0 } }

    /// Connections that were made so far.
    public var connectionCount: Int { connections.withLock { $0.count } }

    /// Closes every connection and makes no more. May be called again.
    ///
    /// The listener's number stays taken until nobody uses it: given back here, it would be another server's a moment later,
    /// and whoever is about to wait for connections at it would answer in that one's place.
    public func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        connections.withLock { connections in
            connections.isInterrupted = true
            for connection in connections.open { shutdown(connection, Int32(SHUT_RDWR)) }
        }
    }

    deinit {
        close(listener)
    }

    /// Goes away: resets every connection and refuses others, until ``goOn()``. The port stays its own.
    public func interrupt() {
        shutdown(listener, Int32(SHUT_RDWR))
        connections.withLock { connections in
            connections.isInterrupted = true
            for connection in connections.open { Self.reset(connection) }
        }
    }

    /// Comes back, at the same port.
    public func goOn() {
        connections.withLock { $0.isInterrupted = false }
        listen(listener, 64)
        acceptConnections()
    }

    /// connect(2): TCP sockets "may dissolve the association by connecting to an address with the sa_family member of
    /// sockaddr set to AF_UNSPEC". That is a reset, at once, whatever another thread does with the connection.
    private static func reset(_ connection: Int32) {
        var nowhere = sockaddr()
        nowhere.sa_family = sa_family_t(AF_UNSPEC)
        connect(connection, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
    }

    private func serve(_ connection: Int32) {
        let number = connections.withLock { connections in
            connections.count += 1
            connections.open.insert(connection)
            if connections.isInterrupted { Self.reset(connection) }
            return connections.count
        }
        var off: Int32 = 1
        setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &off, socklen_t(MemoryLayout<Int32>.size))
        Thread.detachNewThread {
            while let request = Self.readRequest(connection, number) {
                self.log.withLock { $0.append(request) }
                guard Self.perform(self.script(request), connection) else { break }
            }
            self.connections.withLock { _ = $0.open.remove(connection) }
            Glibc.close(connection)
        }
    }

    /// Returns whether the connection stays open.
    private static func perform(_ steps: [Step], _ connection: Int32) -> Bool {
        for step in steps {
            switch step {
            case .send(let bytes):
                guard sendAll(bytes, connection) else { return false }
            case .sendForever(let bytes):
                while sendAll(bytes, connection) {}
                return false
            case .sendUntil(let gate, let bytes):
                while !gate.isOpen { guard sendAll(bytes, connection) else { return false } }
            case .drip:
                // The fault is the time that it takes.
                while sendAll([0x78], connection), stays(connection, for: 1_000) {}
                return false
            case .pause:
                guard stays(connection, for: 500) else { return false }
            case .deliver:
                awaitDelivery(connection)
            case .hold(let gate):
                guard gate.wait() else { return false }
            case .open(let gate): gate.open()
            case .close:
                return false
            case .reset:
                var linger = linger(l_onoff: 1, l_linger: 0)
                setsockopt(connection, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
                return false
            }
        }
        return true
    }

    /// Returns false if the other end is gone.
    private static func sendAll(_ bytes: [UInt8], _ connection: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Linux's POLLRDHUP, which glibc defines for those alone who ask for all that it has.
    private static let otherEndHangsUp: Int16 = 0x2000

    /// Waits for some milliseconds. Returns false, and at once, if the other end goes away meanwhile or the server is stopped.
    private static func stays(_ connection: Int32, for milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: connection, events: otherEndHangsUp, revents: 0)
        while true {
            let count = poll(&entry, 1, milliseconds)
            if count >= 0 || errno != EINTR { return count == 0 }
        }
    }

    private static func awaitDelivery(_ connection: Int32) {
        var underWay: Int32 = 0
        // The system tells nobody that the last byte has arrived, but whoever asks.
        while ioctl(connection, UInt(TIOCOUTQ), &underWay) == 0, underWay > 0, stays(connection, for: 5) {}
    }

    private static func readRequest(_ connection: Int32, _ number: Int) -> Request? {
        var text: [UInt8] = []
        var byte: UInt8 = 0
        while !text.suffix(4).elementsEqual([13, 10, 13, 10]) {
            guard recv(connection, &byte, 1, 0) == 1, text.count < 1 << 16 else { return nil }
            if text.isEmpty, byte == 22 { return readGreeting(connection, number) }
            // What does not begin like a request never becomes one.
            guard !text.isEmpty || Character(UnicodeScalar(byte)).isLetter else { return nil }
            text.append(byte)
        }
        return request(text, number)
    }

    /// The rest of a record of TLS, after its first byte: two of a version, two of a length, and as many as that says.
    private static func readGreeting(_ connection: Int32, _ number: Int) -> Request? {
        var head: [UInt8] = [0, 0, 0, 0]
        guard recv(connection, &head, 4, Int32(MSG_WAITALL)) == 4 else { return nil }
        var body = [UInt8](repeating: 0, count: Int(head[2]) << 8 | Int(head[3]))
        guard recv(connection, &body, body.count, Int32(MSG_WAITALL)) == body.count else { return nil }
        return Request(method: "TLS", path: "", headers: [:], connection: number)
    }

    private static func request(_ text: [UInt8], _ number: Int) -> Request? {
        let lines = String(decoding: text, as: UTF8.self).components(separatedBy: "\r\n")
        let parts = lines[0].split(separator: " ")
        guard parts.count == 3 else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let pair = line.split(separator: ":", maxSplits: 1)
            if pair.count == 2 { headers[pair[0].lowercased()] = pair[1].trimmingCharacters(in: .whitespaces) }
        }
        return Request(method: String(parts[0]), path: String(parts[1]), headers: headers, connection: number)
    }
}

extension ScriptedServer.Step {
    /// Sends text.
    public static func send(_ text: String) -> Self { .send(Array(text.utf8)) }
}

extension [ScriptedServer.Step] {
    /// A whole answer that leaves the connection open.
    public static func answer(_ status: Int, _ body: [UInt8], headers: [String] = []) -> Self {
        let lines = ["HTTP/1.1 \(status) Status", "Content-Length: \(body.count)"] + headers
        return [.send(lines.joined(separator: "\r\n") + "\r\n\r\n"), .send(body)]
    }

    /// A whole answer that leaves the connection open.
    public static func answer(_ status: Int, _ body: String = "", headers: [String] = []) -> Self {
        answer(status, [UInt8](body.utf8), headers: headers)
    }
}
