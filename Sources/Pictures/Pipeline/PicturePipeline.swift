import Cache
import Concurrency
import Logging
import Model
import Synchronization

/// Draws pictures on threads of its own, as screens order them.
///
/// A screen states its orders, shows the finished pictures, and listens for more:
///
///     pipeline.want(orders, by: client)
///     if let picture = pipeline.picture(order) { draw(picture) }
///     for await changes in pipeline.changes() { … }
///
/// Each core draws one picture at a time, the most important first. Equal orders are drawn once. A drawing that no
/// client wants any more is cancelled. The pipeline caches finished pictures up to a number of bytes.
public final class PicturePipeline: Sendable {
    /// Identifies a part of the program that orders pictures, such as a screen.
    public struct Client: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// The orders that have finished since the listener's last event.
    public struct Changes: Coalescing {
        /// The orders that were drawn or have failed.
        public var orders: Set<PictureOrder>

        /// Adds the orders of a later event.
        public mutating func merge(_ later: Changes) { orders.formUnion(later.orders) }
    }

    /// The result of an order.
    private enum Outcome: Sendable {
        case drawn(DrawnPicture)
        case examined(PhotoExamination)
        case failed(Failure)

        /// Whether the result needs no further drawing. False for a preview.
        var isFinal: Bool { if case .drawn(let picture) = self { !picture.isCoarse } else { true } }
    }

    private struct State {
        /// The orders of each client, the most important first.
        var wanted: [Client: [PictureOrder]] = [:]
        var importances: [Client: Importance] = [:]
        var nextClient = 0
        var running: [PictureOrder: DecodeCancellation] = [:]
        var done: BoundedCache<PictureOrder, Outcome>
        /// The orders that failed for a temporary reason. A missing file, for example, will be fetched again. The
        /// pipeline drops these orders once no client wants them, so that the next request retries.
        var postponed: [PictureOrder: Failure] = [:]
        /// The orders that were drawn but not kept, because more important ones fill the cache. The pipeline does not
        /// draw them again before some client's orders change.
        var crowdedOut: Set<PictureOrder> = []

        /// The orders of all clients, the most important first.
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
    ///   - width: the number of pictures to draw at once, usually one per core.
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

    /// Replaces a client's orders. The first order is the most important.
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

    /// Frees memory: evicts pictures that no client wants, until the rest fits into a part of the limit. The caches grow again
    /// as clients order pictures.
    public func shrink(toPart part: Int = 8) {
        state.withLock { $0.done.shrink(toPart: part, keeping: Set($0.wanted.values.joined())) }
        renderer.shrink(toPart: part)
    }

    /// Returns the picture of an order. Returns nil until it has been drawn. This method is fast enough for every
    /// frame.
    public func picture(_ order: PictureOrder) -> DrawnPicture? {
        state.withLock { state in
            if case .drawn(let picture) = state.done.value(for: order) { picture } else { nil }
        }
    }

    /// Returns the examination of a photo. Returns nil until it has been made.
    public func examination(_ order: PictureOrder) -> PhotoExamination? {
        state.withLock { state in
            if case .examined(let examination) = state.done.value(for: order) { examination } else { nil }
        }
    }

    /// Returns the reason why an order failed. Returns nil if the order has not failed.
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

    /// Starts drawings up to the limit. Call this under the lock.
    private func startWork(_ state: inout sending State) {
        while state.running.count < width, let order = Self.next(&state) {
            let cancellation = DecodeCancellation()
            state.running[order] = cancellation
            workers.run { [self] in render(order, cancellation) }
        }
    }

    /// Returns the most important order that is neither finished nor running. Returns nil if there is none.
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

    /// Whether the user is waiting for an order. True for the first two orders of a screen that shows one photo.
    private func isAwaited(_ order: PictureOrder) -> Bool {
        state.withLock { state in
            state.wanted.contains { client, orders in
                state.importances[client] == .lookedAt && orders.prefix(2).contains(order)
            }
        }
    }

    /// Publishes a preview until the drawing is finished.
    private func show(_ picture: DrawnPicture, _ order: PictureOrder) {
        state.withLock { $0.keep(.drawn(picture), of: order, cost: picture.byteCount) }
        subscribers.send(Changes(orders: [order]))
    }
}

/// A cache of limited size that evicts the least recently used values first.
struct BoundedCache<Key: Hashable & Sendable, Value: Sendable> {
    private struct Entry {
        let value: Value
        let cost: Int
        /// The number of the turn in which the value was last used.
        var used: Int
    }

    private let limit: Int
    private var entries: [Key: Entry] = [:]
    private(set) var cost = 0
    private var turn = 0

    init(limit: Int) {
        self.limit = limit
    }

    /// Returns the value for a key, and marks it as used.
    mutating func value(for key: Key) -> Value? {
        turn += 1
        entries[key]?.used = turn
        return entries[key]?.value
    }

    /// Keeps a value. A value larger than the limit is kept alone, because a screen shows it.
    mutating func insert(_ value: Value, for key: Key, cost: Int) {
        insert(value, for: key, cost: cost, ranks: [:])
    }

    /// Keeps a value, unless that would evict values that are wanted more.
    ///
    /// - Parameter ranks: the rank of each wanted key, 0 for the most wanted. Evaluated only if something must be
    ///   evicted.
    /// - Returns: the evicted keys; nil if the value was not kept.
    @discardableResult
    mutating func insert(
        _ value: Value, for key: Key, cost: Int, ranks: @autoclosure () -> [Key: Int]
    ) -> [Key]? {
        remove(key)
        var gone: [Key] = []
        if self.cost + cost > limit {
            guard let found = makeRoom(for: key, cost, ranks()) else { return nil }
            gone = found
        }
        turn += 1
        entries[key] = Entry(value: value, cost: cost, used: turn)
        self.cost += cost
        return gone
    }

    /// Evicts values until another value fits. Unwanted values go first, then those of lower rank; among equals, the
    /// least recently used. Returns nil if the other value has too low a rank.
    private mutating func makeRoom(for key: Key, _ cost: Int, _ ranks: [Key: Int]) -> [Key]? {
        let rank = ranks[key] ?? .max
        let spared = entries.reduce(0) { (ranks[$1.key] ?? .max) < rank ? $0 + $1.value.cost : $0 }
        guard spared == 0 || spared + cost <= limit else { return nil }
        let others = entries.filter { (ranks[$0.key] ?? .max) >= rank }.sorted {
            (ranks[$1.key] ?? .max, $0.value.used) < (ranks[$0.key] ?? .max, $1.value.used)
        }
        var gone: [Key] = []
        for old in others.map(\.key) {
            // Unwanted values are evicted down to three quarters of the limit, so that not every insertion has to
            // sort.
            guard self.cost + cost > (ranks[old] == nil ? limit / 4 * 3 : limit) else { continue }
            remove(old)
            gone.append(old)
        }
        return gone
    }

    /// Evicts values until the rest fits into a part of the limit. The least recently used values go first.
    ///
    /// - Parameter kept: the keys of values that stay in any case.
    mutating func shrink(toPart part: Int, keeping kept: Set<Key> = []) {
        let others = entries.filter { !kept.contains($0.key) }.sorted { $0.value.used < $1.value.used }
        for old in others.map(\.key) where cost > limit / part { remove(old) }
    }

    /// Removes the value for a key.
    mutating func remove(_ key: Key) {
        if let entry = entries.removeValue(forKey: key) { cost -= entry.cost }
    }
}
