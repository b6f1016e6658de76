import Concurrency
import Glibc

/// One end of a connection between two processes of Vitrine, which transfers whole messages.
///
/// Sending and receiving block, so each has a thread or queue of its own. Each message begins with the version and the
/// length.
package final class MessageConnection: Sendable {
    private let descriptor: Int32

    /// The maximum number of bytes in a message, enough for the wishes for a million pictures.
    private static let longest = 64 << 20
    /// The number of bytes to read at once. So a message that only states a large length uses little memory.
    private static let piece = 1 << 18

    /// Creates an end that owns a socket's descriptor.
    package init(adopting descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Creates a connection. Returns one end, and the descriptor of the other end, which the caller must close.
    package static func pair() throws(WireError) -> (MessageConnection, Int32) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw .system(call: "socketpair", code: errno) }
        return (MessageConnection(adopting: ends[0]), ends[1])
    }

    /// Sends a message. Blocks until the system has taken all its bytes.
    package func send(_ message: some WireValue) throws(WireError) {
        var body = WireWriter()
        body.append(message)
        guard body.bytes.count <= Self.longest else { throw .tooLong(body.bytes.count) }
        var head = WireWriter()
        head.append(WireVersion.current)
        head.append(UInt32(clamping: body.bytes.count))
        for bytes in [head.bytes, body.bytes] { try write(bytes) }
    }

    private func write(_ bytes: [UInt8]) throws(WireError) {
        var (start, code) = (0, Int32(0))
        bytes.withUnsafeBytes { bytes in
            while start < bytes.count, code == 0 {
                let count = Glibc.send(
                    descriptor, bytes.baseAddress?.advanced(by: start), bytes.count - start, Int32(MSG_NOSIGNAL))
                if count >= 0 { start += count } else if errno != EINTR { code = errno }
            }
        }
        guard code == 0 else { throw .system(call: "send", code: code) }
    }

    /// Receives the next message. Blocks until it is whole. Returns nil if the other end has closed the connection.
    package func receive<Message: WireValue>(_ type: Message.Type = Message.self) throws(WireError) -> Message? {
        var head = WireReader(try read(5))
        guard head.remaining == 5 else { return nil }
        let version: UInt8 = try head.value()
        guard version == WireVersion.current else { throw .version(version) }
        let length = Int(try UInt32(from: &head))
        guard length <= Self.longest else { throw .tooLong(length) }
        let bytes = try read(length)
        guard bytes.count == length else { return nil }
        return try Self.read(type, from: bytes)
    }

    /// Reads a message from its bytes.
    package static func read<Message: WireValue>(
        _ type: Message.Type, from bytes: [UInt8]
    ) throws(WireError) -> Message {
        var reader = WireReader(bytes)
        let message: Message = try reader.value()
        try reader.end()
        return message
    }

    /// Reads a number of bytes, or fewer at the end of the connection.
    private func read(_ count: Int) throws(WireError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let most = min(count - bytes.count, Self.piece)
            var code: Int32 = 0
            let piece = [UInt8](unsafeUninitializedCapacity: most) { buffer, length in
                var received = recv(descriptor, buffer.baseAddress, most, 0)
                while received < 0, errno == EINTR { received = recv(descriptor, buffer.baseAddress, most, 0) }
                if received < 0 { code = errno }
                length = max(0, received)
            }
            // ECONNRESET means that the other process was killed before it read all messages.
            guard code == 0 || code == ECONNRESET else { throw .system(call: "recv", code: code) }
            if piece.isEmpty { break }
            bytes += piece
        }
        return bytes
    }

    /// Ends sending. The other end receives everything that was sent, and then the end of the stream.
    package func finish() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Ends both directions, which wakes a thread that receives.
    package func end() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }
}

/// Sends messages on a queue of its own, because sending may block.
package actor MessageSender {
    private let connection: MessageConnection
    private let executor = QueueExecutor(label: "vitrine.fetcher.send")

    /// The actor's own queue, so that sending blocks no other task.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Creates a sender over one end of a connection.
    package init(_ connection: MessageConnection) {
        self.connection = connection
    }

    /// Sends a message. Returns false if the other end is gone.
    package func send(_ message: some WireValue & Sendable) -> Bool {
        do throws(WireError) {
            try connection.send(message)
            return true
        } catch {
            // The other end then learns that nothing more comes.
            connection.end()
            return false
        }
    }
}

/// Receives messages on a thread of its own.
///
/// Waiting in a task would block one of the few threads that run tasks.
package struct MessageReceiver: Sendable {
    private let connection: MessageConnection

    /// Creates a receiver over one end of a connection.
    package init(_ connection: MessageConnection) {
        self.connection = connection
    }

    /// Receives messages until the other end closes the connection or breaks the protocol.
    ///
    /// The receiver handles one message at a time.
    ///
    /// - Parameters:
    ///   - take: handles a message, on a thread that may block.
    ///   - finish: does the part of the work that must wait for other tasks. Then the receiver waits for the next
    ///     message.
    package func run<Message: WireValue & Sendable>(
        _ take: @escaping @Sendable (Message) -> Void, finish: (Message) async -> Void = { _ in },
        onFailure: (WireError) -> Void
    ) async {
        let workers = Workers(name: "messages", count: 1)
        do throws(WireError) {
            while let message = try await receive(on: workers, take) { await finish(message) }
        } catch {
            onFailure(error)
        }
    }

    /// Receives and handles a message. Returns nil at the end of the connection.
    private func receive<Message: WireValue & Sendable>(
        on workers: Workers, _ take: @escaping @Sendable (Message) -> Void
    ) async throws(WireError) -> Message? {
        let result: Result<Message?, WireError> = await withCheckedContinuation { continuation in
            workers.run { [connection] in
                continuation.resume(
                    returning: Result { () throws(WireError) in
                        let message = try connection.receive(Message.self)
                        if let message { take(message) }
                        return message
                    })
            }
        }
        return try result.get()
    }
}
