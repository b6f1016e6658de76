import Cache
import Concurrency
import FetcherWire
import Glibc
import Logging
import Model
import Sandbox
import Session
import Synchronization

/// Lets the program `vitrine-fetcher` fulfil the wishes of this process.
///
///     let client = FetcherClient(path: "/usr/libexec/vitrine/vitrine-fetcher", launcher: launcher, parts, tuning)
///     let running = Task { await client.run(setup) }
///
/// The first wish starts the program. The two processes share the caches, whose databases announce each commit. Wishes,
/// settings and credentials go to the fetcher; progress, failures, questions and fulfilled wishes come back. If the
/// fetcher dies, the client starts it again and repeats everything that it must know.
public final class FetcherClient: Sendable {
    /// The objects of this process that the fetcher serves.
    public struct Parts: Sendable {
        let caches: CacheFolder
        let wishes: Wishes
        let activity: Activity
        let log: Log
        let proxies: ConfiguredProxies
        let lookUp: @Sendable (LookUp) async -> [SignIn]
        let onHistory: @Sendable (String) -> Void

        /// - Parameters:
        ///   - lookUp: returns stored passwords and access keys.
        ///   - onHistory: stores the measurements of hosts for the next run.
        public init(
            caches: CacheFolder, wishes: Wishes, activity: Activity, log: Log, proxies: ConfiguredProxies,
            lookUp: @escaping @Sendable (LookUp) async -> [SignIn], onHistory: @escaping @Sendable (String) -> Void
        ) {
            (self.caches, self.wishes, self.activity, self.log) = (caches, wishes, activity, log)
            (self.proxies, self.lookUp, self.onHistory) = (proxies, lookUp, onHistory)
        }
    }

    private let path: String
    private let launcher: Launcher
    private let parts: Parts
    /// The number by which a fetcher recognises an earlier fetcher's partial files.
    private let run = UInt64.random(in: 0...UInt64.max)
    /// The news for the running fetcher; nil while none runs.
    private let outbox = Mutex<CoalescingStream<ScreensNews>?>(nil)
    private let tuning: Mutex<FetcherTuning>
    /// The sentence with which the fetcher has refused to work.
    private let refusal = Mutex<String?>(nil)
    /// The latest measurements of hosts; nil before a fetcher has sent some.
    private let history = Mutex<String?>(nil)
    /// The local galleries whose folders a fetcher has read, and watches.
    private let followed = Mutex<Set<GalleryID>>([])
    /// The places that the running fetcher may read; nil while none runs.
    private let permitted = Mutex<FetcherPlaces?>(nil)

    /// The number of deaths in a row after which the client gives up. A minute of service resets the count.
    private static let mostDeaths = 5

    /// Creates a client, which does nothing before ``run(_:)``.
    ///
    /// - Parameter launcher: starts the program without the restrictions of this process.
    public init(path: String, launcher: Launcher, _ parts: Parts, _ tuning: FetcherTuning) {
        (self.path, self.launcher, self.parts) = (path, launcher, parts)
        self.tuning = Mutex(tuning)
    }

    /// Starts a fetcher only to ask for its restrictions.
    public static func restrictions(path: String, launcher: Launcher) throws(FetcherError) -> [String] {
        let process = try FetcherProcess(path: path, launcher)
        defer { process.end() }
        var setup = FetcherSetup(cacheFolder: "/", userAgent: "")
        setup.isReportOnly = true
        try? process.connection.send(setup)
        guard let news = try? process.connection.receive(FetcherNews.self) else { throw .noAnswer }
        if let sentence = news.refusal { throw .refused(sentence) }
        return news.restrictions
    }

    /// Uses other settings from now on.
    public func use(_ tuning: FetcherTuning) {
        self.tuning.withLock { $0 = tuning }
        outbox.withLock { $0 }?.send(ScreensNews { $0.tuning = tuning })
    }

    /// Runs the fetcher until the task is cancelled. Then waits until the fetcher has stored what it received.
    ///
    /// A later call with another setup continues the transfers of the earlier one.
    public func run(_ setup: FetcherSetup) async {
        refusal.withLock { $0 = nil }
        readFoldersAgain(setup)
        let mounts = setup.followsFolders ? MountWatch { [self] in readMountedFolders(setup) } : nil
        defer { withExtendedLifetime(mounts) {} }
        await waitForWish()
        let clock = BootClock()
        var deaths = 0
        while !Task.isCancelled {
            let start = clock.now
            do throws(FetcherError) {
                // A gallery at a new place needs a fetcher that may read there.
                if try await serve(setup) == .isIncomplete {
                    readFoldersAgain(setup)
                    continue
                }
            } catch {
                parts.log.error(.network, "\(error)")
                return await refuse(error)
            }
            guard !Task.isCancelled else { return }
            deaths = clock.now - start > .seconds(60) ? 1 : deaths + 1
            guard deaths < Self.mostDeaths else { return await refuse(.dies) }
            parts.log.error(.network, "\(FetcherError.died)")
            if deaths == 1 { parts.activity.postNotice("\(FetcherError.died)") }
            readFoldersAgain(setup)
        }
    }

    /// Requests the followed folders again, because a new fetcher watches only folders that it has read.
    private func readFoldersAgain(_ setup: FetcherSetup) {
        guard setup.followsFolders else { return }
        for gallery in followed.withLock({ $0 }) { askAgain(for: gallery) }
    }

    /// Requests the followed folders again if a disk was mounted or unmounted at one of them. The request leads to a new
    /// fetcher, because the running one may not read the other disk.
    private func readMountedFolders(_ setup: FetcherSetup) {
        let places = places(for: setup)
        permitted.withLock { $0?.forget(missingIn: places) }
        // A new file of the settings can wait for the next request.
        if !mayRead(self.places(with: [])) { readFoldersAgain(setup) }
    }

    /// Returns whether the running fetcher may read some places. Also returns true while no fetcher runs.
    private func mayRead(_ places: FetcherPlaces) -> Bool {
        permitted.withLock { $0?.contains(places) ?? true }
    }

    /// Requests a local list again, unless the user has removed the gallery and emptied its cache.
    private func askAgain(for gallery: GalleryID) {
        let record = try? parts.caches.cache(gallery)?.read { try $0.gallery() }
        guard record?.status.state == .notUpdated else { return parts.wishes.ask(for: .list(gallery)) }
        followed.withLock { _ = $0.remove(gallery) }
    }

    /// Waits for a first wish. Browsing the cache needs no second process.
    private func waitForWish() async {
        let stream = CoalescingStream<Signal>()
        let relays = (
            parts.wishes.relay { if !$0.stated.isEmpty || !$0.asked.isEmpty { stream.send(Signal()) } },
            parts.wishes.relayBrowserSignIns { if $0.signIn != nil { stream.send(Signal()) } }
        )
        _ = await stream.next()
        withExtendedLifetime(relays) {}
    }

    /// Fails all requests, because no fetcher can run.
    private func refuse(_ error: FetcherError) async {
        parts.activity.postNotice("\(error)")
        let failure = Failure(error.reason, remedy: .none)
        for await snapshot in parts.wishes.snapshots() {
            // Without a failure, an opened photo would seem to load as long as the screen shows it.
            for wish in snapshot.wishes where wish.isOfOpenPhoto {
                parts.activity.setFailure(failure, of: wish.subject)
            }
            for (subject, number) in snapshot.asked {
                parts.activity.setFailure(failure, of: subject)
                parts.wishes.fulfil(subject, number: number)
            }
        }
    }

    // MARK: - One fetcher

    /// The reason why a fetcher ended.
    private enum End {
        /// The task was cancelled, or the fetcher died.
        case isOver
        /// The fetcher may not read a place that it needs now.
        case isIncomplete
    }

    /// Starts a fetcher and serves it until it ends, or until the task is cancelled.
    private func serve(_ setup: FetcherSetup) async throws(FetcherError) -> End {
        let permitted = places(for: setup)
        var setup = setup
        setup.readablePlaces = permitted.paths
        setup.usesLocalServices = permitted.needsLocalNames
        setup.run = run
        if let text = history.withLock({ $0 }) { setup.history = text }
        let process = try FetcherProcess(path: path, launcher)
        let connection = process.connection
        let news = CoalescingStream<ScreensNews>()
        let isIncomplete = Atomic(false)
        let relays = relays(to: news)
        // When the news stream ends, the fetcher stores what it has received and exits. A fetcher that hangs is
        // disconnected after a while.
        let end: @Sendable () -> Void = {
            news.finish()
            Task {
                try? await BootClock().sleep(until: BootClock().now + Self.patience)
                connection.end()
            }
        }
        outbox.withLock { $0 = news }
        self.permitted.withLock { $0 = permitted }
        let sender = MessageSender(connection)
        let sending = Task { [self, setup] in
            guard await sender.send(setup) else { return }
            var first = ScreensNews()
            first.tuning = tuning.withLock { $0 }
            first.failures = parts.activity.failures
            news.send(first)
            var lastRequest = -1
            for await part in news {
                // A new fetcher gets everything, so this news is not lost.
                if part.needsPlaces(after: &lastRequest), !mayRead(places(for: setup)) {
                    isIncomplete.store(true, ordering: .relaxed)
                    end()
                    break
                }
                guard await sender.send(part) else { return }
            }
            connection.finish()
        }
        await withTaskCancellationHandler {
            await MessageReceiver(connection).run { [self] (news: FetcherNews) in
                take(news)
            } onFailure: { [self] error in
                parts.log.error(.network, "\(error)")
                // The programs were replaced while this one runs.
                if case .version = error { refusal.withLock { $0 = "\(error) Start Vitrine again." } }
            }
        } onCancel: {
            end()
        }
        withExtendedLifetime(relays) {}
        parts.log.setFilterListener(nil)
        outbox.withLock { $0 = nil }
        self.permitted.withLock { $0 = nil }
        news.finish()
        process.end()
        await sending.value
        parts.activity.endAllWork()
        parts.activity.setRestrictions(nil, of: Self.name)
        if let sentence = refusal.withLock({ $0 }) { throw .refused(sentence) }
        return isIncomplete.load(ordering: .relaxed) ? .isIncomplete : .isOver
    }

    /// Returns the files and folders that a fetcher must be able to read now.
    private func places(for setup: FetcherSetup) -> FetcherPlaces {
        let own = setup.clientCertificate
        let files = [setup.ratingsFolder, setup.netrc, setup.certificates, own?.file, own?.key]
        return places(with: files.compactMap { $0 })
    }

    /// Returns some files, and the folders of the open galleries.
    private func places(with files: [String]) -> FetcherPlaces {
        FetcherPlaces(files, parts.caches.openCaches.map(\.address), parts.proxies)
    }

    /// The longest wait for a fetcher that stores what it has received.
    private static let patience = Duration.seconds(30)

    /// Passes on everything that the fetcher must know, now and after each change.
    private func relays(to news: CoalescingStream<ScreensNews>) -> [AnyObject] {
        let send: @Sendable ((inout ScreensNews) -> Void) -> Void = { change in news.send(ScreensNews(change)) }
        let caches = parts.caches
        parts.log.setFilterListener { filter in send { $0.logFilter = filter } }
        return [
            caches.relayOpenings { opened in
                send { $0.opened = opened.map { ScreensNews.Gallery(address: $0.address, trouble: $0.trouble) } }
            },
            caches.credentials.relayEntered { taken in send { $0.credentials = taken.entries } },
            caches.space.relayMeasurements { measured in send { $0.space = measured } },
            parts.activity.relayChanges { change in
                if !change.retried.isEmpty { send { $0.retried = change.retried } }
            },
            parts.activity.relayTrafficInterest { interest in send { $0.isTrafficWatched = interest.isWatched } },
            parts.wishes.relayBrowserSignIns { wish in send { $0.browserSignIn = wish } },
            parts.wishes.relay { wishes in send { $0.wishes = wishes } },
        ]
    }

    /// Applies news of the fetcher. Drops news of galleries that are not open.
    ///
    /// The method applies fulfilled wishes after their results. It applies the fetcher's own requests last, because
    /// such a request may repeat a wish that was just fulfilled.
    private func take(_ news: FetcherNews) {
        if let sentence = news.refusal { refusal.withLock { $0 = sentence } }
        note(news.restrictions)
        let activity = parts.activity
        let isOpen = { [caches = parts.caches] (gallery: GalleryID) in caches.cache(gallery) != nil }
        for line in news.log { parts.log.adopt(line.level, line.subsystem, at: line.time, line.message) }
        for (gallery, part) in news.galleries where isOpen(gallery) { activity.adopt(part, of: gallery) }
        for (picture, state) in news.pictures where isOpen(picture.gallery) {
            activity.adopt(state.progress, state.failure, of: picture)
        }
        if let traffic = news.traffic { activity.setTraffic(traffic.report, at: traffic.time) }
        // A request that fails because of the disk waits for the user only if the problem is known.
        for trouble in news.troubles { activity.report(trouble) }
        for (subject, report) in news.failures where isOpen(subject.gallery) {
            if let report { activity.recordFailure(report) } else { activity.removeFailure(of: subject) }
        }
        for notice in news.notices { activity.postNotice(notice) }
        parts.caches.credentials.adopt(news.refused)
        for question in news.questions { ask(question) }
        for gallery in news.answered where isOpen(gallery) { activity.recordAnswer(for: gallery) }
        for (number, stage) in news.stages { take(stage, ofSignIn: number, activity) }
        for (number, lookUp) in news.lookUps.prefix(FetcherNews.mostLookUps) { answer(lookUp, number) }
        parts.caches.space.adopt(CacheSpace.Written(bytes: news.written, isCountDue: news.isCountDue))
        if let text = news.history {
            history.withLock { $0 = text }
            parts.onHistory(text)
        }
        for (subject, number) in news.fulfilled {
            if isLocalList(subject) { followed.withLock { _ = $0.insert(subject.gallery) } }
            parts.wishes.fulfil(subject, number: number)
        }
        for subject in news.asked where isLocalList(subject) { askAgain(for: subject.gallery) }
    }

    /// Returns whether a subject is the list of an open local gallery.
    ///
    /// The fetcher itself may request only such lists.
    private func isLocalList(_ subject: Wish.Subject) -> Bool {
        guard case .list(let gallery) = subject else { return false }
        return parts.caches.cache(gallery)?.address.scheme == .file
    }

    /// Passes the fetcher's question to the user, if open galleries need the answer.
    ///
    /// A sign-in page on a server that is not the gallery's could deceive the user, so the method removes such a page.
    private func ask(_ question: SignInQuestion) {
        let askers = question.galleries.compactMap { parts.caches.cache($0)?.address }
        guard !askers.isEmpty, question.proxy.map(parts.proxies.contains) ?? true else { return }
        var question = question
        question.galleries = Set(askers.map { GalleryID($0) })
        let (origin, host) = (question.origin, question.origin.host)
        let isOwn = askers.contains { $0.origin == origin || origin.scheme == .https && $0.host == host }
        if question.browserServer.map({ !isOwn || $0.origin != origin }) ?? false {
            question.browserServer = nil
        }
        parts.activity.ask(question)
    }

    /// Logs the restrictions that a new fetcher reports, and shows them.
    private func note(_ reported: [String]) {
        // The fetcher may be compromised later, so only its first report counts.
        guard !reported.isEmpty, parts.activity.restrictions[Self.name] == nil else { return }
        let restrictions = reported.prefix(Self.mostRestrictions).map { String($0.prefix(Self.longestRestriction)) }
        parts.log.info(.network, "vitrine-fetcher runs with \(restrictions.joined(separator: ", "))")
        parts.activity.setRestrictions(restrictions, of: Self.name)
    }

    /// The fetcher's name for users.
    private static let name = "vitrine-fetcher"
    /// The maximum number of restrictions in a report, and of characters in each restriction.
    private static let (mostRestrictions, longestRestriction) = (4, 40)

    /// Shows the stage of a sign-in if it is plausible.
    ///
    /// The page must be on the server, and the result must be a password.
    private func take(_ stage: BrowserSignIn.Stage, ofSignIn number: Int, _ activity: Activity) {
        guard let (signIn, before) = activity.browserSignIn, signIn.number == number else { return }
        switch (stage, before) {
        case (.waiting(let page), _): guard page.origin == signIn.server.origin else { return }
        case (.granted(.password), .waiting), (.starting, _), (.failed, _): break
        case (.granted, _): return
        }
        activity.setStage(stage, of: signIn)
    }

    /// Answers a question for credentials.
    ///
    /// The fetcher gets passwords only for servers of open galleries and for configured proxies. So a compromised
    /// fetcher gets no other passwords. Only the fetcher that asked gets the answer, because each fetcher numbers its
    /// own questions.
    private func answer(_ lookUp: LookUp, _ number: Int) {
        let asker = outbox.withLock { $0 }
        let origins = parts.caches.openCaches.compactMap(\.address.origin)
        let isAllowed =
            switch lookUp {
            case .password(.origin(let origin)), .accessKeys(let origin):
                origins.contains { $0 == origin || $0.isTwin(of: origin) || $0.isSecured(by: origin) }
            case .password(.proxy(let proxy)): parts.proxies.contains(proxy)
            }
        Task { [parts] in
            let found = isAllowed ? await parts.lookUp(lookUp) : []
            asker?.send(ScreensNews { $0.answers[number] = found })
        }
    }
}

/// An error that prevents the fetcher's work.
public enum FetcherError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The program cannot be started.
    case cannotStart(path: String, code: Int32)
    /// The program ended unexpectedly, and was started again.
    case died
    /// The program ended several times in a row.
    case dies
    /// The program gave no answer.
    case noAnswer
    /// The program cannot work, for a reason that it states as a sentence.
    case refused(String)

    /// The reason as a phrase without a full stop.
    var reason: String {
        switch self {
        case .cannotStart(let path, let code):
            "the program \(path) cannot be started: \(String(cString: strerror(code)))"
        case .died, .dies: "the program vitrine-fetcher ended unexpectedly"
        case .noAnswer: "the program vitrine-fetcher does not answer"
        case .refused(let sentence): sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
        }
    }

    /// An error message for the user.
    public var description: String {
        switch self {
        case .cannotStart: "Vitrine fetches nothing, because \(reason)."
        case .died: "The program vitrine-fetcher ended unexpectedly. Vitrine started it again."
        case .noAnswer: "The program vitrine-fetcher does not answer."
        case .refused(let sentence): "Vitrine fetches nothing. \(sentence)"
        case .dies: "Vitrine fetches nothing until its next start, because \(reason) several times."
        }
    }
}

/// A running `vitrine-fetcher`.
private struct FetcherProcess: Sendable {
    let connection: MessageConnection
    private let program: Launcher.Program

    /// The time for the program to end by itself, in milliseconds.
    private static let patience: Int32 = 2_000

    /// Starts the program. Its standard input is one end of a new connection.
    init(path: String, _ launcher: Launcher) throws(FetcherError) {
        let theirs: Int32
        do throws(WireError) { (connection, theirs) = try MessageConnection.pair() } catch {
            let code = if case .system(_, let code) = error { code } else { EPROTO }
            throw .cannotStart(path: path, code: code)
        }
        defer { close(theirs) }
        do { program = try launcher.start([path], input: theirs, isBare: true) } catch {
            throw .cannotStart(path: path, code: error.code)
        }
    }

    /// Ends the program, which first gets some time to end by itself.
    func end() {
        connection.end()
        program.end(after: Self.patience)
    }
}

extension ScreensNews {
    /// Creates news of some changes.
    fileprivate init(_ change: (inout ScreensNews) -> Void) {
        self.init()
        change(&self)
    }
}
