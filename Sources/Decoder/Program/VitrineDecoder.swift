import DecoderServer
import Decoding
import Glibc
import Pixels
import Sandbox

/// The helper process: one picture in, one answer out, and the end.
///
/// Descriptor 0 is the picture, 1 the block for the answer, the arguments are the request. It says nothing anywhere
/// else. It ends with 0 when there is an answer in the block, be it a failure, and with 1 when there is none.
///
/// Asked with `--walls`, it answers with a `DecoderReport`, in a block or on a terminal. Asked with `--serve`, it makes such
/// processes, as `DecoderService` says; with `--small`, it decodes one small picture after the other, as `SmallPictureService` does.
@main
enum VitrineDecoder {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.elementsEqual([DecoderReport.argument]) { report() }
        if arguments.elementsEqual([DecoderService.argument]) { serve() }
        if arguments.elementsEqual([SmallPictureService.argument]) { serveSmall() }
        Decoder.prepare(forPictureOn: STDIN_FILENO)
        decode(Result { () throws(PixelsError) in try DecodeRequest(arguments: arguments) })
    }

    /// Confines this process, decodes and ends.
    private static func decode(_ request: Result<DecodeRequest, PixelsError>) -> Never {
        let input = Result { () throws(DecodeFailure) in try InputFile(descriptor: STDIN_FILENO) }
        let longestAnswer = DecodeOutcome.longestEncoding(
            for: (try? request.get()) ?? DecodeRequest(box: PixelSize(width: 1, height: 1)))
        // A decoder that could do harm does not decode.
        guard Confinement(longestAnswer: longestAnswer).apply() != nil else { _exit(1) }
        let answer = SealedMemory(adopting: STDOUT_FILENO)
        do {
            try outcome(of: request, input).write(to: answer)
        } catch {
            _exit(1)
        }
        // Nothing is left to be done: what the libraries hold goes with the process.
        _exit(0)
    }

    /// Makes processes that decode, and looks at no picture itself.
    private static func serve() -> Never {
        Decoder.prepareForMany()
        guard Confinement.applyToServer() != nil else { exit(1) }
        PictureServer(requests: PacketSocket(adopting: STDIN_FILENO)) { packet in
            // It could not load anything: that is behind the walls already.
            guard Decoder.isPreparedForMany(withPictureOn: STDIN_FILENO) else { _exit(DecoderService.elsewhere) }
            decode(Result { () throws(PixelsError) in try DecodeRequest(packet: packet) })
        }.run()
        exit(0)
    }

    /// Decodes small pictures, one after the other.
    private static func serveSmall() -> Never {
        guard Confinement(longestAnswer: 0).applyBeyondParent() != nil else { _exit(1) }
        SmallPictureServer(socket: STDIN_FILENO) { request, picture in
            Decoder.decodeSmall(picture, request).map(DecodeOutcome.picture)
        }.run()
        _exit(0)
    }

    private static func outcome(
        of request: Result<DecodeRequest, PixelsError>, _ input: Result<InputFile, DecodeFailure>
    ) -> DecodeOutcome {
        do {
            let request = try request.get()
            return try input.get().withBytes { bytes throws(DecodeFailure) in
                .picture(try Decoder.decode(bytes, request))
            }
        } catch DecodeFailure.outOfMemory where !Confinement.isMemoryThere() {
            return .failure(.shortOfMemory)
        } catch let failure as DecodeFailure {
            return .failure(failure)
        } catch PixelsError.malformedRequest(let reason) {
            return .failure(.badRequest(reason))
        } catch {
            return .failure(.badRequest("\(error)"))
        }
    }

    /// Confines this process as for a picture, and says what came of it.
    private static func report() -> Never {
        let libraries = Decoder.libraries
        guard let restrictions = Confinement(longestAnswer: DecoderReport.longest).apply() else { exit(1) }
        let text = Array(DecoderReport(restrictions: restrictions.names, libraries: libraries).text.utf8)
        let answer = SealedMemory(adopting: STDOUT_FILENO)
        let isSaid = withExtendedLifetime(answer) {
            // Where there is no block, somebody asks by hand; what it goes into is his.
            answer.isSealable
                ? (try? answer.fill(with: [text])) != nil : write(STDOUT_FILENO, text, text.count) == text.count
        }
        exit(isSaid ? 0 : 1)
    }
}

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
