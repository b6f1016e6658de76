import CMemory
import Glibc

/// An anonymous file in memory that becomes read-only when sealed.
///
/// Vitrine and its decoder exchange pictures and answers in such files:
///
///     let input = try SealedMemory(sealing: bytes)
///     let output = try SealedMemory()
///     // … start the decoder with input.descriptor as 0 and output.descriptor as 1, and wait for its end …
///     let outcome = try DecodeOutcome(reading: output, for: request)
///
/// The descriptor closes on exec and when the object is released.
public final class SealedMemory: Sendable {
    /// The file's descriptor, which this object owns.
    public let descriptor: CInt

    /// Creates an object that owns an inherited descriptor.
    public init(adopting descriptor: CInt) {
        self.descriptor = descriptor
    }

    /// Creates an empty file that any holder of the descriptor can write and seal.
    public init() throws(PixelsError) {
        let descriptor = cmemory_create("vitrine")
        guard descriptor >= 0 else { throw .system(call: "memfd_create", code: errno) }
        self.descriptor = descriptor
    }

    /// Creates a sealed file with these bytes.
    public convenience init(sealing bytes: [UInt8]) throws(PixelsError) {
        try self.init()
        try fill(with: [bytes])
    }

    /// Whether the descriptor is a file that can be sealed. An adopted descriptor may be anything.
    public var isSealable: Bool { cmemory_get_seals(descriptor) >= 0 }

    deinit {
        close(descriptor)
    }

    /// Writes the parts into an empty file, and seals the file.
    public func fill(with parts: [[UInt8]]) throws(PixelsError) {
        // Set the size first. If a limit for the size of files is too low, this call fails before anything is written.
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

    /// Maps a sealed file into memory while `body` runs. Throws if the file is not sealed or too large.
    ///
    /// If a mapped file shrinks, the kernel kills its reader: "SIGBUS: attempted access to a page of the buffer that
    /// lies beyond the end of the mapped file" (mmap(2)). So this method first checks the seals, then the size, which
    /// the seals have made final.
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

    /// Writes the parts over the beginning of a file that keeps its length. Returns the number of bytes.
    func overwrite(with parts: [[UInt8]]) throws(PixelsError) -> Int {
        var position = 0
        for part in parts {
            try part.withUnsafeBufferPointer { bytes throws(PixelsError) in
                try write(UnsafeRawBufferPointer(bytes), at: position)
            }
            position += part.count
        }
        return position
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

/// A block of memory that this process reads and another process writes, again and again.
///
/// This object seals the block's length before another process gets the block, so no access to the mapping can fail.
/// The contents may change at any time. So readers must copy the contents, and check only the copy.
public final class SharedBlock: Sendable {
    /// The memory's descriptor, for the other process. It closes on exec and when this object is released.
    public var descriptor: CInt { memory.descriptor }
    /// The block's length in bytes.
    public let count: Int
    private let memory: SealedMemory
    /// The address of the mapping. This object only reads the mapped memory. The address stays valid while this object
    /// exists.
    private let address: UInt

    /// Creates a block of zeros.
    public init(count: Int) throws(PixelsError) {
        memory = try SealedMemory()
        self.count = max(1, count)
        guard ftruncate(memory.descriptor, off_t(self.count)) == 0 else {
            throw .system(call: "ftruncate", code: errno)
        }
        let seals = cmemory_seal_shrink | cmemory_seal_grow | cmemory_seal_seal
        guard cmemory_add_seals(memory.descriptor, seals) == 0 else { throw .system(call: "fcntl", code: errno) }
        guard let mapping = mmap(nil, self.count, PROT_READ, MAP_SHARED, memory.descriptor, 0), mapping != MAP_FAILED
        else { throw .system(call: "mmap", code: errno) }
        address = UInt(bitPattern: mapping)
    }

    deinit {
        munmap(UnsafeMutableRawPointer(bitPattern: address), count)
    }

    /// Returns a copy of the first bytes. Throws if the block is shorter.
    public func copy(_ length: Int) throws(PixelsError) -> [UInt8] {
        guard 0...count ~= length else { throw .oversized(bytes: length, limit: count) }
        return [UInt8](unsafeUninitializedCapacity: length) { buffer, copied in
            if let source = UnsafeRawPointer(bitPattern: address), let target = buffer.baseAddress {
                memcpy(target, source, length)
                copied = length
            }
        }
    }
}
