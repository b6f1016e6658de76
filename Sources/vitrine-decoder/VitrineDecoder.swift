import Decoding
import Glibc
import Pixels

/// The helper process: one picture in, one answer out, and the end.
///
/// Descriptor 0 is the picture, 1 the block for the answer, the arguments are the request. It says nothing anywhere
/// else. It ends with 0 when there is an answer in the block, be it a failure, and with 1 when there is none.
@main
enum VitrineDecoder {
    static func main() {
        let request = Result { () throws(PixelsError) in
            try DecodeRequest(arguments: CommandLine.arguments.dropFirst())
        }
        let longestAnswer = DecodeOutcome.longestEncoding(
            for: (try? request.get()) ?? DecodeRequest(box: PixelSize(width: 1, height: 1)))
        // A decoder that could do harm does not decode.
        guard Confinement(longestAnswer: longestAnswer).apply() else { exit(1) }
        let answer = SealedMemory(adopting: STDOUT_FILENO)
        do {
            try outcome(of: request).write(to: answer)
        } catch {
            exit(1)
        }
    }

    private static func outcome(of request: Result<DecodeRequest, PixelsError>) -> DecodeOutcome {
        do {
            let request = try request.get()
            return try InputFile(descriptor: STDIN_FILENO).withBytes { bytes throws(DecodeFailure) in
                .picture(try Decoder.decode(bytes, request))
            }
        } catch let failure as DecodeFailure {
            return .failure(failure)
        } catch PixelsError.malformedRequest(let reason) {
            return .failure(.badRequest(reason))
        } catch {
            return .failure(.badRequest("\(error)"))
        }
    }
}
