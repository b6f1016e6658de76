import Cache
import Session
import Logging
import Model

/// What requests work with, handed to each when it is made.
public struct RequestContext: Sendable {
    /// Where the answers go.
    public let caches: CacheFolder
    /// Where progress is noted.
    public let activity: Activity
    /// Where everything is noted.
    public let log: Log
    /// The time of day.
    public let now: @Sendable () -> Timestamp

    /// Puts the four together.
    public init(
        caches: CacheFolder, activity: Activity, log: Log,
        now: @escaping @Sendable () -> Timestamp = { Timestamp(milliseconds: Log.systemTime()) }
    ) {
        self.caches = caches
        self.activity = activity
        self.log = log
        self.now = now
    }
}
