import Concurrency
import Model

extension Activity {
    /// The parts of the activity that changed.
    public struct Change: Coalescing, Equatable {
        /// The galleries whose update started, progressed or ended.
        public var galleries: Set<GalleryID> = []
        /// The pictures whose transfer progressed or ended.
        public var pictures: Set<Wish.Subject> = []
        /// Whether a notice for the user was posted.
        public var hasNotices = false
        /// Whether the transfer report changed.
        public var hasTraffic = false
        /// Whether the list of failures changed.
        public var hasFailures = false
        /// The subjects whose failures changed. The set is empty if all failures, or all failures of a gallery, were
        /// removed.
        public var failures: Set<Wish.Subject> = []
        /// The galleries that the user retries.
        public var retried: Set<GalleryID> = []
        /// Whether a question for credentials, or a sign-in with the browser, changed.
        public var hasSignIns = false

        /// Creates an empty change.
        public init() {}

        init(
            galleries: Set<GalleryID> = [], pictures: Set<Wish.Subject> = [], hasNotices: Bool = false,
            hasTraffic: Bool = false, hasFailures: Bool = false, failures: Set<Wish.Subject> = [],
            retried: Set<GalleryID> = [], hasSignIns: Bool = false
        ) {
            (self.galleries, self.pictures, self.failures, self.retried) = (galleries, pictures, failures, retried)
            (self.hasNotices, self.hasTraffic) = (hasNotices, hasTraffic)
            (self.hasFailures, self.hasSignIns) = (hasFailures, hasSignIns)
        }

        /// Adds a later change to this one.
        public mutating func merge(_ later: Change) {
            galleries.formUnion(later.galleries)
            pictures.formUnion(later.pictures)
            hasNotices = hasNotices || later.hasNotices
            hasTraffic = hasTraffic || later.hasTraffic
            hasFailures = hasFailures || later.hasFailures
            failures.formUnion(later.failures)
            retried.formUnion(later.retried)
            hasSignIns = hasSignIns || later.hasSignIns
        }

        /// Divides the change into changes with at most `limit` subjects each. The last of these has everything else.
        public func divided(maximumSubjects limit: Int) -> [Change] {
            guard pictures.count + failures.count > limit else { return [self] }
            var rest = self
            (rest.pictures, rest.failures) = ([], [])
            return Self.divided(pictures, limit).map { Change(pictures: $0) }
                + Self.divided(failures, limit).map { Change(hasFailures: true, failures: $0) } + [rest]
        }

        private static func divided(_ subjects: Set<Wish.Subject>, _ limit: Int) -> [Set<Wish.Subject>] {
            let all = Array(subjects)
            return stride(from: 0, to: all.count, by: limit).map { Set(all[$0..<min($0 + limit, all.count)]) }
        }
    }

    /// The work for a gallery. The default is no work.
    public struct GalleryPart: Hashable, Sendable {
        /// The phase of the update; nil if no update runs.
        public var phase: SyncPhase?
        /// Whether the user stopped the last update.
        public var isCancelled = false
        /// The failure that the cache could not record.
        public var failure: Failure?
        /// Whether the albums of the gallery's server are being read.
        public var isReadingAlbums = false

        /// Creates a part without work.
        public init() {}
    }
}

extension Activity.Change {
    /// Whether nothing but the traffic changed, which happens many times a second.
    public var isTrafficAlone: Bool {
        var rest = self
        rest.hasTraffic = false
        return rest == Activity.Change()
    }
}

/// A sign-in that the user makes with the browser.
///
/// The screen starts a sign-in in the ``Activity`` and requests it through ``Wishes``. The network code asks the server
/// for a page, waits until the user has signed in there, and sets each ``Stage`` in the activity.
public struct BrowserSignIn: Hashable, Sendable {
    /// The number of the sign-in in this run of the program.
    public let number: Int
    /// The address below which the server has its sign-in pages.
    public let server: Address
    /// The galleries whose requests need the sign-in.
    public let galleries: Set<GalleryID>

    /// Creates a sign-in that another process has started.
    public init(number: Int, server: Address, galleries: Set<GalleryID>) {
        (self.number, self.server, self.galleries) = (number, server, galleries)
    }

    /// The progress of a sign-in.
    public enum Stage: Hashable, Sendable {
        /// The server has not yet sent the address of its sign-in page.
        case starting
        /// The user can open the server's page at this address.
        case waiting(Address)
        /// The user has signed in, and the server made these credentials.
        case granted(SignIn)
        /// The sign-in failed.
        case failed(Failure)
    }
}

/// The sign-in with the browser that a screen wants now.
public struct BrowserSignInWish: Coalescing, Equatable {
    /// The sign-in; nil for none.
    public var signIn: BrowserSignIn?

    /// Creates a wish.
    public init(signIn: BrowserSignIn?) {
        self.signIn = signIn
    }

    /// Replaces this wish by the later wish.
    public mutating func merge(_ later: BrowserSignInWish) {
        self = later
    }
}
