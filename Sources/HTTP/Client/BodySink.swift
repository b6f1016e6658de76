import Glibc
import Numbers

/// Where a body goes, and how far it has come.
struct BodySink {
    private let destination: HTTPRequest.Destination
    private let mailbox: TransferMailbox
    private let limit: ByteCount
    /// Whether the file may hold something of an earlier transfer.
    private let isResumed: Bool
    /// The place of the next byte in the whole.
    private(set) var position: ByteCount = 0

    init(_ request: HTTPRequest, _ mailbox: TransferMailbox) {
        destination = request.destination
        limit = request.limit
        isResumed = request.resumption != nil || request.isBegunAnew
        self.mailbox = mailbox
    }

    /// Gets ready for a body that begins at a place in the whole: what lies behind it in the file is cut off.
    mutating func begin(at offset: ByteCount) throws(HTTPError) {
        position = offset
        guard isResumed, case .file(let file) = destination else { return }
        try mailbox.whileOpen { () throws(HTTPError) in
            guard ftruncate(file.descriptor, offset.int) == 0 else { throw .disk(code: errno) }
        }
    }

    /// Takes the next piece. Returns false, having taken nothing, if there is no room for it now.
    mutating func take(_ bytes: UnsafeRawBufferPointer) throws(HTTPError) -> Bool {
        // Counted here and not left to CURLOPT_MAXFILESIZE: "If the file size is not known prior to the download start,
        // the option has no effect", nor does it count what decompression makes of it.
        let end = position + ByteCount(bytes.count)
        guard end <= limit else { throw .tooLarge(limit: limit) }
        switch destination {
        case .stream:
            guard mailbox.post(bytes) else { return false }
        case .file(let file):
            let place = position
            try mailbox.whileOpen { () throws(HTTPError) in
                // At a place of its own: the position in the file is shared with others that have it open.
                try file.write(bytes, at: place)
                mailbox.post(written: end)
            }
        }
        position = end
        return true
    }
}

/// An open file that a body is written into: a descriptor of its own, open for as long as anybody may still write.
///
///     HTTPRequest(url: …, destination: .file(try BodyFile(duplicating: descriptor)), limit: 1 << 20)
///
/// Whoever asked may let go of a transfer and close the file at once, while the network's thread hears of it a moment
/// later. A bare number would name another file by then, for the system gives out the lowest that is free, and what was
/// still coming would be written into that one.
public final class BodyFile: Sendable {
    let descriptor: Int32

    /// Duplicates a descriptor that is open for writing. The position in the file is left as it is.
    public init(duplicating descriptor: Int32) throws(HTTPError) {
        self.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard self.descriptor >= 0 else {
            throw DescriptorProbe.isShortage(errno) ? .tooFewDescriptors : .disk(code: errno)
        }
    }

    deinit {
        close(descriptor)
    }

    /// Writes bytes to a place in it.
    func write(_ bytes: UnsafeRawBufferPointer, at place: ByteCount) throws(HTTPError) {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = pwrite(descriptor, rest.baseAddress, rest.count, (place + ByteCount(done)).int)
            if count > 0 {
                done += count
            } else if errno != EINTR {
                throw .disk(code: errno)
            }
        }
    }
}

/// Finds out whether something failed because there was no file descriptor left.
///
/// curl and the libraries below it need descriptors to look up a name, to connect and to read certificates, and say only that
/// they could not.
enum DescriptorProbe {
    /// Whether the system's number for an error says so.
    static func isShortage(_ code: Int32) -> Bool { code == EMFILE || code == ENFILE }

    /// Whether there is none left now.
    static var findsNone: Bool {
        let descriptor = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor < 0 else {
            close(descriptor)
            return false
        }
        return isShortage(errno)
    }
}
