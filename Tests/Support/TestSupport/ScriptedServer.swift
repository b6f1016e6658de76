import Foundation
import Synchronization

/// An HTTP server on loopback that follows a test's script, right or wrong.
///
///     let server = try ScriptedServer { request in
///         request.path == "/ok" ? .answer(200, "hello") : [.send("HTTP/1.1 200 OK\r\nContent-Le"), .reset]
///     }
public final class ScriptedServer: Sendable {
    /// A request as received.
    public struct Request: Sendable {
        /// `GET`, or another method; `TLS` for a client's TLS greeting.
        public let method: String
        /// Everything between the method and the version.
        public let path: String
        /// Values by lower-case names.
        public let headers: [String: String]
        /// The number of its connection, from 1.
        public let connection: Int
        /// The body, whose length the headers state.
        public fileprivate(set) var body: [UInt8] = []
    }

    /// A step of the script.
    public enum Step: Sendable {
        /// Sends bytes.
        case send([UInt8])
        /// Sends bytes repeatedly until the client closes.
        case sendForever([UInt8])
        /// Sends bytes repeatedly until a gate opens.
        case sendUntil(Gate, [UInt8])
        /// Sends a byte per second until the client closes.
        case drip
        /// Waits for half a second, or until the connection ends.
        case pause
        /// Waits until the client's system has received everything, so that a reset loses nothing.
        case deliver
        /// Waits until a gate opens.
        case hold(Gate)
        /// Opens a gate.
        case open(Gate)
        /// Closes the connection normally.
        case close
        /// Resets the connection.
        case reset
    }

    private let listener: Int32
    /// The port.
    public let port: Int
    private let script: @Sendable (Request) -> [Step]
    private let log = Mutex<[Request]>([])
    private let connections = Mutex(Connections())

    private struct Connections {
        var count = 0
        var open: Set<Int32> = []
        var isInterrupted = false
    }

    /// Listens on a free port of loopback, or of another local address.
    ///
    /// - Parameter port: a certain port; nil for any free one.
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
        // A port chosen by the system is released when nothing listens on it for a while. So the chosen port is
        // requested again.
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
        // The thread keeps the server alive until it is stopped: a test may release it while answers are still coming.
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

    /// All requests so far, in order.
    public var requests: [Request] { log.withLock { $0 } }

    /// Forgets the requests so far. Servers of millions of requests would otherwise fill the memory.
    public func forgetRequests() { log.withLock { $0 = [] } }

    /// The number of connections so far.
    public var connectionCount: Int { connections.withLock { $0.count } }

    /// Refuses new connections. The open ones stay.
    package func stopListening() { shutdown(listener, Int32(SHUT_RDWR)) }

    /// Closes all connections and accepts no more. Repeated calls do nothing.
    ///
    /// The listener's descriptor stays open until its thread has ended. Closed here, its number could become another
    /// server's, and the thread would accept connections there.
    public func stop() {
        stopListening()
        connections.withLock { connections in
            connections.isInterrupted = true
            for connection in connections.open { shutdown(connection, Int32(SHUT_RDWR)) }
        }
    }

    deinit {
        close(listener)
    }

    /// Resets all connections and refuses new ones until ``goOn()``. The port stays reserved.
    public func interrupt() {
        stopListening()
        connections.withLock { connections in
            connections.isInterrupted = true
            for connection in connections.open { Self.reset(connection) }
        }
    }

    /// Listens again on the same port.
    public func goOn() {
        connections.withLock { $0.isInterrupted = false }
        listen(listener, 64)
        acceptConnections()
    }

    /// connect(2): TCP sockets "may dissolve the association by connecting to an address with the sa_family member of
    /// sockaddr set to AF_UNSPEC". That is an immediate reset, whatever another thread does with the connection.
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
                // The fault is the time it takes.
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

    /// Returns false if the client is gone.
    private static func sendAll(_ bytes: [UInt8], _ connection: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Linux's POLLRDHUP, which glibc defines only with all extensions.
    private static let otherEndHangsUp: Int16 = 0x2000

    /// Waits for some milliseconds. Returns false at once if the client closes or the server is stopped.
    private static func stays(_ connection: Int32, for milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: connection, events: otherEndHangsUp, revents: 0)
        while true {
            let count = poll(&entry, 1, milliseconds)
            if count >= 0 || errno != EINTR { return count == 0 }
        }
    }

    private static func awaitDelivery(_ connection: Int32) {
        var underWay: Int32 = 0
        // The system reports the arrival of the last byte only on request.
        while ioctl(connection, UInt(TIOCOUTQ), &underWay) == 0, underWay > 0, stays(connection, for: 5) {}
    }

    private static func readRequest(_ connection: Int32, _ number: Int) -> Request? {
        var text: [UInt8] = []
        var byte: UInt8 = 0
        while !text.suffix(4).elementsEqual([13, 10, 13, 10]) {
            guard recv(connection, &byte, 1, 0) == 1, text.count < 1 << 16 else { return nil }
            if text.isEmpty, byte == 22 { return readGreeting(connection, number) }
            // Bytes that do not begin like a request are refused at once.
            guard !text.isEmpty || Character(UnicodeScalar(byte)).isLetter else { return nil }
            text.append(byte)
        }
        guard var request = request(text, number) else { return nil }
        guard let length = request.headers["content-length"].flatMap({ Int($0) }), length > 0 else { return request }
        var body = [UInt8](repeating: 0, count: length)
        guard recv(connection, &body, length, Int32(MSG_WAITALL)) == length else { return nil }
        request.body = body
        return request
    }

    /// The rest of a TLS record after its first byte: version, length, and as many bytes.
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
    /// A complete answer that leaves the connection open.
    public static func answer(_ status: Int, _ body: [UInt8], headers: [String] = []) -> Self {
        let lines = ["HTTP/1.1 \(status) Status", "Content-Length: \(body.count)"] + headers
        return [.send(lines.joined(separator: "\r\n") + "\r\n\r\n"), .send(body)]
    }

    /// A complete answer that leaves the connection open.
    public static func answer(_ status: Int, _ body: String = "", headers: [String] = []) -> Self {
        answer(status, [UInt8](body.utf8), headers: headers)
    }
}
