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
