import CZlib
import Glibc

/// A small file of the user that several processes read and change.
///
///     let file = try SharedFile(path)             // waits for the lock
///     try file.replace(with: changed(read()))     // atomic
///
/// The object holds a lock, so that only one process with such an object changes the file at a time. A process that
/// reads the file after it got the lock, and writes before it releases the lock, overwrites no other process's change.
/// On file systems without locks, processes can overwrite each other's changes. Waiting for the lock blocks the thread,
/// so do not use this class on the main actor.
public final class SharedFile {
    private let path: String
    private let folder: Int32

    /// Creates the file's folder if necessary, and waits for the lock.
    public init(_ path: String) throws(SystemError) {
        self.path = path
        let name = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        try Self.makeFolder(name)
        // Every change replaces the file, so the lock is on the folder.
        folder = open(name.isEmpty ? "/" : name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw SystemError() }
        while flock(folder, LOCK_EX) != 0, errno == EINTR {}
    }

    deinit {
        close(folder)
    }

    /// Replaces the file atomically. Unless `permissions` say otherwise, only its owner can read the new file.
    public func replace(with text: String, permissions: UInt32 = 0o600) throws(SystemError) {
        try replace(with: Array(text.utf8), permissions: permissions)
    }

    /// Creates a file that only its owner can read. Compresses the text with gzip if `isCompressed` is true.
    ///
    /// Creates the file's folder if necessary. Throws an error with the code `EEXIST` if anything is at the path.
    public static func create(_ path: String, with text: String, isCompressed: Bool) throws(SystemError) {
        let bytes = isCompressed ? try Gzip.bytes(Array(text.utf8)) : Array(text.utf8)
        if let slash = path.lastIndex(of: "/") { try makeFolder(String(path[..<slash])) }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError() }
        defer { close(descriptor) }
        do throws(SystemError) {
            try write(bytes, to: descriptor)
        } catch {
            unlink(path)
            throw error
        }
    }

    private func replace(with bytes: [UInt8], permissions: UInt32) throws(SystemError) {
        let temporary = "\(path).\(getpid())"
        // An earlier process with the same number may have left this file.
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError() }
        do throws(SystemError) {
            defer { close(descriptor) }
            try Self.write(bytes, to: descriptor)
            guard permissions == 0o600 || fchmod(descriptor, permissions) == 0 else { throw SystemError() }
        } catch {
            unlink(temporary)
            throw error
        }
        guard rename(temporary, path) == 0 else {
            let failure = SystemError()
            unlink(temporary)
            throw failure
        }
        // Without this call, a power cut could bring the old file back. Some file systems cannot sync a folder, so an
        // error does not matter.
        fsync(folder)
    }

    /// Writes a text to an open file. Returns when the text is on the disk.
    public static func write(_ text: String, to descriptor: Int32) throws(SystemError) {
        try write(Array(text.utf8), to: descriptor)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { throw SystemError() }
        }
        guard fsync(descriptor) == 0 else { throw SystemError() }
    }

    /// Reads a whole file. Returns nil if the file is missing.
    ///
    /// - Parameter limit: the maximum number of bytes to read. A larger file fails with `EFBIG`, because callers would
    ///   later write a part of the file back as the whole file.
    public static func bytes(_ path: String, atMost limit: Int) throws(SystemError) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw SystemError()
        }
        defer { close(descriptor) }
        return try bytes(descriptor, atMost: limit)
    }

    /// Reads an open file from its current position to its end; see ``bytes(_:atMost:)-(String,_)``.
    public static func bytes(_ descriptor: Int32, atMost limit: Int) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SystemError() }
            guard count > 0 else { return bytes }
            bytes += buffer.prefix(count)
            guard bytes.count <= limit else { throw SystemError(EFBIG) }
        }
    }

    /// Creates a folder and its missing parents, accessible only to the owner. Does not change an existing folder.
    public static func makeFolder(_ path: String) throws(SystemError) {
        guard !path.isEmpty, mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/") else { throw SystemError() }
        try makeFolder(String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SystemError() }
    }
}

/// Reads from open files.
///
/// A system call may deliver only a part of the bytes, or none because of a signal. This happens with files on servers.
/// It does not mean that the file ends there.
public enum OpenFile {
    /// Fills a buffer with the file's bytes from an offset on. Returns the number of bytes, which is less than the
    /// buffer's size if the file ends first.
    public static func read(
        _ descriptor: Int32, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        var done = 0
        while done < buffer.count {
            let count = pread(
                descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset) + off_t(done))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SystemError() }
            guard count > 0 else { break }
            done += count
        }
        return done
    }

    /// Returns a file's first bytes: `count` of them, or fewer if the file is shorter.
    public static func beginning(of descriptor: Int32, count: Int) throws(SystemError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        defer { buffer.deallocate() }
        return Array(buffer.prefix(try read(descriptor, at: 0, into: buffer)))
    }
}

/// Compresses bytes with the system's zlib, which the picture libraries need too.
private enum Gzip {
    /// The library's name with the version of its interface, which has never changed.
    private static let library = "libz.so.1"

    /// Returns the bytes in the format of gzip. Fails with `ELIBACC` if the system has no zlib.
    static func bytes(_ bytes: [UInt8]) throws(SystemError) -> [UInt8] {
        // zlib needs at most 5 bytes for 16 KB that it cannot compress, and 18 bytes for the format.
        guard let count = UInt32(exactly: bytes.count),
            let size = UInt32(exactly: bytes.count + bytes.count / 1_000 + 64)
        else { throw SystemError(EFBIG) }
        let compressed = [UInt8](unsafeUninitializedCapacity: Int(size)) { room, written in
            written = bytes.withUnsafeBufferPointer {
                czlib_gzip(library, $0.baseAddress, count, room.baseAddress, size)
            }
        }
        guard !compressed.isEmpty else { throw SystemError(ELIBACC) }
        return compressed
    }
}

/// An error of a file operation that the system refused.
public struct SystemError: Error, Hashable, CustomStringConvertible {
    /// The system's error number, such as `ENOENT` or `EACCES`.
    public let code: Int32

    /// Creates an error from an error number, by default from `errno`.
    public init(_ code: Int32 = errno) { self.code = code }

    /// The system's text for the error, such as `No such file or directory`.
    public var description: String { String(cString: strerror(code)) }

    /// Whether a path leaves the folder in which it must stay, perhaps through a link.
    public var leavesFolder: Bool { code == EXDEV }
}
