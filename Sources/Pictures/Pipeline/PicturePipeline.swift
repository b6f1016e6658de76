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
/// Each core draws one picture at a time, the most important first. The pipeline draws equal orders once, and cancels a
/// drawing that no client wants any more. The pipeline caches finished pictures up to a number of bytes.
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
        /// The orders that were drawn but not kept, because more important pictures fill the cache. The pipeline does
        /// not draw them again until the orders of a client change.
        var crowdedOut: Set<PictureOrder> = []

        /// The orders of all clients, the most important first.
        var wishes: [PictureOrder] {
            wanted.keys.sorted {
                (importances[$0] ?? .rest, $1.number) > (importances[$1] ?? .rest, $0.number)
            }.flatMap { wanted[$0] ?? [] }
        }

        /// Caches an outcome, unless more important outcomes fill the cache.
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
    /// - Parameter importance: the rank of these orders among the orders of other clients.
    public func want(_ orders: [PictureOrder], by client: Client, importance: Importance = .visible) {
        state.withLock { state in
            // Screens call this method for every frame, and most calls change nothing.
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

    /// Evicts pictures that no client wants, to free memory.
    ///
    /// Stops when the cache's size is at most the limit divided by `divisor`. The caches grow again as clients order
    /// pictures.
    public func shrink(toOneIn divisor: Int = 8) {
        state.withLock { $0.done.shrink(toOneIn: divisor, keeping: Set($0.wanted.values.joined())) }
        renderer.shrink(toOneIn: divisor)
    }

    /// Returns the picture of an order. Returns nil until it has been drawn. This method is so fast that screens can
    /// call it for every frame.
    public func picture(_ order: PictureOrder) -> DrawnPicture? {
        state.withLock { state in
            if case .drawn(let picture) = state.done.value(for: order) { picture } else { nil }
        }
    }

    /// Returns the metadata and histogram of a photo. Returns nil until the order has finished.
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

    /// Returns the frames of a cached video, drawn with the order's size, part and style. The decoder starts only when
    /// the first frame is requested.
    public func frames(of order: PictureOrder) -> any VideoFrames { DrawnVideo(order, renderer) }

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
                // If a client has requested the order again, `startWork` starts it again.
                break
            case .failure(let error as PictureError) where error.isThePicturesFault:
                state.keep(.failed(Failure(error.reason, remedy: .none)), of: order, cost: DrawnPicture.entryByteCount)
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

    /// Publishes a preview, which the finished drawing will replace.
    private func show(_ picture: DrawnPicture, _ order: PictureOrder) {
        state.withLock { $0.keep(.drawn(picture), of: order, cost: picture.byteCount) }
        subscribers.send(Changes(orders: [order]))
    }
}

/// The drawn frames of a video. A caller requests one frame at a time, so frames never pile up.
public protocol VideoFrames: Sendable {
    /// Returns the frame due at a time of the video. Skips earlier frames. Returns nil after the end.
    func frame(at time: Duration) async throws(PictureError) -> VideoFrame?
    /// Ends the video's process at once. A running call of ``frame(at:)`` fails.
    func end()
}

/// A frame of a video.
public struct VideoFrame: Sendable {
    /// The drawn frame.
    public let picture: DrawnPicture
    /// The frame's time in the video.
    public let time: Duration
    /// The time of the next frame; nil if unknown.
    public let next: Duration?
    /// Whether no other frame follows, as far as is known.
    public let isLast: Bool

    /// Creates a frame.
    public init(picture: DrawnPicture, time: Duration, next: Duration? = nil, isLast: Bool) {
        (self.picture, self.time, self.next, self.isLast) = (picture, time, next, isLast)
    }
}

/// Draws the frames of a cached video, on the thread of the caller's task.
private final class DrawnVideo: VideoFrames {
    private enum State {
        case unopened
        case open(VideoPlayer)
        case ended
    }

    private let order: PictureOrder
    private let renderer: PictureRenderer
    private let state = Mutex(State.unopened)
    /// The frame drawn last, which may still be due at the next request.
    private let last = Mutex<VideoFrame?>(nil)

    init(_ order: PictureOrder, _ renderer: PictureRenderer) {
        (self.order, self.renderer) = (order, renderer)
    }

    deinit { end() }

    func frame(at time: Duration) async throws(PictureError) -> VideoFrame? {
        guard let frame = try await player().frame(at: time) else { return nil }
        let last = self.last.withLock { $0 }
        let picture: DrawnPicture
        if let last, last.time == frame.time {
            picture = last.picture
        } else {
            picture = try renderer.draw(frame.reply, of: order).steadied(after: last?.picture)
        }
        let next = VideoFrame(picture: picture, time: frame.time, next: frame.next, isLast: frame.isLast)
        self.last.withLock { $0 = next }
        return next
    }

    func end() {
        state.withLock { state in
            if case .open(let player) = state { player.end() }
            state = .ended
        }
    }

    private func player() throws(PictureError) -> VideoPlayer {
        switch state.withLock({ $0 }) {
        case .open(let player): return player
        case .ended: throw .cancelled
        case .unopened: break
        }
        let player = try renderer.player(order)
        let isOpen = state.withLock { state in
            if case .ended = state { return false }
            state = .open(player)
            return true
        }
        guard isOpen else {
            player.end()
            throw .cancelled
        }
        return player
    }
}
