import Glibc
import Pixels

/// The picture's file, inherited from the parent and mapped, not read: most decoders look at part of it only.
///
/// A sealed block cannot change; a file on disk can, and one that shrinks while it is mapped ends this process, which is
/// what this process is for.
struct InputFile {
    /// The descriptor of a regular file, open for reading.
    let descriptor: CInt

    private static let longest = 512 << 20

    /// Maps the file for as long as `body` runs.
    func withBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws(DecodeFailure) -> Value
    ) throws(DecodeFailure) -> Value {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .badRequest("there is no file to read")
        }
        let size = Int(status.st_size)
        guard size <= Self.longest else { throw .badRequest("the file is longer than 512 MiB") }
        guard size > 0 else { throw .notAPicture }
        guard let mapping = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0), mapping != MAP_FAILED else {
            throw .badRequest("the file cannot be read")
        }
        defer { munmap(mapping, size) }
        return try body(UnsafeRawBufferPointer(start: mapping, count: size))
    }
}
