import Dispatch
import Files
import Glibc
import Numbers
import Synchronization

/// Reads a file of this machine as if it came over the network.
///
/// curl could, but it reads a file to its end in one go: "Write callback asked for PAUSE when not supported". A large file
/// would hold up every other transfer, or have to be kept in memory. This one waits for room as a server would, on a queue
/// of its own; and it knows whether a file is still the one that it was. It always begins at the beginning.
final class FileTransfer: @unchecked Sendable {
    private let request: HTTPRequest
    private let mailbox: TransferMailbox
    private let opener: FileOpener
    /// Set at once and on any thread, while the queue may be busy with reading. Into a file there always is room, and what
    /// is asked of the queue meanwhile would have its turn when all has been read.
    private let isCancelled = Atomic(false)
    /// Everything below is touched here only.
    private let queue = DispatchQueue(label: "vitrine.file", qos: .utility)
    private var descriptor: Int32 = -1
    private var received: ByteCount = 0
    private var sink: BodySink
    /// What the mailbox had no room for.
    private var refused: [UInt8]?
    private var isEnded = false
    private let beginning = ContinuousClock.now

    private static let piece = 1 << 17

    /// Whether a request is for a file that may be read.
    static func serves(_ request: HTTPRequest) -> Bool {
        request.allowsFiles && request.url.hasPrefix("file://")
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

    /// Goes on after the mailbox was full.
    func resume() {
        queue.async { [self] in
            do { try read() } catch { end(.failure(error)) }
        }
    }

    func cancel() {
        isCancelled.store(true, ordering: .relaxed)
        queue.async { [self] in end(.failure(CancellationError())) }
    }

    /// Opens the file and says what it is. Returns whether there is anything to read.
    private func begin() throws -> Bool {
        descriptor = try opener.open(request)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw HTTPError.file(String(cString: strerror(errno))) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw HTTPError.file("it is no file") }
        guard ByteCount(status.st_size) <= request.limit else { throw HTTPError.tooLarge(limit: request.limit) }
        let tag = Self.tag(status)
        request.meter?.note(length: ByteCount(status.st_size))
        request.meter?.noteAnswered(after: metrics.duration, version: nil)
        let isUnchanged = request.headers.contains { $0.name.lowercased() == "if-none-match" && $0.value == tag }
        if !isUnchanged { try sink.begin(at: 0) }
        mailbox.post(
            HTTPResponse(
                status: isUnchanged ? 304 : 200, url: request.url, headers: ["etag": tag],
                length: ByteCount(status.st_size)))
        if isUnchanged { end(.success(metrics)) }
        return !isUnchanged
    }

    /// Reads to the end, until there is no more room, or until nobody wants more.
    private func read() throws {
        while !isEnded, !isCancelled.load(ordering: .relaxed) {
            let bytes = try refused ?? nextPiece()
            guard !bytes.isEmpty else { return end(.success(metrics)) }
            let isTaken = try bytes.withUnsafeBytes { try sink.take($0) }
            mailbox.tell()
            refused = isTaken ? nil : bytes
            guard isTaken else { return }
        }
    }

    private func nextPiece() throws -> [UInt8] {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.piece) { buffer, count in
            var result = 0
            repeat {
                result = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            } while result < 0 && errno == EINTR
            failure = result < 0 ? errno : 0
            count = max(0, result)
        }
        if failure != 0 { throw HTTPError.file(String(cString: strerror(failure))) }
        received += ByteCount(bytes.count)
        request.meter?.note(bytes: received)
        return bytes
    }

    private func end(_ result: Result<HTTPMetrics, any Error>) {
        guard !isEnded else { return }
        isEnded = true
        refused = nil
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        mailbox.post(end: result)
        mailbox.tell()
        request.meter?.noteEnd(result)
    }

    private var metrics: HTTPMetrics {
        let time = (ContinuousClock.now - beginning).components
        return HTTPMetrics(
            bytes: received, duration: Double(time.seconds) + Double(time.attoseconds) / 1e18)
    }

    /// Changes whenever the file does: its place on the disk, its size, and the times of its contents and of its entry.
    private static func tag(_ status: stat) -> String {
        let numbers = [
            Int(truncatingIfNeeded: status.st_dev), Int(truncatingIfNeeded: status.st_ino), status.st_size,
            status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
            status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
        ]
        return "\"" + numbers.map { String($0, radix: 36) }.joined(separator: "-") + "\""
    }
}

/// Opens the files that transfers read, as far as they may be reached.
final class FileOpener: Sendable {
    /// Below a folder the folder is open too for a moment, and a gallery's transfers begin all at once: that would take twice
    /// as many file descriptors as the transfers themselves.
    private let turns = DispatchSemaphore(value: 2)

    /// Opens the file that a request is for, if it may be reached. The descriptor is the caller's.
    func open(_ request: HTTPRequest) throws(HTTPError) -> Int32 {
        let path = Self.path(of: request.url)
        // The system would take it for the end.
        guard !path.contains(0) else { throw .file("no name has a zero in it") }
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
            if DescriptorProbe.isShortage(error.code) { throw .tooFewDescriptors }
            throw .file(
                error.leavesFolder
                    ? "it lies outside of the gallery’s folder, or a link there leads outside" : "\(error)")
        }
    }

    private static func open(_ path: [UInt8]) throws(SystemError) -> Int32 {
        // A pipe that nobody writes to would make us wait here, and is no file.
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

    /// The path of a URL, with its percent signs resolved. It is bytes: names of files need not be text.
    private static func path(of url: String) -> [UInt8] {
        var rest = Array(url.utf8.dropFirst("file://".utf8.count).drop { $0 != UInt8(ascii: "/") })[...]
        var path: [UInt8] = []
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), let resolved = Self.byte(digits) {
                rest = rest.dropFirst(digits.count)
                path.append(resolved)
            } else {
                path.append(byte)
            }
        }
        return path
    }

    /// The byte that two hexadecimal digits mean; nil if they are none.
    private static func byte(_ digits: ArraySlice<UInt8>) -> UInt8? {
        let values = digits.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        return values.count == 2 ? UInt8(truncatingIfNeeded: values[0] << 4 | values[1]) : nil
    }
}
