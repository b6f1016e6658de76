/// When a request that failed is tried again.
///
/// After a random part of a second, then of a minute, of an hour, and of six hours from then on: the first waits are for
/// a hiccup, the later ones for a server that is down, and nobody's clients all come back at once.
public struct RetrySchedule: Sendable {
    /// How often a request is tried before it is given up; nil for as often as it is wanted. Who counts wants to come to an
    /// end, and gives up at once on a server that wants to be left alone for more than a minute.
    public var maximumAttempts: Int?
    /// A random number of 0…1.
    private let random: @Sendable () -> Double

    /// A schedule; a test passes its own chance.
    public init(maximumAttempts: Int? = nil, random: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }) {
        self.maximumAttempts = maximumAttempts
        self.random = random
    }

    /// A random number of 0…1.
    public func chance() -> Double { random() }

    /// The longest waits, by how many attempts have failed.
    public static let longest: [Duration] = [.seconds(1), .seconds(60), .seconds(3_600), .seconds(21_600)]

    /// The seconds that somebody waits for a server who does not wait for ever, and that a server is left alone for the sake of one
    /// thing: it may be that alone which it does not want to give.
    private static let patience = 60

    /// The seconds for which nothing else is asked either of a server that wants to be asked less. Who gives up on what is put off for
    /// longer does not wait with the rest.
    public func silence(retryAfter: Int?) -> Int {
        guard let retryAfter else { return 0 }
        return maximumAttempts != nil && retryAfter > Self.patience ? 0 : min(retryAfter, Self.patience)
    }

    /// How long to wait after that many failed attempts; nil to give up.
    ///
    /// - Parameter retryAfter: the seconds that the server asked for. They are waited at least, but never for more than
    ///   the longest wait of all, whatever a server says.
    public func delay(afterAttempts attempts: Int, retryAfter: Int?) -> Duration? {
        if let maximumAttempts, attempts >= maximumAttempts || retryAfter ?? 0 > Self.patience { return nil }
        let longest = Self.longest[min(attempts, Self.longest.count) - 1]
        let asked = min(.seconds(retryAfter ?? 0), Self.longest[Self.longest.count - 1])
        return max(longest * random(), asked)
    }
}
