import Glibc
import Numbers

/// Writes a body to its destination and counts its bytes.
struct BodySink {
    private let destination: HTTPRequest.Destination
    private let mailbox: TransferMailbox
    private let limit: ByteCount
    /// Whether the file may already contain bytes of an earlier transfer.
    private let isResumed: Bool
    /// The offset of the next byte within the whole resource.
    private(set) var position: ByteCount = 0

    init(_ request: HTTPRequest, _ mailbox: TransferMailbox) {
        destination = request.destination
        limit = request.limit
        isResumed = request.resumption != nil || request.isRestarted
        self.mailbox = mailbox
    }

    /// Prepares for a body that begins at an offset. Truncates a resumed file at that offset.
    mutating func begin(at offset: ByteCount) throws(HTTPError) {
        position = offset
        guard isResumed, case .file(let file) = destination else { return }
        try mailbox.whileOpen { () throws(HTTPError) in
            guard ftruncate(file.descriptor, offset.int) == 0 else { throw .disk(code: errno) }
        }
    }

    /// Writes the next piece. Returns false, without writing, if the mailbox is full.
    mutating func take(_ bytes: UnsafeRawBufferPointer) throws(HTTPError) -> Bool {
        // The limit is checked here, since CURLOPT_MAXFILESIZE "has no effect" if the size is unknown, and ignores
        // decompression.
        let end = position + ByteCount(bytes.count)
        guard end <= limit else { throw .tooLarge(limit: limit) }
        switch destination {
        case .stream:
            guard mailbox.post(bytes) else { return false }
        case .file(let file):
            let offset = position
            try mailbox.whileOpen { () throws(HTTPError) in
                // An explicit offset is needed, because other descriptors share the file's position.
                try file.write(bytes, at: offset)
                mailbox.post(written: end)
            }
        }
        position = end
        return true
    }
}

/// An open file for a body. The object owns a descriptor of its own.
///
///     HTTPRequest(url: …, destination: .file(try BodyFile(duplicating: descriptor)), limit: 1 << 20)
///
/// The descriptor stays open as long as the network's thread may write. Otherwise, the caller could close the
/// descriptor after a cancel, and late bytes would go into another file that got the same number.
public final class BodyFile: Sendable {
    /// The descriptor to which curl writes. The descriptor is open while this object exists.
    let descriptor: Int32

    /// Duplicates a descriptor that is open for writing. The file's position does not change.
    public init(duplicating descriptor: Int32) throws(HTTPError) {
        self.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard self.descriptor >= 0 else {
            throw DescriptorProbe.isShortage(errno) ? .tooFewDescriptors : .disk(code: errno)
        }
    }

    deinit {
        close(descriptor)
    }

    /// Writes bytes at an offset.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: ByteCount) throws(HTTPError) {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = pwrite(descriptor, rest.baseAddress, rest.count, (offset + ByteCount(done)).int)
            if count > 0 {
                done += count
            } else if errno != EINTR {
                throw .disk(code: errno)
            }
        }
    }
}

/// An open file to send. The object owns a descriptor of its own.
///
/// The length of the request's body is set when the object is created. If the file becomes shorter while it is sent,
/// the transfer fails, so that the server keeps no part of the file.
public final class UploadFile: Sendable {
    private let descriptor: Int32
    /// The number of bytes to send.
    public let length: ByteCount

    /// Takes over a descriptor that is open for reading. Closes the descriptor at the end.
    ///
    /// - Parameter length: the number of bytes to send.
    public init(taking descriptor: Int32, length: ByteCount) {
        (self.descriptor, self.length) = (descriptor, length)
    }

    deinit {
        close(descriptor)
    }

    /// Reads bytes at an offset, at most up to ``length``. Throws an error if the file ends earlier.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: ByteCount) throws(HTTPError) -> Int {
        let wanted = min(ByteCount(buffer.count), length - offset).int
        guard wanted > 0 else { return 0 }
        while true {
            let count = pread(descriptor, buffer.baseAddress, wanted, off_t(offset.int))
            if count > 0 { return count }
            guard count < 0 else { throw .file("it has become shorter") }
            if errno != EINTR { throw .reading(errno) }
        }
    }
}

/// Finds out whether an operation failed for lack of file descriptors.
///
/// curl and its libraries need descriptors to look up names, to connect and to read certificates. They report only that
/// they failed.
enum DescriptorProbe {
    /// Returns whether an error number means that no descriptor is left.
    static func isShortage(_ code: Int32) -> Bool { code == EMFILE || code == ENFILE }

    /// Whether no file descriptor is free at this moment.
    static var findsNone: Bool {
        let descriptor = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor < 0 else {
            close(descriptor)
            return false
        }
        return isShortage(errno)
    }
}
