import Dispatch
import Files
import Glibc
import Numbers
import Synchronization

/// Reads a local file as a transfer, like one over the network.
///
/// curl reads local files to their end in one go ("Write callback asked for PAUSE when not supported"), which would
/// block other transfers or fill the memory. This class waits while the mailbox is full, on a queue of its own, and
/// recognizes an unchanged file. It never continues an earlier transfer.
final class FileTransfer: @unchecked Sendable {
    private let request: HTTPRequest
    private let mailbox: TransferMailbox
    private let opener: FileOpener
    /// Whether the caller has cancelled the transfer. Any thread may set this flag, because the queue may be busy
    /// reading a whole file.
    private let isCancelled = Atomic(false)
    /// The serial queue on which all code uses the state below.
    private let queue = DispatchQueue(label: "vitrine.file", qos: .utility)
    private var descriptor: Int32 = -1
    private var received: ByteCount = 0
    private var sink: BodySink
    /// The piece that did not fit into the mailbox.
    private var refused: [UInt8]?
    private var isEnded = false
    private let beginning = ContinuousClock.now

    /// The size of a piece, which fills the mailbox. Smaller pieces would be copied when the mailbox appends the next
    /// piece.
    private static let piece = TransferMailbox.capacity

    /// Returns whether a request is for a local file and may read it.
    static func serves(_ request: HTTPRequest) -> Bool {
        request.allowsFiles && request.method == .get && request.url.hasPrefix("file://")
    }

    init(_ request: HTTPRequest, _ mailbox: TransferMailbox, _ opener: FileOpener) {
        self.request = request
        self.opener = opener
        sink = BodySink(request, mailbox)
        self.mailbox = mailbox
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    func start() {
        queue.async { [self] in
            do {
                if try begin() { try read() }
            } catch {
                end(.failure(error))
            }
        }
    }

    /// Continues reading after the mailbox was full.
    func resume() {
        queue.async { [self] in
            do { try read() } catch { end(.failure(error)) }
        }
    }

    func cancel() {
        isCancelled.store(true, ordering: .relaxed)
        queue.async { [self] in end(.failure(CancellationError())) }
    }

    /// Opens the file and posts the response. Returns whether there is a body to read.
    private func begin() throws -> Bool {
        descriptor = try opener.open(request)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw HTTPError.reading(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw HTTPError.file("it is not a regular file") }
        let (size, wanted) = (ByteCount(status.st_size), request.excerpt?.range)
        guard wanted != nil || size <= request.limit else { throw HTTPError.tooLarge(limit: request.limit) }
        let tag = Self.tag(status)
        let start = min(wanted?.lowerBound ?? 0, size)
        request.meter?.set(length: min(size, wanted?.upperBound ?? size) - start)
        request.meter?.recordAnswer(after: metrics.duration, version: nil)
        let isUnchanged = request.headers.contains { $0.name.lowercased() == "if-none-match" && $0.value == tag }
        if !isUnchanged {
            guard lseek(descriptor, start.int, SEEK_SET) >= 0 else { throw HTTPError.reading(errno) }
            try sink.begin(at: start)
        }
        mailbox.post(
            HTTPResponse(
                status: isUnchanged ? 304 : wanted == nil ? 200 : 206, url: request.url, headers: ["etag": tag],
                length: size, begin: isUnchanged ? 0 : start))
        if isUnchanged { end(.success(metrics)) }
        return !isUnchanged
    }

    /// Reads until the file ends, the mailbox fills, or the caller cancels.
    private func read() throws {
        while !isEnded, !isCancelled.load(ordering: .relaxed) {
            let bytes = try refused ?? nextPiece()
            guard !bytes.isEmpty else { return end(.success(metrics)) }
            let isTaken = try bytes.withUnsafeBytes { try sink.take($0) }
            mailbox.wake()
            refused = isTaken ? nil : bytes
            guard isTaken else { return }
        }
    }

    private func nextPiece() throws -> [UInt8] {
        var failure: Int32 = 0
        let rest = request.excerpt.map { ($0.range.upperBound - sink.position).int } ?? Self.piece
        let bytes = [UInt8](unsafeUninitializedCapacity: min(rest, Self.piece)) { buffer, count in
            var result = 0
            repeat {
                result = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            } while result < 0 && errno == EINTR
            failure = result < 0 ? errno : 0
            count = max(0, result)
        }
        if failure != 0 { throw HTTPError.reading(failure) }
        received += ByteCount(bytes.count)
        request.meter?.set(bytes: received)
        return bytes
    }

    private func end(_ result: Result<HTTPMetrics, any Error>) {
        guard !isEnded else { return }
        isEnded = true
        refused = nil
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        mailbox.post(end: result)
        mailbox.wake()
        request.meter?.recordEnd(result)
    }

    private var metrics: HTTPMetrics {
        HTTPMetrics(bytes: received, duration: (ContinuousClock.now - beginning) / .seconds(1))
    }

    /// Returns a tag for the file's version, made of its inode, size and times.
    private static func tag(_ status: stat) -> String {
        let numbers = [
            Int(truncatingIfNeeded: status.st_dev), Int(truncatingIfNeeded: status.st_ino), status.st_size,
            status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
            status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
        ]
        return "\"" + numbers.map { String($0, radix: 36) }.joined(separator: "-") + "\""
    }
}

/// Opens files for transfers, if their address policies allow it.
final class FileOpener: Sendable {
    /// Lets at most two files below a folder be opened at once. Opening such a file needs a second descriptor for a
    /// moment.
    private let turns = DispatchSemaphore(value: 2)

    /// Opens the file of a request if its policy allows that. The caller owns the returned descriptor.
    func open(_ request: HTTPRequest) throws(HTTPError) -> Int32 {
        let path = Self.path(of: request.url)
        // The system would read a zero byte as the end of the name.
        guard !path.contains(0) else { throw .file("its name contains a zero byte") }
        do throws(SystemError) {
            switch request.addressPolicy {
            case .anywhere: return try Self.open(path)
            case .filesBelow(let url):
                turns.wait()
                defer { turns.signal() }
                return try Self.open(path, below: Self.path(of: url))
            case .publicOnly: throw SystemError(EXDEV)
            }
        } catch {
            guard error.leavesFolder else { throw .reading(error.code) }
            throw .file("it lies outside of the gallery’s folder, or a link there leads outside")
        }
    }

    private static func open(_ path: [UInt8]) throws(SystemError) -> Int32 {
        // Without O_NONBLOCK, opening a pipe without a writer would block.
        let file = Glibc.open(
            (path + [0]).map { CChar(bitPattern: $0) }, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else { throw SystemError() }
        return file
    }

    private static func open(_ path: [UInt8], below folder: [UInt8]) throws(SystemError) -> Int32 {
        let slash = UInt8(ascii: "/")
        let folder = folder.last == slash ? folder : folder + [slash]
        guard path.starts(with: folder) else { throw SystemError(EXDEV) }
        let rest = path.dropFirst(folder.count).drop { $0 == slash }
        return try FolderBoundary(bytes: folder).open(bytes: Array(rest))
    }

    /// Returns the path of a `file` URL as bytes, with percent escapes decoded. File names need not be valid text.
    private static func path(of url: String) -> [UInt8] {
        var rest = Array(url.utf8.dropFirst("file://".utf8.count).drop { $0 != UInt8(ascii: "/") })[...]
        var path: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let resolved = PercentEscape.byte(rest.prefix(2)) {
                rest = rest.dropFirst(2)
                path.append(resolved)
            } else {
                path.append(byte)
            }
        }
        return path
    }
}
