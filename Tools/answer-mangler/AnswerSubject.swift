import Foundation
import HTTP
import Numbers
import TestSupport

/// A request for a mangled answer, determined by its seed.
struct AnswerSubject {
    let seed: UInt64
    let origin: String
    let folder: TestFolder

    /// Fetches the answer, checks the client's promises, and returns a word for the result.
    func fetch(_ client: HTTPClient, patience: Double) async -> String {
        var numbers = SeededNumbers(seed: seed ^ 0x5EED)
        let path = folder.path("\(seed)")
        defer { unlink(path) }
        let meter = TransferMeter()
        let request = request(path, meter, &numbers)
        let transfer = client.transfer(request)
        let watch = DispatchSource.makeTimerSource()
        watch.schedule(deadline: .now() + patience)
        watch.setEventHandler {
            fatalError("error: the answer \(seed) delays a transfer for more than \(patience) seconds")
        }
        watch.resume()
        defer { watch.cancel() }
        let cancelsAfter =
            Int.random(in: 0..<20, using: &numbers) == 0 ? Int.random(in: 0..<3, using: &numbers) : Int.max
        var (events, taken) = (0, 0 as ByteCount)
        do {
            for try await event in transfer {
                switch event {
                case .response(let response): taken = response.begin
                case .bytes(let bytes): taken += ByteCount(bytes.count)
                case .written(let end): taken = end
                case .end: break
                }
                hold(taken <= request.limit, "the client passed on more than the limit")
                if events == cancelsAfter { transfer.cancel() }
                events += 1
            }
            check(path, request)
            return "whole"
        } catch let error as HTTPError {
            hold(!"\(error)".isEmpty, "an error has no description")
            check(path, request)
            return "refused"
        } catch {
            return "cancelled"
        }
    }

    /// Ends the process with a message if a promise is broken. A precondition in a release build has no message.
    private func hold(_ isKept: Bool, _ words: String) {
        if !isKept { fatalError("error: \(words), seed \(seed)") }
    }

    /// The request in words.
    var summary: String {
        var numbers = SeededNumbers(seed: seed ^ 0x5EED)
        let path = folder.path("\(seed)")
        defer { unlink(path) }
        let request = request(path, TransferMeter(), &numbers)
        return "request: limit \(request.limit), \(request.connection), address policy \(request.addressPolicy), "
            + "asks with \(request.credentials == nil ? "no " : "")credentials, "
            + "resumes at \(request.resumption?.offset ?? 0), pieces \(request.pieces.map { "\($0)" } ?? "none")"
    }

    /// Checks that the file respects the limit.
    private func check(_ path: String, _ request: HTTPRequest) {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        hold(ByteCount(status.st_size) <= max(request.limit, 8_192), "the file exceeds the limit")
    }

    private func request(_ path: String, _ meter: TransferMeter, _ numbers: inout SeededNumbers) -> HTTPRequest {
        var request = HTTPRequest(
            url: "\(origin)/\(seed)/0", destination: .stream,
            limit: [1 << 20, 1 << 20, 1 << 14, 100, 1, 1 << 40].randomElement(using: &numbers) ?? 1 << 20,
            allowsCompression: Bool.random(using: &numbers), meter: meter)
        request.connection = [.any, .any, .few, .unshared].randomElement(using: &numbers) ?? .any
        if Int.random(in: 0..<4, using: &numbers) == 0 {
            request.credentials =
                Bool.random(using: &numbers) ? .init(user: "anna", password: "secret") : .init(bearer: "secret")
        }
        if Int.random(in: 0..<6, using: &numbers) == 0 { request.addressPolicy = .publicOnly(except: "127.0.0.1") }
        if Int.random(in: 0..<5, using: &numbers) == 0 { request.headers = [("If-None-Match", "\"a\"")] }
        guard Bool.random(using: &numbers) else { return request }
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        guard descriptor >= 0, let file = try? BodyFile(duplicating: descriptor) else { return request }
        request.destination = .file(file)
        switch Int.random(in: 0..<3, using: &numbers) {
        case 0:
            let held = Int.random(in: 1...4_096, using: &numbers)
            _ = ftruncate(descriptor, off_t(held))
            request.resumption = .init(offset: ByteCount(held), validator: "\"a\"")
        case 1:
            request.pieces = .init(
                size: ByteCount(Int.random(in: 1...4_096, using: &numbers)),
                window: ByteCount(Int.random(in: 1...65_536, using: &numbers)),
                most: Int.random(in: 1...8, using: &numbers))
        default: break
        }
        return request
    }
}
