import Cache
import Logging
import Model
import Concurrency
import Synchronization

/// Draws pictures on threads of its own.
///
/// A screen states its orders, shows the finished pictures, and listens for more:
///
///     pipeline.want(orders, by: client)
///     if let picture = pipeline.picture(order) { draw(picture) }
///     for await changes in pipeline.changes() { … }
///
/// Each core draws one picture at a time, the most important first. Equal orders are drawn once. A drawing that no
/// client wants any more is cancelled. Finished pictures are cached up to a number of bytes.
public final class PicturePipeline: Sendable {
    /// Identifies a client, such as a screen.
    public struct Client: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// The orders finished since the listener's last event.
    public struct Changes: Coalescing {
        /// Orders that were drawn or have failed.
        public var orders: Set<PictureOrder>

        /// Adds the orders of a later event.
        public mutating func merge(_ later: Changes) { orders.formUnion(later.orders) }
    }

    /// The result of an order.
    private enum Outcome: Sendable {
        case drawn(DrawnPicture)
        case examined(PhotoExamination)
        case failed(Failure)

        /// Whether nothing is left to do.
        var isFinal: Bool { if case .drawn(let picture) = self { !picture.isCoarse } else { true } }
    }

    private struct State {
        /// The orders of each client, the most important first.
        var wanted: [Client: [PictureOrder]] = [:]
        var importances: [Client: Importance] = [:]
        var nextClient = 0
        var running: [PictureOrder: DecodeCancellation] = [:]
        var done: BoundedCache<PictureOrder, Outcome>
        /// Orders that failed for a temporary reason, such as a missing file that will be fetched again. They are
        /// dropped once no client wants them, so that the next request retries.
        var postponed: [PictureOrder: Failure] = [:]
        /// Orders that were drawn but not kept, because the cache is full of more important ones. They are not drawn
        /// again before some client's orders change.
        var crowdedOut: Set<PictureOrder> = []

        /// All orders, the most important first.
        var wishes: [PictureOrder] {
            wanted.keys.sorted {
                (importances[$0] ?? .rest, $1.number) > (importances[$1] ?? .rest, $0.number)
            }.flatMap { wanted[$0] ?? [] }
        }

        /// Caches an outcome, unless more important ones fill the cache.
        mutating func keep(_ outcome: Outcome, of order: PictureOrder, cost: Int) {
            let wishes = wishes
            let gone = done.insert(
                outcome, for: order, cost: cost, ranks: Dictionary(zip(wishes, 0...), uniquingKeysWith: min))
            crowdedOut.formUnion(gone ?? [order])
        }
    }

    private let state: Mutex<State>
    private let subscribers = Subscribers<Changes>()
    private let renderer: PictureRenderer
    private let width: Int
    private let workers: Workers

    /// Creates a pipeline.
    ///
    /// - Parameters:
    ///   - limit: the size of the cache of drawn pictures, in bytes.
    ///   - width: how many pictures to draw at once; one per core.
    public init(renderer: PictureRenderer, limit: Int = 32 << 20, width: Int) {
        self.renderer = renderer
        self.width = max(1, width)
        workers = Workers(name: "pictures", count: width)
        state = Mutex(State(done: BoundedCache(limit: limit)))
    }

    /// Creates the identity of a new client.
    public func makeClient() -> Client {
        state.withLock { state in
            state.nextClient += 1
            return Client(number: state.nextClient)
        }
    }

    /// Replaces a client's orders, the most important first.
    ///
    /// - Parameter importance: the rank of these orders among those of other clients.
    public func want(_ orders: [PictureOrder], by client: Client, importance: Importance = .visible) {
        state.withLock { state in
            // Screens call this for every frame; most calls change nothing.
            guard state.wanted[client] ?? [] != orders || !orders.isEmpty && state.importances[client] != importance
            else { return }
            state.wanted[client] = orders.isEmpty ? nil : orders
            state.importances[client] = orders.isEmpty ? nil : importance
            state.crowdedOut = []
            let wanted = Set(state.wanted.values.joined())
            for (order, cancellation) in state.running where !wanted.contains(order) { cancellation.cancel() }
            state.postponed = state.postponed.filter { wanted.contains($0.key) }
            startWork(&state)
        }
    }

    /// Returns a picture if it has been drawn. Cheap enough for every frame.
    public func picture(_ order: PictureOrder) -> DrawnPicture? {
        state.withLock { state in
            if case .drawn(let picture) = state.done.value(for: order) { picture } else { nil }
        }
    }

    /// Returns an examination if it has been made.
    public func examination(_ order: PictureOrder) -> PhotoExamination? {
        state.withLock { state in
            if case .examined(let examination) = state.done.value(for: order) { examination } else { nil }
        }
    }

    /// Returns the reason why an order failed, if it did.
    public func failure(_ order: PictureOrder) -> Failure? {
        state.withLock { state in
            if case .failed(let failure) = state.done.value(for: order) { return failure }
            return state.postponed[order]
        }
    }

    /// Returns a stream of finished orders.
    public func changes() -> CoalescingStream<Changes> {
        subscribers.subscribe()
    }

    // MARK: -

    /// Starts drawings up to the limit. Called under the lock.
    private func startWork(_ state: inout sending State) {
        while state.running.count < width, let order = Self.next(&state) {
            let cancellation = DecodeCancellation()
            state.running[order] = cancellation
            workers.run { [self] in render(order, cancellation) }
        }
    }

    /// The most important order that is neither finished nor running.
    private static func next(_ state: inout sending State) -> PictureOrder? {
        for order in state.wishes
        where state.running[order] == nil && state.postponed[order] == nil && !state.crowdedOut.contains(order)
            && state.done.value(for: order)?.isFinal != true
        {
            return order
        }
        return nil
    }

    private func render(_ order: PictureOrder, _ cancellation: DecodeCancellation) {
        let showing = isAwaited(order) ? { (picture: DrawnPicture) in self.show(picture, order) } : nil
        let outcome = Result { try renderer.render(order, cancellation, showing: showing) }
        state.withLock { state in
            state.running[order] = nil
            switch outcome {
            case .success(.picture(let picture)):
                state.keep(.drawn(picture), of: order, cost: picture.byteCount)
            case .success(.examination(let examination)):
                state.keep(.examined(examination), of: order, cost: examination.byteCount)
            case .failure where cancellation.isCancelled:
                // A client may want it again by now; then `startWork` starts it again.
                break
            case .failure(let error as PictureError) where error.isThePicturesFault:
                state.keep(.failed(Failure(error.reason, remedy: .none)), of: order, cost: 256)
            case .failure(let error):
                state.postponed[order] = Failure("\(error)", remedy: .time)
            }
            startWork(&state)
        }
        subscribers.send(Changes(orders: [order]))
    }

    /// Whether the user is waiting: the order is one of the first two of a client that shows one photo.
    private func isAwaited(_ order: PictureOrder) -> Bool {
        state.withLock { state in
            state.wanted.contains { client, orders in
                state.importances[client] == .lookedAt && orders.prefix(2).contains(order)
            }
        }
    }

    /// Shows a preview until the drawing is finished.
    private func show(_ picture: DrawnPicture, _ order: PictureOrder) {
        state.withLock { $0.keep(.drawn(picture), of: order, cost: picture.byteCount) }
        subscribers.send(Changes(orders: [order]))
    }
}
