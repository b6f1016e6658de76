import Cache
import Logging
import Model
import Concurrency
import Synchronization

/// Where pictures are drawn, out of the screens' way.
///
/// A screen says what it would like to show, looks what is there, and listens for more:
///
///     darkroom.want(orders, by: customer)
///     if let picture = darkroom.picture(order) { draw(picture) }
///     for await developed in darkroom.developed() { … }
///
/// The most important is drawn first, as many at once as the machine has cores; wishes for the same drawing join, and what
/// nobody wants any more is stopped. What was drawn is kept, up to a number of bytes, and drawn again at once.
public final class PicturePipeline: Sendable {
    /// Names somebody who wants pictures.
    public struct Client: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// Which orders have been done since one last listened.
    public struct Developed: Coalescing {
        /// Drawn, or found to be impossible.
        public var orders: Set<PictureOrder>

        /// Takes in what was done later.
        public mutating func merge(_ later: Developed) { orders.formUnion(later.orders) }
    }

    /// What became of an order.
    private enum Outcome: Sendable {
        case drawn(DrawnPicture)
        case examined(PhotoExamination)
        case failed(Failure)

        /// Whether there is nothing more to be done.
        var isFinal: Bool { if case .drawn(let picture) = self { !picture.isCoarse } else { true } }
    }

    private struct State {
        /// What each customer wants, the most important first.
        var wanted: [Client: [PictureOrder]] = [:]
        var importances: [Client: Importance] = [:]
        var nextClient = 0
        var running: [PictureOrder: DecodeCancellation] = [:]
        var done: BoundedCache<PictureOrder, Outcome>
        /// Orders that failed for a reason that passes: a file that was missing and is fetched again. They are forgotten as
        /// soon as nobody wants them, so that the next one who does has another try.
        var postponed: [PictureOrder: Failure] = [:]
        /// Orders that were drawn and found no room beside what is wanted more. They would find none the next time either: not
        /// before somebody wants something else.
        var crowdedOut: Set<PictureOrder> = []

        /// All that is wanted, the most important first.
        var wishes: [PictureOrder] {
            wanted.keys.sorted {
                (importances[$0] ?? .rest, $1.number) > (importances[$1] ?? .rest, $0.number)
            }.flatMap { wanted[$0] ?? [] }
        }

        /// Keeps what came of an order, if there is room for it.
        mutating func keep(_ outcome: Outcome, of order: PictureOrder, cost: Int) {
            let wishes = wishes
            let gone = done.insert(
                outcome, for: order, cost: cost, ranks: Dictionary(zip(wishes, 0...), uniquingKeysWith: min))
            crowdedOut.formUnion(gone ?? [order])
        }
    }

    private let state: Mutex<State>
    private let subscribers = Subscribers<Developed>()
    private let developer: PictureRenderer
    private let width: Int
    private let workers: Workers

    /// Opens a darkroom.
    ///
    /// - Parameters:
    ///   - limit: bytes of drawn pictures to keep.
    ///   - width: how many pictures to draw at once; one a core.
    public init(developer: PictureRenderer, limit: Int = 32 << 20, width: Int) {
        self.developer = developer
        self.width = max(1, width)
        workers = Workers(name: "darkroom", count: width)
        state = Mutex(State(done: BoundedCache(limit: limit)))
    }

    /// Gives out a name to want pictures under.
    public func makeClient() -> Client {
        state.withLock { state in
            state.nextClient += 1
            return Client(number: state.nextClient)
        }
    }

    /// States all that a customer wants from now on, the most important first.
    ///
    /// - Parameter importance: how important the first is to the first ones of others.
    public func want(_ orders: [PictureOrder], by client: Client, importance: Importance = .visible) {
        state.withLock { state in
            // Said at every frame; nothing else is wanted by that.
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

    /// A picture, if it has been drawn. Costs next to nothing.
    public func picture(_ order: PictureOrder) -> DrawnPicture? {
        state.withLock { state in
            if case .drawn(let picture) = state.done.value(for: order) { picture } else { nil }
        }
    }

    /// What an examination has found out, if it was made.
    public func examination(_ order: PictureOrder) -> PhotoExamination? {
        state.withLock { state in
            if case .examined(let examination) = state.done.value(for: order) { examination } else { nil }
        }
    }

    /// Why a picture cannot be drawn, if that has been found out.
    public func failure(_ order: PictureOrder) -> Failure? {
        state.withLock { state in
            if case .failed(let failure) = state.done.value(for: order) { return failure }
            return state.postponed[order]
        }
    }

    /// Begins to listen.
    public func developed() -> CoalescingStream<Developed> {
        subscribers.subscribe()
    }

    // MARK: -

    /// Fills the free places. Called under the lock.
    private func startWork(_ state: inout sending State) {
        while state.running.count < width, let order = Self.next(&state) {
            let cancellation = DecodeCancellation()
            state.running[order] = cancellation
            workers.run { [self] in develop(order, cancellation) }
        }
    }

    /// The most important order that is neither done nor under way.
    private static func next(_ state: inout sending State) -> PictureOrder? {
        for order in state.wishes
        where state.running[order] == nil && state.postponed[order] == nil && !state.crowdedOut.contains(order)
            && state.done.value(for: order)?.isFinal != true
        {
            return order
        }
        return nil
    }

    private func develop(_ order: PictureOrder, _ cancellation: DecodeCancellation) {
        let showing = isAwaited(order) ? { (picture: DrawnPicture) in self.show(picture, order) } : nil
        let outcome = Result { try developer.develop(order, cancellation, showing: showing) }
        state.withLock { state in
            state.running[order] = nil
            switch outcome {
            case .success(.picture(let picture)):
                state.keep(.drawn(picture), of: order, cost: picture.byteCount)
            case .success(.examination(let examination)):
                state.keep(.examined(examination), of: order, cost: examination.byteCount)
            case .failure where cancellation.isCancelled:
                // It may be wanted again by now, and then it is begun again.
                break
            case .failure(let error as PictureError) where error.isThePicturesFault:
                state.keep(.failed(Failure(error.reason, remedy: .none)), of: order, cost: 256)
            case .failure(let error):
                state.postponed[order] = Failure("\(error)", remedy: .time)
            }
            startWork(&state)
        }
        subscribers.send(Developed(orders: [order]))
    }

    /// Whether somebody looks where the picture is to be: one of the first things of somebody who looks at one photo.
    private func isAwaited(_ order: PictureOrder) -> Bool {
        state.withLock { state in
            state.wanted.contains { client, orders in
                state.importances[client] == .lookedAt && orders.prefix(2).contains(order)
            }
        }
    }

    /// Shows what there is of a picture until it is done.
    private func show(_ picture: DrawnPicture, _ order: PictureOrder) {
        state.withLock { $0.keep(.drawn(picture), of: order, cost: picture.byteCount) }
        subscribers.send(Developed(orders: [order]))
    }
}
