import Glibc
import Pixels

/// Decodes pictures in separate processes.
///
/// Pictures are untrusted and the libraries that read them are large. So a separate process reads the pictures. This
/// process has one file to read, shared memory for its answer, and limits on its time and memory. A malicious picture
/// can harm only that process.
///
///     let decoder = DecoderClient(path: "/usr/libexec/vitrine/vitrine-decoder", from: .server)
///     let reply = try decoder.decode(.file("photo.jpg"), request)
public struct DecoderClient: Sendable {
    /// The way to create the process that decodes a picture.
    public enum Origin: Sendable {
        /// The client starts a program for each picture. For a single picture, this way costs least.
        case program
        /// A server forks a process for each picture. For many pictures, this way costs much less. Small pictures
        /// without metadata share a process, which costs even less. The server starts with the first picture, and ends
        /// when the last copy of the client is released.
        case server
    }

    /// The decoder's program. Video players start the program themselves.
    let program: DecoderProgram
    private let server: DecoderServer?
    private let small: SmallPictureDecoders?

    /// Creates a client of the decoder at a path.
    ///
    /// - Parameters:
    ///   - budget: the time limit for a picture, in milliseconds. After this time, the client ends the picture's
    ///     process.
    ///   - requiresAllRestrictions: returns whether the client must refuse to decode if this system cannot restrict the
    ///     decoder completely.
    public init(
        path: String, budget: Int32 = 15_000, from origin: Origin = .program,
        requiresAllRestrictions: @escaping @Sendable () -> Bool = { false }
    ) {
        program = DecoderProgram(
            path: path, budget: budget, requirement: DecoderRequirement(isMade: requiresAllRestrictions))
        server = origin == .server ? DecoderServer(path: path, budget: budget) : nil
        small = origin == .server ? SmallPictureDecoders(path: path, budget: budget) : nil
    }

    /// Reads a picture's size and metadata without decoding it.
    public func facts(of source: PictureSource) throws(PictureError) -> DecodeReply {
        var request = DecodeRequest(box: PixelSize(width: 1, height: 1))
        request.product = .facts
        return try decode(source, request)
    }

    /// Returns the decoder's sandbox restrictions on this machine, and its libraries.
    public func report() throws(PictureError) -> DecoderReport { try program.report() }

    /// Decodes one picture. Blocks until the decoder has ended.
    ///
    /// The kernel kills the decoder when the thread that started the decoder ends. That thread cannot end too early,
    /// because this call blocks it.
    package func decode(
        _ source: PictureSource, _ request: DecodeRequest, cancellation: DecodeCancellation = DecodeCancellation()
    ) throws(PictureError) -> DecodeReply {
        try program.checkRestrictions()
        let output: SealedMemory
        switch source {
        case .bytes(let bytes):
            if let reply = try small?.decode(bytes, request, cancellation) { return reply }
            let input = try memory { () throws(PixelsError) in try SealedMemory(sealing: bytes) }
            output = try answer(request, input: input.descriptor, cancellation)
        case .file(let path):
            let input = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
            guard input >= 0 else {
                throw [EMFILE, ENFILE].contains(errno) ? .tooFewDescriptors : .file(String(cString: strerror(errno)))
            }
            defer { close(input) }
            return try decode(.open(input), request, cancellation: cancellation)
        case .open(let input):
            if let small, SmallPictureService.takes(request), let bytes = SmallFile.read(input),
                let reply = try small.decode(bytes, request, cancellation)
            {
                return reply
            }
            output = try answer(request, input: input, cancellation)
        }
        // Only a crashed or compromised decoder leaves its memory unsealed, or writes an invalid answer.
        guard let outcome = try? DecodeOutcome(reading: output, for: request) else { throw .decoderDied }
        switch outcome {
        case .picture(let reply): return reply
        case .failure(let failure): throw .undecodable(failure)
        }
    }

    private func memory<Memory>(_ make: () throws(PixelsError) -> Memory) throws(PictureError) -> Memory {
        do { return try make() } catch { throw PictureError(starting: error) }
    }

    /// Asks a process to decode a picture. Returns the memory with the unchecked answer.
    private func answer(
        _ request: DecodeRequest, input: Int32, _ cancellation: DecodeCancellation
    ) throws(PictureError) -> SealedMemory {
        // If the server is lost, try a second server. Each attempt gets a new block of memory, because the processes of
        // the lost server may still write to the old block.
        for _ in 0..<(server == nil ? 0 : 2) {
            let output = try memory { () throws(PixelsError) in try SealedMemory() }
            switch try server?.run(request, input: input, output: output.descriptor, cancellation) {
            case .answered: return output
            case .lost: continue
            case .unserved, nil: break
            }
            break
        }
        let output = try memory { () throws(PixelsError) in try SealedMemory() }
        try program.run([request.argument], input: input, output: output.descriptor, cancellation)
        return output
    }
}

extension DecoderClient {
    /// Makes a small upright JPEG of a picture, and reads its metadata. Blocks until the decoder has ended.
    ///
    ///     let reply = try decoder.thumbnail(of: .file("photo.jpg"), box: PixelSize(width: 320, height: 240))
    ///     write(reply.thumbnail)
    ///
    /// - Parameter box: the largest size. A smaller picture keeps its size.
    public func thumbnail(of source: PictureSource, box: PixelSize) throws(PictureError) -> DecodeReply {
        try decode(source, .thumbnail(box: box))
    }
}

extension DecodeRequest {
    /// Returns the request for a small JPEG to store.
    ///
    /// A JPEG has no opacity. The background is grey, because neither black nor white shapes vanish on grey.
    static func thumbnail(box: PixelSize) -> DecodeRequest {
        var request = DecodeRequest(box: box)
        request.product = .thumbnail
        request.background = PixelColor(red: 128, green: 128, blue: 128)
        return request
    }
}

/// The location of a picture's bytes.
public enum PictureSource: Sendable {
    /// The bytes are in memory.
    case bytes([UInt8])
    /// The bytes are in the file at this path.
    case file(String)
    /// The bytes are in an open file. The caller keeps the descriptor; its position does not matter.
    case open(Int32)
}
