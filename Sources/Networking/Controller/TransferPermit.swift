import HTTP
import Model
import Numbers
import Synchronization
import Scheduling

/// The permission for a transfer: its connection, importance and meter.
///
/// The controller creates a permit for each attempt of a request. A request without a controller uses the default
/// permit.
public final class TransferPermit: Sendable {
    private struct State {
        var importance: Importance
        /// The sizes of the pieces; nil if splitting is not allowed.
        var pieces: TransferPieces?
        var transfer: HTTPTransfer?
        /// The last refusal that the governor does not know yet; nil for none.
        var refusal: RequestError?
    }

    /// The meter that shows the transfer's progress.
    let meter: TransferMeter
    private let way: Admission.Way
    private let state: Mutex<State>
    private let onChange: @Sendable () -> Void

    /// Creates a permit.
    ///
    /// - Parameter onChange: called on any thread when the meter has changed, or after a refusal.
    public init(
        _ importance: Importance = .visible, over way: Admission.Way = .any, in pieces: TransferPieces? = nil,
        onChange: @escaping @Sendable () -> Void = {}
    ) {
        state = Mutex(State(importance: importance, pieces: way.isInPieces ? pieces : nil))
        (self.way, self.onChange) = (way, onChange)
        meter = TransferMeter(onChange: onChange)
    }

    /// Whether the transfer may be split into pieces.
    var isInPieces: Bool { way.isInPieces }

    /// Whether the transfer may share its connection with any other transfers.
    var isOverSharedOne: Bool { way.connection == .any }

    /// Sends a request with the permit's connection, priority and pieces.
    func send(_ request: HTTPRequest, over client: HTTPClient) -> HTTPTransfer {
        var request = request
        request.meter = meter
        request.connection =
            switch way.connection {
            case .any: .any
            case .unshared: .unshared
            case .few: .few
            }
        // The lock is held until the transfer is set, so that no change of importance is lost.
        return state.withLock { [request] state in
            var request = request
            request.weight = Self.weight(state.importance)
            request.pieces = state.pieces.map(HTTPRequest.Pieces.init)
            let transfer = client.transfer(request)
            state.transfer = transfer
            return transfer
        }
    }

    /// Sets the importance, also of a running transfer.
    func setImportance(_ importance: Importance) {
        let transfer = state.withLock { state -> HTTPTransfer? in
            guard state.importance != importance else { return nil }
            state.importance = importance
            return state.transfer
        }
        transfer?.setWeight(Self.weight(importance))
    }

    /// Sets the sizes of the pieces, if the transfer may be split.
    func setPieces(_ pieces: TransferPieces) {
        let transfer = state.withLock { state -> HTTPTransfer? in
            guard state.pieces != nil, state.pieces != pieces else { return nil }
            state.pieces = pieces
            return state.transfer
        }
        transfer?.setPieces(HTTPRequest.Pieces(pieces))
    }

    /// Records that the busy server refused one of the request's further transfers. The request itself goes on.
    func recordRefusal(_ refusal: RequestError) {
        state.withLock { $0.refusal = refusal }
        onChange()
    }

    /// Removes and returns the last refusal.
    func takeRefusal() -> RequestError? {
        state.withLock { state in
            defer { state.refusal = nil }
            return state.refusal
        }
    }

    /// Returns the HTTP/2 priority for an importance. The photo in the viewer gets nearly all of a shared connection.
    private static func weight(_ importance: Importance) -> Int {
        switch importance {
        case .lookedAt: 256
        case .list: 128
        case .visible: 32
        case .near: 16
        case .rest: 8
        }
    }
}

extension HTTPRequest.Pieces {
    fileprivate init(_ pieces: TransferPieces) {
        self.init(size: ByteCount(pieces.size), window: ByteCount(pieces.window), most: TransferPieces.most)
    }
}
