/// Says that somebody looks at the transfers, for as long as it is kept: see ``Activity/watchTraffic()``.
public final class TrafficWatch: Sendable {
    private let onEnd: @Sendable () -> Void

    init(onEnd: @escaping @Sendable () -> Void) {
        self.onEnd = onEnd
    }

    deinit {
        onEnd()
    }
}
