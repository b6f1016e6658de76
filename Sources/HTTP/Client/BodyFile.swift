import Glibc
import Numbers

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
