import Glibc

/// A file in the making: it has a hidden name until it is whole. What is not taken is removed.
final class NewFile {
    /// What such names begin with. Who is killed leaves them behind; the next one who writes removes them.
    static let prefix = ".vitrine-publish-"

    private let folder: OpenFolder
    private let name: String
    private let descriptor: Int32
    private var isTaken = false

    /// - Parameter purpose: makes its name one of its own.
    init(in folder: OpenFolder, for purpose: String) throws(PublishingError) {
        self.folder = folder
        name = Self.prefix + purpose
        folder.remove(name)
        descriptor = openat(folder.descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .failed(folder.path(name)) }
    }

    deinit {
        close(descriptor)
        if !isTaken { folder.remove(name) }
    }

    func write(_ bytes: some Collection<UInt8>) throws(PublishingError) {
        guard Array(bytes).withUnsafeBytes({ descriptor.writeAll($0) }) else { throw .failed(folder.path(name)) }
    }

    /// Gives the file its name, in place of what has it.
    ///
    /// - Parameters:
    ///   - mode: who may read it.
    ///   - syncing: whether the disk is to have it first, so that the name never leads to half of it, come what may.
    func take(_ final: String, mode: mode_t, syncing: Bool) throws(PublishingError) {
        fchmod(descriptor, mode)
        guard !syncing || fsync(descriptor) == 0,
            renameat(folder.descriptor, name, folder.descriptor, final) == 0
        else { throw .failed(folder.path(final)) }
        isTaken = true
        if syncing { fsync(folder.descriptor) }
    }
}

extension Int32 {
    /// Writes to this descriptor. False, and `errno`, if it cannot be.
    func writeAll(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes
        while let start = rest.baseAddress, rest.count > 0 {
            let count = Glibc.write(self, start, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        return true
    }

    /// Reads from this descriptor at an offset, as much as there is and fits.
    func readAll(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var done = 0
        while done < buffer.count, let start = buffer.baseAddress {
            let count = pread(self, start + done, buffer.count - done, off_t(offset) + off_t(done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            done += count
        }
        return done
    }

    /// Whether these bytes are what this descriptor leads to at an offset.
    func holds(_ bytes: [UInt8], at offset: Int64) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: bytes.count, alignment: 1) { buffer in
            guard readAll(at: offset, into: buffer) == bytes.count else { return false }
            return bytes.withUnsafeBytes { bytes in
                guard let one = bytes.baseAddress, let other = buffer.baseAddress else { return true }
                return memcmp(one, other, bytes.count) == 0
            }
        }
    }
}
