import CMemory
import Glibc

/// A nameless file in memory that passes between Vitrine and its decoder, and which, once sealed, nobody can change.
///
/// Vitrine hands the picture over in a sealed one and gets the answer in another:
///
///     let input = try SealedMemory(sealing: bytes)
///     let output = try SealedMemory()
///     // … spawn the decoder with input.descriptor as 0 and output.descriptor as 1, wait for its end …
///     let outcome = try DecodeOutcome(reading: output, for: request)
///
/// The descriptor closes on exec and at the end of the object's life.
public final class SealedMemory: Sendable {
    /// The file's descriptor, this object's own.
    public let descriptor: CInt

    /// Takes over a descriptor that this process inherited.
    public init(adopting descriptor: CInt) {
        self.descriptor = descriptor
    }

    /// Makes an empty block that can be written and sealed by whoever gets the descriptor.
    public init() throws(PixelsError) {
        let descriptor = cmemory_create("vitrine")
        guard descriptor >= 0 else { throw .system(call: "memfd_create", code: errno) }
        self.descriptor = descriptor
    }

    /// Makes a block of those bytes that nobody can change any more.
    public convenience init(sealing bytes: [UInt8]) throws(PixelsError) {
        try self.init()
        try fill(with: [bytes])
    }

    /// Whether it is a block at all: a descriptor that was adopted may be of anything.
    public var isSealable: Bool { cmemory_get_seals(descriptor) >= 0 }

    deinit {
        close(descriptor)
    }

    /// Writes the parts one after the other into an empty block, and seals it.
    public func fill(with parts: [[UInt8]]) throws(PixelsError) {
        // The size first: the limit on the size of files refuses a block too large before anything is written.
        let size = parts.reduce(0) { $0 + $1.count }
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw .system(call: "ftruncate", code: errno) }
        var position = 0
        for part in parts {
            try part.withUnsafeBufferPointer { bytes throws(PixelsError) in
                try write(UnsafeRawBufferPointer(bytes), at: position)
            }
            position += part.count
        }
        try seal()
    }

    /// Reads a block that its writer has sealed.
    ///
    /// A mapped file that shrinks kills its reader: "SIGBUS: attempted access to a page of the buffer that lies beyond
    /// the end of the mapped file" (mmap(2)). So the seals come first, then the size, which they have made final, and
    /// only then the mapping; it is gone when `body` has returned.
    public func withBytes<Value>(
        atMost limit: Int, _ body: (UnsafeRawBufferPointer) throws(PixelsError) -> Value
    ) throws(PixelsError) -> Value {
        let needed = cmemory_seal_shrink | cmemory_seal_grow | cmemory_seal_write
        let seals = cmemory_get_seals(descriptor)
        guard seals >= 0 else { throw .system(call: "fcntl", code: errno) }
        guard seals & needed == needed else { throw .unsealed }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(call: "fstat", code: errno) }
        let size = Int(status.st_size)
        guard size <= limit else { throw .oversized(bytes: size, limit: limit) }
        guard size > 0 else { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        guard let mapping = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0), mapping != MAP_FAILED else {
            throw .system(call: "mmap", code: errno)
        }
        defer { munmap(mapping, size) }
        return try body(UnsafeRawBufferPointer(start: mapping, count: size))
    }

    private func write(_ bytes: UnsafeRawBufferPointer, at start: Int) throws(PixelsError) {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(start + written))
            guard count > 0 else {
                if count < 0, errno == EINTR { continue }
                throw .system(call: "pwrite", code: errno)
            }
            written += count
        }
    }

    private func seal() throws(PixelsError) {
        let seals = cmemory_seal_shrink | cmemory_seal_grow | cmemory_seal_write | cmemory_seal_seal
        guard cmemory_add_seals(descriptor, seals) == 0 else { throw .system(call: "fcntl", code: errno) }
    }
}
