import Glibc
import Pixels

/// The picture's file, inherited from the parent and mapped, not read: most decoders look at part of it only.
///
/// A sealed block cannot change; a file on disk can, and one that shrinks while it is mapped ends this process, which is
/// what this process is for.
struct InputFile {
    private let descriptor: CInt
    private let size: Int

    private static let longest = 512 << 20

    /// Looks at what kind of file it is. glibc asks for that by a call that takes names too, so this comes before the process
    /// is confined; of the file's contents nothing is looked at.
    ///
    /// - Parameter descriptor: of a regular file, open for reading.
    init(descriptor: CInt) throws(DecodeFailure) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .badRequest("there is no file to read")
        }
        guard status.st_size <= Self.longest else { throw .badRequest("the file is longer than 512 MiB") }
        self.descriptor = descriptor
        size = Int(status.st_size)
    }

    /// Maps the file for as long as `body` runs.
    func withBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws(DecodeFailure) -> Value
    ) throws(DecodeFailure) -> Value {
        guard size > 0 else { throw .notAPicture }
        guard let mapping = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0), mapping != MAP_FAILED else {
            throw .badRequest("the file cannot be read")
        }
        defer { munmap(mapping, size) }
        return try body(UnsafeRawBufferPointer(start: mapping, count: size))
    }
}
