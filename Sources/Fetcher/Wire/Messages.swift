import Cache
import Concurrency
import Logging
import Model
import Numbers
import Session

/// The version of the messages. Both programs must have the same version.
public enum WireVersion {
    /// The current version. It changes with each change of a message.
    public static let current: UInt8 = 3
}

/// The first message to the fetcher. Its settings stay until the fetcher ends.
public struct FetcherSetup: Hashable, Sendable {
    /// The folder of all caches.
    public var cacheFolder: String
    /// The name and version that servers see.
    public var userAgent: String
    /// The folder with the user's own ratings.
    public var ratingsFolder: String?
    /// The table of towns.
    public var towns: String?
    /// The file with certificates to trust instead of the system's.
    public var certificates: String?
    /// The netrc file.
    public var netrc: String?
    /// The client certificate: its file, its key, and the host that gets it.
    public var clientCertificate: ClientCertificate?
    /// The measurements of hosts from earlier runs, as text.
    public var history = ""
    /// The maximum number of attempts for each transfer; nil for no limit.
    public var mostAttempts: Int?
    /// Whether to follow changes in local folders.
    public var followsFolders = false
    /// Whether to use no network, and only read files of this machine.
    public var isOffline = false
    /// The galleries' folders and other places that the fetcher may read.
    public var readablePlaces: [String] = []
    /// Whether the fetcher may connect to services of this machine.
    ///
    /// These services resolve names such as `nas.local`.
    public var usesLocalServices = false
    /// Whether the fetcher must refuse to work without all its restrictions.
    public var requiresAllRestrictions = false
    /// Whether the fetcher only reports its restrictions.
    public var isReportOnly = false
    /// The number of the run of `vitrine`, which all its fetchers share.
    public var run: UInt64 = 0

    /// The certificate that Vitrine shows to servers.
    public struct ClientCertificate: Hashable, Sendable {
        /// The path of the certificate.
        public var file: String
        /// The path of the certificate's key.
        public var key: String
        /// The host that gets the certificate; nil for all hosts.
        public var host: String?

        /// Creates a certificate.
        public init(file: String, key: String, host: String?) {
            (self.file, self.key, self.host) = (file, key, host)
        }
    }

    /// Creates a configuration with the folder of the caches, and the name that servers see.
    public init(cacheFolder: String, userAgent: String) {
        (self.cacheFolder, self.userAgent) = (cacheFolder, userAgent)
    }
}

/// Settings of the fetcher that may change while it runs.
public struct FetcherTuning: Hashable, Sendable {
    /// The number of simultaneous transfers; 0 to adapt to the network.
    public var transfers: Int
    /// The delay of each transfer in milliseconds, for tests.
    public var delay: Int
    /// Every n-th transfer fails, for tests; 0 for none.
    public var failures: Int
    /// The maximum number of bytes of all caches; nil for no limit.
    public var cacheLimit: Int64?

    /// Creates the settings.
    public init(transfers: Int, delay: Int = 0, failures: Int = 0, cacheLimit: Int64? = nil) {
        (self.transfers, self.delay, self.failures, self.cacheLimit) = (transfers, delay, failures, cacheLimit)
    }
}

/// Credentials that the fetcher needs and `vitrine` may know.
public enum LookUp: Hashable, Sendable {
    /// The stored password for a server or proxy.
    case password(SignInPlace)
    /// The user's access keys for the storage service at an origin.
    case accessKeys(Origin)
}

/// News from `vitrine` to the fetcher. Parts that have not changed are empty.
public struct ScreensNews: Equatable, Sendable {
    /// A gallery whose cache was opened.
    public struct Gallery: Hashable, Sendable {
        /// The address, with its secrets.
        public var address: Address
        /// The disk problem that prevents other processes from opening the cache, if any.
        public var trouble: StorageTrouble?

        /// Creates a gallery.
        public init(address: Address, trouble: StorageTrouble? = nil) {
            (self.address, self.trouble) = (address, trouble)
        }
    }

    /// The galleries whose caches were opened.
    public var opened: [Gallery] = []
    /// Credentials that the user has entered.
    public var credentials: [SignInPlace: EnteredCredentials.Entry] = [:]
    /// The galleries that the user retries.
    public var retried: Set<GalleryID> = []
    /// The failures of this run, for a new fetcher.
    public var failures: [FailureReport] = []
    /// Whether a screen shows the transfers.
    public var isTrafficWatched: Bool?
    /// The choice of entries for the log.
    public var logFilter: LogFilter?
    /// Changed settings.
    public var tuning: FetcherTuning?
    /// The space that the caches use.
    public var space: CacheSpace.Measurement?
    /// The answers to questions for credentials, with the questions' numbers.
    public var answers: [Int: [SignIn]] = [:]
    /// The sign-in with the browser that a screen requests.
    public var browserSignIn: BrowserSignInWish?
    /// All wishes.
    public var wishes: WishState?

    /// Creates empty news.
    public init() {}
}

extension ScreensNews: Coalescing {
    /// Adds later news.
    public mutating func merge(_ later: ScreensNews) {
        opened += later.opened
        var taken = EnteredCredentials(entries: credentials)
        taken.merge(EnteredCredentials(entries: later.credentials))
        credentials = taken.entries
        retried.formUnion(later.retried)
        failures += later.failures
        isTrafficWatched = later.isTrafficWatched ?? isTrafficWatched
        logFilter = later.logFilter ?? logFilter
        tuning = later.tuning ?? tuning
        space = later.space ?? space
        answers.merge(later.answers) { _, later in later }
        browserSignIn = later.browserSignIn ?? browserSignIn
        guard let wishes = later.wishes else { return }
        if self.wishes == nil { self.wishes = wishes } else { self.wishes?.merge(wishes) }
    }
}

extension ScreensNews {
    /// Returns whether the fetcher may need other places for this news. It may, if a gallery was opened or the user
    /// requests something.
    ///
    /// - Parameter last: the number of the last request, which this method updates.
    package func needsPlaces(after last: inout Int) -> Bool {
        let newest = wishes?.asked.map(\.number).max() ?? -1
        defer { last = max(last, newest) }
        return !opened.isEmpty || !retried.isEmpty || newest > last
    }
}

/// News from the fetcher to `vitrine`. Parts that have not changed are empty.
public struct FetcherNews: Equatable, Sendable {
    /// An entry of the log.
    public struct LogLine: Hashable, Sendable {
        /// The time in milliseconds since 1970.
        public var time: Int64
        /// The subsystem that wrote the entry.
        public var subsystem: LogSubsystem
        /// The level of the entry.
        public var level: LogLevel
        /// The message.
        public var message: String

        /// Creates an entry.
        public init(_ entry: LogEntry) {
            (time, subsystem, level, message) = (entry.time, entry.subsystem, entry.level, entry.message)
        }

        /// Returns the lines of entries. If earlier entries are lost, the first line counts them.
        ///
        /// - Parameter next: the sequence number of the next entry to send.
        package static func lines(_ entries: [LogEntry], from next: Int) -> [LogLine] {
            let lines = entries.map { LogLine($0) }
            guard let first = entries.first, first.sequence > next else { return lines }
            var gap = LogLine(first)
            (gap.subsystem, gap.level) = (.network, .info)
            gap.message = "missing entries of vitrine-fetcher: \(first.sequence - next)"
            return [gap] + lines
        }
    }

    /// The progress and the failure of a picture.
    public struct Picture: Hashable, Sendable {
        /// The progress; nil if no transfer runs.
        public var progress: Progress?
        /// The failure that the cache could not record.
        public var failure: Failure?

        /// Creates the state of a picture.
        public init(progress: Progress?, failure: Failure?) {
            (self.progress, self.failure) = (progress, failure)
        }
    }

    /// The state of the network at a time.
    public struct Traffic: Hashable, Sendable {
        /// The state of the network.
        public var report: TrafficReport
        /// The time of the report.
        public var time: Timestamp

        /// Creates a report.
        public init(report: TrafficReport, time: Timestamp) {
            (self.report, self.time) = (report, time)
        }
    }

    /// The reason why the fetcher cannot work, as a sentence.
    public var refusal: String?
    /// The restrictions of the fetcher, in its first news.
    public var restrictions: [String] = []
    /// New entries of the log.
    public var log: [LogLine] = []
    /// The changed galleries.
    public var galleries: [GalleryID: Activity.GalleryPart] = [:]
    /// The changed pictures.
    public var pictures: [Wish.Subject: Picture] = [:]
    /// The state of the network.
    public var traffic: Traffic?
    /// The changed failures; nil for a failure that is over.
    public var failures: [Wish.Subject: FailureReport?] = [:]
    /// Problems of the disk.
    public var troubles: Set<StorageTrouble> = []
    /// Sentences for the user.
    public var notices: [String] = []
    /// Questions for the user.
    public var questions: [SignInQuestion] = []
    /// The galleries whose refused requests may be retried.
    public var answered: Set<GalleryID> = []
    /// The credentials that servers and proxies refused.
    public var refused = RefusedCredentials()
    /// The stages of sign-ins with the browser, by number.
    public var stages: [Int: BrowserSignIn.Stage] = [:]
    /// Questions for credentials that `vitrine` may know, by number. See ``mostLookUps``.
    public var lookUps: [Int: LookUp] = [:]
    /// The maximum number of questions for credentials in a message.
    public static let mostLookUps = 16
    /// The number of bytes that the fetcher has written.
    public var written: Int64 = 0
    /// Whether `vitrine` must measure the caches again.
    public var isCountDue = false
    /// The measurements of hosts, as text.
    public var history: String?
    /// The subjects that the fetcher asks `vitrine` to request.
    public var asked: Set<Wish.Subject> = []
    /// The fulfilled requests with their numbers. The receiver applies these last, after their results.
    public var fulfilled: [Wish.Subject: Int] = [:]

    /// Creates empty news.
    public init() {}
}

// MARK: - Reading and writing

extension FetcherSetup: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self.init(cacheFolder: try reader.value(), userAgent: try reader.value())
        ratingsFolder = try reader.value()
        towns = try reader.value()
        certificates = try reader.value()
        netrc = try reader.value()
        clientCertificate = try reader.value()
        history = try reader.value()
        mostAttempts = try reader.value()
        followsFolders = try reader.value()
        isOffline = try reader.value()
        readablePlaces = try reader.value()
        usesLocalServices = try reader.value()
        requiresAllRestrictions = try reader.value()
        isReportOnly = try reader.value()
        run = try reader.value()
    }
    package func write(to writer: inout WireWriter) {
        writer.append(
            cacheFolder, userAgent, ratingsFolder, towns, certificates, netrc, clientCertificate, history,
            mostAttempts, followsFolders, isOffline, readablePlaces, usesLocalServices, requiresAllRestrictions,
            isReportOnly, run)
    }
}

extension FetcherSetup.ClientCertificate: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self.init(file: try reader.value(), key: try reader.value(), host: try reader.value())
    }
    package func write(to writer: inout WireWriter) { writer.append(file, key, host) }
}

extension FetcherTuning: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self.init(
            transfers: try reader.value(), delay: try reader.value(), failures: try reader.value(),
            cacheLimit: try reader.value())
    }
    package func write(to writer: inout WireWriter) { writer.append(transfers, delay, failures, cacheLimit) }
}

extension LookUp: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self = try Bool(from: &reader) ? .accessKeys(try reader.value()) : .password(try reader.value())
    }
    package func write(to writer: inout WireWriter) {
        switch self {
        case .password(let place): writer.append(false, place)
        case .accessKeys(let origin): writer.append(true, origin)
        }
    }
}

extension LogSubsystem: WireValue {}

extension LogLevel: WireValue {}

extension LogFilter: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self.init(
            enabled: try reader.value(), level: try reader.value(), levels: try reader.value(),
            exchangeHost: try reader.value())
    }
    package func write(to writer: inout WireWriter) { writer.append(enabled, level, levels, exchangeHost) }
}

extension CacheSpace.Measurement: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self.init(size: try reader.value(), isShort: try reader.value())
    }
    package func write(to writer: inout WireWriter) { writer.append(size, isShort) }
}

extension BrowserSignInWish: WireValue {
    package init(from reader: inout WireReader) throws(WireError) { self.init(signIn: try reader.value()) }
    package func write(to writer: inout WireWriter) { writer.append(signIn) }
}

extension ScreensNews.Gallery: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self.init(address: try reader.value(), trouble: try reader.value())
    }
    package func write(to writer: inout WireWriter) { writer.append(address, trouble) }
}

extension ScreensNews: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self.init()
        opened = try reader.value()
        credentials = try reader.value()
        retried = try reader.value()
        failures = try reader.value()
        isTrafficWatched = try reader.value()
        logFilter = try reader.value()
        tuning = try reader.value()
        space = try reader.value()
        answers = try reader.value()
        browserSignIn = try reader.value()
        wishes = try reader.value()
    }
    package func write(to writer: inout WireWriter) {
        writer.append(
            opened, credentials, retried, failures, isTrafficWatched, logFilter, tuning, space, answers, browserSignIn,
            wishes)
    }
}

extension FetcherNews.LogLine: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        time = min(max(try reader.value(), 0), 1 << 53)
        subsystem = try reader.value()
        level = try reader.value()
        message = try reader.value()
    }
    package func write(to writer: inout WireWriter) { writer.append(time, subsystem, level, message) }
}

extension FetcherNews.Picture: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self.init(progress: try reader.value(), failure: try reader.value())
    }
    package func write(to writer: inout WireWriter) { writer.append(progress, failure) }
}

extension FetcherNews.Traffic: WireValue {
    package init(from reader: inout WireReader) throws(WireError) {
        self.init(report: try reader.value(), time: try reader.value())
    }
    package func write(to writer: inout WireWriter) { writer.append(report, time) }
}

extension FetcherNews: WireValue {
    /// The bounds of a message from a process that may be compromised. The longest text is the measurements of hosts.
    private static let (mostElements, longestText) = (500_000, 1 << 20)

    package init(from reader: inout WireReader) throws(WireError) {
        reader.restrict(elements: Self.mostElements, text: Self.longestText)
        self.init()
        refusal = try reader.value()
        restrictions = try reader.value()
        log = try reader.value()
        galleries = try reader.value()
        pictures = try reader.value()
        traffic = try reader.value()
        failures = try reader.value()
        troubles = try reader.value()
        notices = try reader.value()
        questions = try reader.value()
        answered = try reader.value()
        refused = try reader.value()
        stages = try reader.value()
        lookUps = try reader.value()
        // A `ByteCount` is limited, so sums of such numbers cannot overflow.
        written = try ByteCount(from: &reader).int64
        isCountDue = try reader.value()
        history = try reader.value()
        asked = try reader.value()
        fulfilled = try reader.value()
    }
    package func write(to writer: inout WireWriter) {
        writer.append(
            refusal, restrictions, log, galleries, pictures, traffic, failures, troubles, notices, questions, answered,
            refused, stages, lookUps, written, isCountDue, history, asked, fulfilled)
    }
}
