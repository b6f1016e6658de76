import Logging
import Numbers

@testable import HTTP

/// Sends requests to test servers and collects the results.
struct Probe {
    let client: HTTPClient
    let log = Log(level: .debug)

    /// The events of a transfer.
    struct Outcome {
        var response: HTTPResponse?
        var bytes: [UInt8] = []
        var metrics: HTTPMetrics?
    }

    /// A client with long time-outs, unless data never comes. Otherwise a busy machine would look like a fault.
    init(_ configuration: HTTPConfiguration = HTTPConfiguration(connectTimeout: 60, stallTimeout: 60)) {
        client = HTTPClient(configuration, log: log)
    }

    /// A client that loads curl from another file.
    init(library: String) {
        client = HTTPClient(HTTPConfiguration(), log: log, library: library)
    }

    func request(_ url: String) -> HTTPRequest {
        HTTPRequest(url: url, destination: .stream, limit: 1 << 20, allowsCompression: true)
    }

    func fetch(_ url: String) async throws -> Outcome {
        try await fetch(request(url))
    }

    func fetch(_ request: HTTPRequest) async throws -> Outcome {
        var outcome = Outcome()
        for try await event in client.transfer(request) {
            switch event {
            case .response(let response): outcome.response = response
            case .bytes(let bytes): outcome.bytes += bytes
            case .written: break
            case .end(let metrics): outcome.metrics = metrics
            }
        }
        return outcome
    }

    /// The error of a transfer; nil if it succeeded.
    func failure(_ url: String) async -> HTTPError? {
        await failure(request(url))
    }

    func failure(_ request: HTTPRequest) async -> HTTPError? {
        await client.transfer(request).failure()
    }
}
