import Cache
import Concurrency
import FetcherWire
import Glibc
import HTTP
import Logging
import Model
import Networking
import Scheduling
import Session
import Synchronization
import Towns

/// The work of the program `vitrine-fetcher`: fulfils the wishes of `vitrine`, which come over a connection.
///
///     let service = try FetcherService(connection, setup)
///     await service.run()
///
/// The service has the same parts as a program that fetches for itself: wishes, activity, caches and a network
/// controller. Here the wishes are copies of the wishes in `vitrine`, and changes of the activity go back to `vitrine`.
package final class FetcherService: Sendable {
    private let connection: MessageConnection
    private let setup: FetcherSetup
    private let restrictions: [String]
    private let log = Log()
    private let activity = Activity()
    private let wishes: Wishes
    private let caches: CacheFolder
    private let credentials: CredentialStore
    private let lookUps = LookUps()
    private let outbox: CoalescingStream<Outbox>
    private let state = Mutex(State())

    private struct State {
        var controller: NetworkController?
        var tuning: FetcherTuning?
        var trafficWatch: TrafficWatch?
        /// The galleries whose caches cannot be opened, with the reason.
        var unopened: [GalleryID: (gallery: ScreensNews.Gallery, failure: Failure)] = [:]
        /// The sequence number of the next log entry to send.
        var nextLogged = 0
    }

    /// The maximum number of descriptors that the service needs, not counting transfers.
    private static let otherDescriptors = 40

    /// The time to wait for other processes at the end, in milliseconds. The screens may be about to write a last time,
    /// but other programs must not wait long.
    private static let lastPatience: Int32 = 300

    /// Creates the service, which opens the folder of caches but no gallery.
    ///
    /// - Parameter restrictions: the restrictions of this process, for users.
    package init(_ connection: MessageConnection, _ setup: FetcherSetup, restrictions: [String]) throws {
        (self.connection, self.setup, self.restrictions) = (connection, setup, restrictions)
        let outbox = CoalescingStream<Outbox>()
        self.outbox = outbox
        wishes = Wishes(
            of: WishOwner(
                ask: { outbox.send(Outbox(asked: [$0])) },
                fulfil: { outbox.send(Outbox(fulfilled: [$0: $1])) }))
        let lookUps = lookUps
        credentials = CredentialStore(
            keeping: CredentialKeeping(
                lookUp: { await lookUps.ask(.password($0), outbox).first },
                keep: { _, _, _ in nil },
                accessKeys: { origin in
                    await lookUps.ask(.accessKeys(origin), outbox).compactMap {
                        if case .accessKey(let key) = $0 { key } else { nil }
                    }
                }))
        caches = try CacheFolder(
            path: setup.cacheFolder, ratings: setup.ratingsFolder, towns: setup.towns.map { TownTable(path: $0) },
            run: setup.run, log: log, activity: activity, credentials: credentials)
    }

    /// Serves the other process until it closes the connection.
    package func run() async {
        let relays: [AnyObject] = [
            activity.relayChanges { [outbox] change in outbox.send(Outbox(change: change)) },
            caches.space.relayWrites { [outbox] written in outbox.send(Outbox(written: written)) },
            credentials.relayRefusals { [outbox] refused in outbox.send(Outbox(refused: refused)) },
        ]
        let sender = MessageSender(connection)
        let sending = Task {
            var first = FetcherNews()
            first.restrictions = restrictions
            guard await sender.send(first) else { return }
            for await news in outbox {
                for part in news.divided() { guard await sender.send(self.news(part)) else { return } }
            }
        }
        let logging = Task { for await _ in log.changes { outbox.send(Outbox()) } }
        let network = NetworkTask()
        await MessageReceiver(connection).run { [self] (news: ScreensNews) in
            take(news)
        } finish: { news in
            await finishTaking(news)
            network.begin { [self] in await control() }
        } onFailure: { [log] in
            log.error(.network, "\($0)")
        }
        lookUps.end()
        for cache in caches.openCaches { cache.writer.stopWaiting() }
        await network.end()
        // The first process that opens a cache reads the whole log before its first frame. The screens quit at once and
        // do not move the log.
        for cache in caches.openCaches { await cache.writer.close(patience: Self.lastPatience) }
        logging.cancel()
        outbox.send(Outbox())
        outbox.finish()
        await sending.value
        withExtendedLifetime(relays) {}
    }

    /// Runs the network until the task is cancelled.
    private func control() async {
        var tuning = state.withLock { $0.tuning } ?? FetcherTuning(transfers: 0)
        let folders = setup.followsFolders ? LocalFolders(wishes: wishes) : nil
        let context = RequestContext(
            caches: caches, activity: activity, log: log, folders: folders, isOffline: setup.isOffline)
        let client = HTTPClient(configuration, log: log)
        let watch = NetworkWatch()
        let controller = NetworkController(
            wishes: wishes, context: context, client: client, governor: governor(tuning),
            schedule: RetrySchedule(maximumAttempts: setup.mostAttempts), network: watch.changes,
            disturbance: Disturbance(tuning),
            onHistory: { [outbox] in outbox.send(Outbox(history: $0.text)) })
        let signIns = BrowserSignIns(wishes: wishes, context: context, client: client)
        // Once the controller has the latest tuning, `use(_:)` passes on each later change.
        while let latest = publish(controller, tunedBy: tuning) {
            await controller.use(self.governor(latest), Disturbance(latest))
            tuning = latest
        }
        await withDiscardingTaskGroup { group in
            group.addTask { await controller.run() }
            if !setup.isOffline { group.addTask { await signIns.run() } }
            if let folders { group.addTask { await folders.run() } }
        }
        withExtendedLifetime(watch) {}
    }

    /// Makes the controller known if it has the latest tuning. Otherwise returns the latest tuning.
    private func publish(_ controller: NetworkController, tunedBy tuning: FetcherTuning) -> FetcherTuning? {
        state.withLock { state in
            if let latest = state.tuning, latest != tuning { return latest }
            state.controller = controller
            return nil
        }
    }

    // MARK: - News from the other process

    /// Applies news. Applies galleries and credentials first, because wishes need them. May block, because opening a
    /// cache may wait for another process.
    private func take(_ news: ScreensNews) {
        if let filter = news.logFilter { log.setFilter(filter) }
        for gallery in news.opened + unopened(requestedIn: news) { open(gallery) }
        // The entered credentials come after the passwords in addresses, which may be older.
        for (place, entry) in news.credentials { credentials.take(entry.signIn, for: place, by: entry.galleries) }
        for failure in news.failures { activity.recordFailure(failure) }
        if !news.retried.isEmpty { credentials.retry() }
        for gallery in news.retried { activity.retry(gallery) }
        if let isWatched = news.isTrafficWatched {
            let watch = isWatched ? activity.watchTraffic() : nil
            state.withLock { $0.trafficWatch = watch }
        }
        for (number, found) in news.answers { lookUps.answer(number, found) }
        if let wish = news.browserSignIn {
            activity.adopt(wish.signIn)
            wishes.signIn(withBrowser: wish.signIn)
        }
    }

    /// Applies the settings and then the wishes. The wishes may depend on the settings.
    private func finishTaking(_ news: ScreensNews) async {
        if let tuning = news.tuning { await use(tuning) }
        if let space = news.space { caches.space.adopt(space) }
        guard let wishes = news.wishes else { return }
        self.wishes.adopt(wishes)
        failUnopened(wishes)
    }

    /// Returns the requested galleries whose caches could not be opened, but may open now.
    ///
    /// A disk problem of `vitrine` lasts until `vitrine` ends.
    private func unopened(requestedIn news: ScreensNews) -> [ScreensNews.Gallery] {
        let requested = Set((news.wishes?.asked ?? []).map(\.wish.subject.gallery))
        let unopened = state.withLock { $0.unopened }
        return requested.compactMap { unopened[$0]?.gallery }.filter { $0.trouble == nil }
    }

    /// Opens a gallery's cache, or records why that is impossible.
    private func open(_ gallery: ScreensNews.Gallery) {
        let failure: Failure?
        if let trouble = gallery.trouble {
            activity.report(trouble)
            failure = Failure(trouble.reason, remedy: .none)
        } else {
            do {
                let cache = try caches.open(gallery.address)
                // An earlier fetcher may have been killed, and have left partial files.
                cache.adoptParts()
                failure = nil
            } catch {
                log.error(.cache, "\(error)")
                failure = Failure("\(error)", remedy: .none)
            }
        }
        state.withLock { $0.unopened[GalleryID(gallery.address)] = failure.map { (gallery: gallery, failure: $0) } }
    }

    /// Fails the wishes for galleries whose caches cannot be opened. No network request would end these wishes.
    private func failUnopened(_ wishes: WishState) {
        let unopened = state.withLock { $0.unopened }
        guard !unopened.isEmpty else { return }
        // Without a failure, an opened photo would seem to load as long as the screen shows it.
        for wish in wishes.stated where wish.isOfOpenPhoto {
            if let failure = unopened[wish.subject.gallery]?.failure { activity.setFailure(failure, of: wish.subject) }
        }
        for subject in wishes.asked.map(\.wish.subject) {
            guard let failure = unopened[subject.gallery]?.failure else { continue }
            activity.setFailure(failure, of: subject)
            self.wishes.fulfil(subject)
        }
    }

    private func use(_ tuning: FetcherTuning) async {
        let (controller, former) = state.withLock { state in
            defer { state.tuning = tuning }
            return (state.controller, state.tuning)
        }
        caches.space.setLimit(tuning.cacheLimit)
        guard let controller, tuning != former else { return }
        // A new governor would know no measurements of this run, so the old one stays unless its setting changes.
        let governor = tuning.transfers == former?.transfers ? nil : governor(tuning)
        await controller.use(governor, Disturbance(tuning))
    }

    // MARK: - News for the other process

    /// Returns news of everything that has changed, in its present state.
    private func news(_ part: Outbox) -> FetcherNews {
        var news = FetcherNews()
        // The fulfilled wishes were collected first, so the state read below is at least as new.
        news.fulfilled = part.fulfilled
        news.asked = part.asked
        for gallery in part.change.galleries { news.galleries[gallery] = activity.part(of: gallery) }
        for picture in part.change.pictures {
            news.pictures[picture] = FetcherNews.Picture(
                progress: activity.progress(of: picture), failure: activity.failure(of: picture))
        }
        if part.change.hasTraffic, let traffic = activity.trafficAtReport {
            news.traffic = FetcherNews.Traffic(report: traffic.report, time: traffic.time)
        }
        for subject in part.change.failures { news.failures[subject] = .some(activity.failureReport(of: subject)) }
        if part.change.hasNotices {
            news.troubles = activity.storageTroubles
            let known = StorageTrouble.allCases.map(\.notice)
            news.notices = activity.takeNotices().filter { !known.contains($0) }
        }
        if part.change.hasSignIns {
            news.questions = activity.takeQuestions()
            news.answered = activity.takeAnswered()
            if let (signIn, stage) = activity.browserSignIn { news.stages[signIn.number] = stage }
        }
        news.refused = part.refused
        news.lookUps = part.lookUps
        (news.written, news.isCountDue) = (part.written.bytes, part.written.isCountDue)
        news.history = part.history
        news.log = newLogLines()
        return news
    }

    private func newLogLines() -> [FetcherNews.LogLine] {
        let next = state.withLock { $0.nextLogged }
        let entries = log.entries(from: next)
        if let last = entries.last { state.withLock { $0.nextLogged = last.sequence + 1 } }
        return FetcherNews.LogLine.lines(entries, from: next)
    }

    // MARK: - The network's configuration

    private var configuration: HTTPConfiguration {
        let variable = { (name: String) in getenv(name).map { String(cString: $0) } }
        var configuration = HTTPConfiguration(
            userAgent: setup.userAgent, certificates: setup.certificates, proxies: ProxyChoice(variable),
            proxyCredentials: ProxyCredentials(credentials), netrc: setup.netrc,
            clientCertificate: setup.clientCertificate.map {
                ClientCertificate(file: $0.file, key: $0.key, host: $0.host)
            })
        configuration.warmConnections = min(configuration.warmConnections, 1 + Self.descriptorsToSpare / 4)
        return configuration
    }

    /// Returns the governor, which limits the number of simultaneous transfers.
    ///
    /// A transfer needs up to six descriptors: the connection, the name lookup and the file.
    private func governor(_ tuning: FetcherTuning) -> any Governor {
        let most = 2 + Self.descriptorsToSpare / 6
        return tuning.transfers > 0
            ? FixedGovernor(width: min(tuning.transfers, most), interval: 0.25)
            : AdaptiveGovernor(history: HostHistory(text: setup.history), width: most)
    }

    private static var descriptorsToSpare: Int { max(0, ProgramDescriptors.limit - otherDescriptors) }
}

extension Disturbance {
    fileprivate init(_ tuning: FetcherTuning) {
        self.init(delay: .milliseconds(tuning.delay), failingEvery: tuning.failures)
    }
}

/// The changes that the other process does not know yet.
private struct Outbox: Coalescing {
    var change = Activity.Change()
    var fulfilled: [Wish.Subject: Int] = [:]
    var asked: Set<Wish.Subject> = []
    var written = CacheSpace.Written(bytes: 0)
    var refused = RefusedCredentials()
    var lookUps: [Int: LookUp] = [:]
    var history: String?

    mutating func merge(_ later: Outbox) {
        change.merge(later.change)
        fulfilled.merge(later.fulfilled) { _, later in later }
        asked.formUnion(later.asked)
        written.merge(later.written)
        refused.merge(later.refused)
        lookUps.merge(later.lookUps) { _, later in later }
        history = later.history ?? history
    }

    /// The maximum number of pictures and failures in a message. While the user has suspended `vitrine`, millions may
    /// change.
    private static let maximumSubjects = 50_000

    /// Divides the news into messages that the other process accepts. If there are several, the last one has everything
    /// except pictures, failures and most questions. So the progress of a picture arrives before its wish is fulfilled.
    func divided() -> [Outbox] {
        let changes = change.divided(maximumSubjects: Self.maximumSubjects)
        var last = self
        last.change = changes[changes.count - 1]
        var parts = changes.dropLast().map { Outbox(change: $0) }
        while last.lookUps.count > FetcherNews.mostLookUps {
            let some = last.lookUps.prefix(FetcherNews.mostLookUps)
            parts.append(Outbox(lookUps: Dictionary(uniqueKeysWithValues: Array(some))))
            for (number, _) in some { last.lookUps[number] = nil }
        }
        return parts + [last]
    }
}

/// The task that runs the network. The first news starts the task.
private final class NetworkTask: Sendable {
    private let task = Mutex<Task<Void, Never>?>(nil)

    func begin(_ body: @escaping @Sendable () async -> Void) {
        task.withLock { $0 = $0 ?? Task.detached(priority: .utility) { await body() } }
    }

    /// Cancels the task and waits for its end.
    func end() async {
        let task = task.withLock { $0 }
        task?.cancel()
        await task?.value
    }
}

/// The questions for credentials that the other process has not answered yet.
private final class LookUps: Sendable {
    private struct State {
        var last = 0
        var waiting: [Int: CheckedContinuation<[SignIn], Never>] = [:]
        var isEnded = false
    }

    private let state = Mutex(State())

    /// Asks the other process, and waits for its answer.
    func ask(_ lookUp: LookUp, _ outbox: CoalescingStream<Outbox>) async -> [SignIn] {
        await withCheckedContinuation { continuation in
            let number = state.withLock { state -> Int? in
                guard !state.isEnded else { return nil }
                state.last += 1
                state.waiting[state.last] = continuation
                return state.last
            }
            if let number { outbox.send(Outbox(lookUps: [number: lookUp])) } else { continuation.resume(returning: []) }
        }
    }

    func answer(_ number: Int, _ found: [SignIn]) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: found)
    }

    /// Answers all questions without credentials, because the connection is closed.
    func end() {
        let waiting = state.withLock { state in
            defer { (state.waiting, state.isEnded) = ([:], true) }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume(returning: []) }
    }
}
