/// Computes the time to wait before a failed request is retried.
///
/// Each wait is a random part of a longest wait: a second, a minute, an hour, then always six hours. The first retries
/// help after short failures; later ones spare a server that is down. Random waits spread the requests of clients.
public struct RetrySchedule: Sendable {
    /// The number of attempts after which a request fails permanently; nil for no limit.
    ///
    /// With a limit, a request also fails at once if the server asks for a wait of more than a minute.
    public var maximumAttempts: Int?
    /// Returns a random number from 0 to 1.
    public let chance: @Sendable () -> Double

    /// Creates a schedule. Tests pass their own random numbers.
    public init(maximumAttempts: Int? = nil, random: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }) {
        self.maximumAttempts = maximumAttempts
        chance = random
    }

    /// The longest wait after one failed attempt, after two, and so on.
    public static let longest: [Duration] = [.seconds(1), .seconds(60), .seconds(3_600), .seconds(21_600)]

    /// The longest wait in seconds that a schedule with a limit accepts, or that one failure imposes on a host.
    private static let patience = 60

    /// Returns the seconds for which a failure stops requests to the host.
    public func silence(retryAfter: Int?) -> Int {
        guard let retryAfter else { return 0 }
        return maximumAttempts != nil && retryAfter > Self.patience ? 0 : min(retryAfter, Self.patience)
    }

    /// Returns the wait after a number of failed attempts. Returns nil to give up.
    ///
    /// - Parameter retryAfter: the seconds that the server asked for. They are the shortest wait, up to six hours.
    public func delay(afterAttempts attempts: Int, retryAfter: Int?) -> Duration? {
        if let maximumAttempts, attempts >= maximumAttempts || retryAfter ?? 0 > Self.patience { return nil }
        let longest = Self.longest[min(attempts, Self.longest.count) - 1]
        let asked = min(.seconds(retryAfter ?? 0), Self.longest[Self.longest.count - 1])
        return max(longest * chance(), asked)
    }
}
