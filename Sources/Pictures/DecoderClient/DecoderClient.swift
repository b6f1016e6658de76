import Glibc
import Pixels

/// Has pictures decoded, a process for each or one for many small ones, and takes the answers.
///
/// The bytes of a picture are a stranger's, and the libraries that read them are large. So they are read in a process that
/// is given one file to read and one to write, limits on its time and memory, and an end of its own: whatever is wrong with
/// a picture, it takes no more with it than the process.
///
///     let decoder = DecoderClient(path: "/usr/libexec/vitrine/vitrine-decoder", from: .server)
///     let reply = try decoder.decode(.file("photo.jpg"), request)
public struct DecoderClient: Sendable {
    /// Where a picture's process comes from.
    public enum Origin: Sendable {
        /// A program is started for it. That is the least for one picture.
        case program
        /// A server, which is started with the first picture and ends with the client and its copies, makes it as a copy of
        /// itself. That is much less for each of many. Small pictures that say nothing about themselves share a process, which
        /// is less again.
        case server
    }

    private let program: DecoderProgram
    private let server: DecoderServer?
    private let small: SmallPictureDecoders?

    /// A client of the decoder at this path.
    ///
    /// - Parameter budget: milliseconds that a picture may take, after which its process is ended.
    public init(path: String, budget: Int32 = 15_000, from origin: Origin = .program) {
        program = DecoderProgram(path: path, budget: budget)
        server = origin == .server ? DecoderServer(path: path, budget: budget) : nil
        small = origin == .server ? SmallPictureDecoders(path: path, budget: budget) : nil
    }

    /// Finds out what a picture is, without decoding it: its size, and all it says about itself.
    public func facts(of source: PictureSource) throws(PictureError) -> DecodeReply {
        var request = DecodeRequest(box: PixelSize(width: 1, height: 1))
        request.product = .facts
        return try decode(source, request)
    }

    /// Asks the decoder how it is confined on this machine, and what it decodes with.
    public func report() throws(PictureError) -> DecoderReport {
        let (input, output) = try memory { () throws(PixelsError) in (try SealedMemory(), try SealedMemory()) }
        try program.run(
            [DecoderReport.argument], input: input.descriptor, output: output.descriptor, DecodeCancellation())
        do {
            return try DecoderReport(reading: output)
        } catch {
            throw .decoderDied
        }
    }

    /// Decodes one picture. Holds up the calling thread until the decoder has ended.
    ///
    /// The thread must be one that stays until then, which every thread does that is held up: the decoder asks to be
    /// killed when the thread that started it ends.
    package func decode(
        _ source: PictureSource, _ request: DecodeRequest, cancellation: DecodeCancellation = DecodeCancellation()
    ) throws(PictureError) -> DecodeReply {
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
        // No seals, or nonsense: a decoder that was broken, or taken over.
        guard let outcome = try? DecodeOutcome(reading: output, for: request) else { throw .decoderDied }
        switch outcome {
        case .picture(let reply): return reply
        case .failure(let failure): throw .undecodable(failure)
        }
    }

    private func memory<Memory>(_ make: () throws(PixelsError) -> Memory) throws(PictureError) -> Memory {
        do { return try make() } catch { throw PictureError(starting: error) }
    }

    /// Has a picture decoded, and returns what its process has written, whatever that is.
    private func answer(
        _ request: DecodeRequest, input: Int32, _ cancellation: DecodeCancellation
    ) throws(PictureError) -> SealedMemory {
        // A server that is lost, by whatever, is tried anew once. Its processes end with it, but who knows when: so none of them
        // has the block that is read.
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
        try program.run(request.arguments, input: input, output: output.descriptor, cancellation)
        return output
    }
}

extension DecoderClient {
    /// Makes a small JPEG of a picture, upright, and finds out what the picture says of itself. Holds up the calling thread
    /// until the decoder has ended.
    ///
    ///     let reply = try decoder.thumbnail(of: .file("photo.jpg"), box: PixelSize(width: 320, height: 240))
    ///     write(reply.thumbnail)
    ///
    /// - Parameter box: what it is to fit into. A picture that is smaller stays as it is.
    public func thumbnail(of source: PictureSource, box: PixelSize) throws(PictureError) -> DecodeReply {
        var request = DecodeRequest(box: box)
        request.product = .thumbnail
        return try decode(source, request)
    }
}

/// Where a picture's bytes are.
public enum PictureSource: Sendable {
    /// In memory.
    case bytes([UInt8])
    /// In a file, by its path.
    case file(String)
    /// In an open file. The descriptor stays the caller's, and its position does not matter.
    case open(Int32)
}
