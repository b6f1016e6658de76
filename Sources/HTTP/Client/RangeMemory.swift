import Synchronization

/// Which servers send parts of what they have, and say by a strong validator of which edition they are.
final class RangeMemory: Sendable {
    private let grants = Mutex<[String: Bool]>([:])

    /// A list may name very many hosts.
    private static let most = 256

    /// Whether the server of a request does; nil if that is not known.
    subscript(request: HTTPRequest) -> Bool? {
        get { grants.withLock { $0[Self.origin(of: request)] } }
        set {
            grants.withLock { grants in
                let origin = Self.origin(of: request)
                if grants.count >= Self.most, grants[origin] == nil { grants = [:] }
                grants[origin] = newValue
            }
        }
    }

    /// Takes in what a server says of itself. Where it did otherwise that is what counts, and where it sent one on too.
    func note(_ response: HTTPResponse, to request: HTTPRequest) {
        guard response.status == 200, request.range == nil, response.url == request.url,
            response.headers["accept-ranges"]?.lowercased() == "bytes", response.resumptionValidator != nil,
            self[request] == nil
        else { return }
        self[request] = true
    }

    /// Scheme, host and port as the URL has them.
    private static func origin(of request: HTTPRequest) -> String {
        request.url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3)
            .joined(separator: "/")
    }
}
