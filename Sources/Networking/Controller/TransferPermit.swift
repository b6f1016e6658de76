import HTTP
import Model
import Numbers
import Synchronization
import Scheduling

/// Leave to transfer something: over which connection, how urgently, and who watches.
///
/// The controller gives one to each request that it runs. Who runs a request by itself needs none; it gets the usual one.
public final class TransferPermit: Sendable {
    private struct State {
        var importance: Importance
        /// What is asked for now, where it may come in pieces.
        var pieces: TransferPieces?
        var transfer: HTTPTransfer?
    }

    /// Shows how the transfer goes.
    let meter: TransferMeter
    private let way: Admission.Way
    private let state: Mutex<State>

    /// Makes a permit.
    ///
    /// - Parameter onNews: called on the network's thread when there is something to be read off the meter.
    public init(
        _ importance: Importance = .visible, over way: Admission.Way = .any, in pieces: TransferPieces? = nil,
        onNews: @escaping @Sendable () -> Void = {}
    ) {
        state = Mutex(State(importance: importance, pieces: way.isInPieces ? pieces : nil))
        self.way = way
        meter = TransferMeter(onNews: onNews)
    }

    /// Whether it may come in pieces.
    var isInPieces: Bool { way.isInPieces }

    /// Whether all that is meant to share a connection shares this one, if the server does that.
    var isOverSharedOne: Bool { way.connection == .any }

    /// Makes a request as the permit has it, and sends it.
    func send(_ request: HTTPRequest, over client: HTTPClient) -> HTTPTransfer {
        var request = request
        request.meter = meter
        request.connection =
            switch way.connection {
            case .any: .any
            case .fresh: .fresh
            case .unshared: .unshared
            case .few: .few
            }
        // At one go, or a change of importance could come in between and be lost.
        return state.withLock { [request] state in
            var request = request
            request.weight = Self.weight(state.importance)
            request.pieces = state.pieces.map(HTTPRequest.Pieces.init)
            let transfer = client.transfer(request)
            state.transfer = transfer
            return transfer
        }
    }

    /// It has become more important, or less.
    func setImportance(_ importance: Importance) {
        let transfer = state.withLock { state -> HTTPTransfer? in
            guard state.importance != importance else { return nil }
            state.importance = importance
            return state.transfer
        }
        transfer?.setWeight(Self.weight(importance))
    }

    /// From now on it is asked for like that, where it comes in pieces.
    func setPieces(_ pieces: TransferPieces) {
        let transfer = state.withLock { state -> HTTPTransfer? in
            guard state.pieces != nil, state.pieces != pieces else { return nil }
            state.pieces = pieces
            return state.transfer
        }
        transfer?.setPieces(HTTPRequest.Pieces(pieces))
    }

    /// The share of a connection that others use too. What is looked at has nearly all of it.
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
