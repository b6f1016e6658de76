import DecoderServer
import Decoding
import Glibc
import Pixels
import Sandbox

/// The decoder's program. By default, the program decodes one picture and exits.
///
/// Descriptor 0 is the picture, descriptor 1 the memory for the answer. The only argument is the request in the form of
/// `DecodeRequest.argument`. The exit status is 0 if the memory contains an answer, which may be a failure; otherwise
/// it is 1.
///
/// With `--report` the program writes a `DecoderReport` into the memory, or to a terminal. With `--serve` it forks
/// processes that decode, as `DecoderService` describes. With `--small` it decodes many small pictures, as
/// `SmallPictureService` describes. With `--play` and a request it plays a video, as `VideoService` describes.
@main
enum VitrineDecoder {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.elementsEqual([DecoderReport.argument]) { report() }
        if arguments.elementsEqual([DecoderService.argument]) { serve() }
        if arguments.elementsEqual([SmallPictureService.argument]) { serveSmall() }
        if arguments.first == VideoService.argument { play(arguments.dropFirst()) }
        let isVideo = Decoder.prepare(forPictureOn: STDIN_FILENO)
        decode(Result { () throws(PixelsError) in try DecodeRequest(arguments: arguments) }, isVideo: isVideo)
    }

    /// Puts this process into the sandbox, decodes the picture, and exits.
    ///
    /// - Parameter isServed: whether a server has forked this process. Such a process declines pictures that need a
    ///   library that servers do not load.
    private static func decode(
        _ request: Result<DecodeRequest, PixelsError>, isVideo: Bool = false, isServed: Bool = false
    ) -> Never {
        let input = Result { () throws(DecodeFailure) in
            try InputFile(descriptor: STDIN_FILENO, isReadInPieces: isVideo)
        }
        let longestAnswer = DecodeOutcome.longestEncoding(
            for: (try? request.get()) ?? DecodeRequest(box: PixelSize(width: 1, height: 1)))
        // Never decode outside the sandbox.
        guard SandboxRules(longestAnswer: longestAnswer).apply() != nil else { _exit(1) }
        if isServed, case .success(let input) = input,
            (try? input.withBytes { bytes throws(DecodeFailure) in Decoder.isLeftToPrograms(bytes) }) == true
        {
            _exit(DecoderService.elsewhere)
        }
        let answer = SealedMemory(adopting: STDOUT_FILENO)
        do {
            try outcome(of: request, input).write(to: answer)
        } catch {
            _exit(1)
        }
        // Exit without cleaning up: the libraries' memory goes with the process.
        _exit(0)
    }

    /// Forks a process for each picture. This process reads no picture itself.
    private static func serve() -> Never {
        Decoder.prepareForMany()
        guard SandboxRules.applyToServer() != nil else { exit(1) }
        PictureServer(requests: PacketSocket(adopting: STDIN_FILENO)) { packet in
            // Inside the sandbox, the forked process could not load further libraries.
            guard Decoder.isPreparedForMany(withPictureOn: STDIN_FILENO) else { _exit(DecoderService.elsewhere) }
            decode(Result { () throws(PixelsError) in try DecodeRequest(packet: packet) }, isServed: true)
        }.run()
        exit(0)
    }

    /// Decodes small pictures one after the other, until the socket is closed.
    private static func serveSmall() -> Never {
        guard SandboxRules(longestAnswer: 0).applyBeyondParent() != nil else { _exit(1) }
        SmallPictureServer(socket: STDIN_FILENO) { request, picture in
            Decoder.decodeSmall(picture, request).map(DecodeOutcome.picture)
        }.run()
        _exit(0)
    }

    /// Plays a video, until the socket is closed.
    private static func play(_ arguments: some Collection<String>) -> Never {
        guard let request = try? DecodeRequest(arguments: arguments) else { _exit(1) }
        let isVideo = Decoder.prepare(forPictureOn: STDIN_FILENO)
        let input = Result { () throws(DecodeFailure) in
            try InputFile(descriptor: STDIN_FILENO, isReadInPieces: isVideo)
        }
        let longestAnswer = DecodeOutcome.longestEncoding(for: request)
        guard SandboxRules(longestAnswer: longestAnswer, plays: true).apply() != nil else { _exit(1) }
        let memory = SealedMemory(adopting: STDOUT_FILENO)
        let playback = Result { () throws(DecodeFailure) in
            try VideoFrameSource(on: STDIN_FILENO, length: input.get().size, request)
        }
        var buffer = [UInt8](repeating: 0, count: VideoService.Order.length)
        while true {
            let count = buffer.withUnsafeMutableBytes { read(STDERR_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count == 0 { _exit(0) }
            guard count == buffer.count, let order = try? VideoService.Order(packet: buffer),
                let answer = try? answer(order, playback, memory)
            else { _exit(1) }
            let packet = answer.packet
            guard write(STDERR_FILENO, packet, packet.count) == packet.count else { _exit(1) }
            if case .success(let playback) = playback { playback.prepareNext() }
        }
    }

    /// Returns the answer to an order. If the due frame is new, writes it into the shared memory. Writes a failure
    /// there, too.
    private static func answer(
        _ order: VideoService.Order, _ playback: Result<VideoFrameSource, DecodeFailure>, _ memory: SealedMemory
    ) throws(PixelsError) -> VideoService.Answer {
        do throws(DecodeFailure) {
            let playback = try playback.get()
            let progress = try playback.picture(at: Double(order.microseconds) / 1e6)
            switch progress {
            case .same:
                return VideoService.Answer(
                    number: order.number, kind: .same, next: playback.nextTime.map(microseconds),
                    isLast: playback.isAtLast)
            case .end: return VideoService.Answer(number: order.number, kind: .end)
            case .picture(let reply, let seconds):
                return VideoService.Answer(
                    number: order.number, kind: .picture, count: try store(.picture(reply), memory),
                    microseconds: microseconds(seconds), next: playback.nextTime.map(microseconds),
                    isLast: playback.isAtLast)
            }
        } catch {
            return VideoService.Answer(
                number: order.number, kind: .picture, count: try DecodeOutcome.failure(error).write(over: memory))
        }
    }

    private static func microseconds(_ seconds: Double) -> Int64 { Int64((max(0, min(seconds, 1e9)) * 1e6).rounded()) }

    private static func store(_ outcome: DecodeOutcome, _ memory: SealedMemory) throws(DecodeFailure) -> Int {
        do { return try outcome.write(over: memory) } catch { throw .badRequest("\(error)") }
    }

    private static func outcome(
        of request: Result<DecodeRequest, PixelsError>, _ input: Result<InputFile, DecodeFailure>
    ) -> DecodeOutcome {
        do {
            let request = try request.get()
            let input = try input.get()
            if input.isReadInPieces {
                return .picture(try Decoder.decodeVideo(on: STDIN_FILENO, length: input.size, request))
            }
            return try input.withBytes { bytes throws(DecodeFailure) in .picture(try Decoder.decode(bytes, request)) }
        } catch DecodeFailure.outOfMemory where !SandboxRules.isMemoryThere() {
            return .failure(.shortOfMemory)
        } catch let failure as DecodeFailure {
            return .failure(failure)
        } catch PixelsError.malformedRequest(let reason) {
            return .failure(.badRequest(reason))
        } catch {
            return .failure(.badRequest("\(error)"))
        }
    }

    /// Puts this process into the sandbox, reports the restrictions, and exits.
    private static func report() -> Never {
        let libraries = Decoder.libraries
        guard let restrictions = SandboxRules(longestAnswer: DecoderReport.longest).apply() else { exit(1) }
        let text = Array(DecoderReport(restrictions: restrictions.names, libraries: libraries).text.utf8)
        let answer = SealedMemory(adopting: STDOUT_FILENO)
        let isSaid = withExtendedLifetime(answer) {
            // If descriptor 1 is not memory that can be sealed, a user has called the program directly.
            answer.isSealable
                ? (try? answer.fill(with: [text])) != nil : write(STDOUT_FILENO, text, text.count) == text.count
        }
        exit(isSaid ? 0 : 1)
    }
}

/// The picture's file, which the parent process passes on. Vitrine maps the file into memory, because most decoders
/// read only parts of it.
///
/// Sealed memory cannot change, but a file on disk can. If the file shrinks while it is mapped, the system kills this
/// process, which is acceptable.
struct InputFile {
    private let descriptor: CInt
    /// The file's length in bytes.
    let size: Int
    /// Whether the decoder reads the file in pieces. It reads only videos in this way.
    let isReadInPieces: Bool

    private static let longest = 512 << 20

    /// Checks the file's type and size, without reading its contents. Use this initialiser before the process enters
    /// the sandbox. For the check, glibc uses a system call that also accepts paths, and the sandbox refuses that call.
    ///
    /// - Parameter descriptor: a regular file, open for reading.
    init(descriptor: CInt, isReadInPieces: Bool) throws(DecodeFailure) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .badRequest("no regular file")
        }
        guard isReadInPieces || status.st_size <= Self.longest else {
            throw .badRequest("the file is longer than 512 MiB")
        }
        self.descriptor = descriptor
        self.isReadInPieces = isReadInPieces
        size = Int(status.st_size)
    }

    /// Maps the file into memory while `body` runs.
    func withBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws(DecodeFailure) -> Value
    ) throws(DecodeFailure) -> Value {
        guard size > 0 else { throw .notAPicture }
        guard let mapping = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0), mapping != MAP_FAILED else {
            throw .badRequest("the file cannot be mapped")
        }
        defer { munmap(mapping, size) }
        return try body(UnsafeRawBufferPointer(start: mapping, count: size))
    }
}
