import Glibc
import HTTP
import Logging
import Numbers

/// Fetches a URL into a file, over several connections if the server supports ranges:
///
///     swift run example-http URL FILE
@main
enum HTTPExample {
    static func main() async {
        guard CommandLine.arguments.count == 3 else {
            print("usage: example-http URL FILE")
            exit(2)
        }
        do {
            try await fetch(CommandLine.arguments[1], to: CommandLine.arguments[2])
        } catch {
            print("\(error)")
            exit(1)
        }
    }

    private static func fetch(_ url: String, to path: String) async throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw HTTPError.disk(code: errno) }
        defer { close(descriptor) }

        let meter = TransferMeter()
        // A request has a limit always: no server can fill the disk.
        let request = HTTPRequest(
            url: url, destination: .file(try BodyFile(duplicating: descriptor)), limit: ByteCount(1 << 30),
            allowsFiles: true,
            pieces: HTTPRequest.Pieces(size: ByteCount(64 << 10), window: ByteCount(512 << 10), most: 8), meter: meter)
        let client = HTTPClient(log: Log())
        for try await event in client.transfer(request) {
            switch event {
            case .response(let response):
                print("status \(response.status), \(response.length.map { "\($0.int) bytes" } ?? "unknown length")")
            case .bytes, .written: break
            case .end(let metrics):
                let isInPieces = meter.reading.asked != nil
                print("received \(metrics.bytes.int) bytes \(isInPieces ? "in pieces" : "in one request")")
            }
        }
    }
}
