import Cache
import Glibc
import Logging
import Model
import Session
import Synchronization
import Testing

@testable import FetcherWire

/// Messages between `vitrine` and `vitrine-fetcher`.
@Suite struct MessageTests {
    private let gallery = GalleryID(rawValue: 0xFEDC_BA98_7654_3210)

    private var question: SignInQuestion {
        get throws {
            var question = SignInQuestion(
                origin: try #require(Origin("https://example.org:8443")), proxy: "http://proxy:3128",
                keyHeader: "X-Key",
                schemes: ["basic", "digest"], realm: "Ünïcode\u{1B}", wasRefused: true,
                browserServer: try Address("https://example.org/cloud/"), galleries: [gallery])
            (question.tokenName, question.region) = ("token", "eu-west-1")
            (question.isOfBucket, question.isDeferred) = (true, true)
            return question
        }
    }

    private var screensNews: ScreensNews {
        get throws {
            var news = ScreensNews()
            news.opened = [
                .init(address: try Address("http://user:p%40ss@example.org/a%20b/index.xml?page=2")),
                .init(address: Address(filePath: "/home/me/Ä b/x.xml"), trouble: .readOnly),
            ]
            let origin = SignInPlace.origin(try #require(Origin("http://example.org")))
            news.credentials = [
                origin: .init(signIn: .password(user: "me", password: "s3cret"), galleries: [gallery]),
                .proxy("http://proxy:3128"): .init(
                    signIn: .accessKey(AccessKey(id: "id", secret: "secret", sessionToken: "t", region: "eu-1")),
                    galleries: []),
            ]
            news.retried = [gallery]
            let time = Timestamp(milliseconds: 7)
            news.failures = [
                FailureReport(
                    .list(gallery), Failure("no answer", remedy: .network), attempts: 1, first: time, last: time)
            ]
            news.isTrafficWatched = true
            news.logFilter = LogFilter(
                enabled: [.network, .xml], level: .debug, levels: [.sync: .error], exchangeHost: "example.org")
            news.tuning = FetcherTuning(transfers: 4, delay: 20, failures: 3, cacheLimit: 1 << 40)
            news.space = CacheSpace.Measurement(size: 9, isShort: true)
            news.answers = [7: [.token("abc"), .header(name: "X-Key", value: "k")], 8: []]
            news.browserSignIn = BrowserSignInWish(
                signIn: BrowserSignIn(number: 3, server: try Address("https://example.org/"), galleries: [gallery]))
            var wishes = WishState(
                stated: [Wish(.picture(gallery, PhotoKey(-5), .original), importance: .visible)],
                asked: [.init(wish: Wish(.list(gallery), importance: .list), number: 12)],
                declined: [.everyPicture(gallery, .thumbnail), .albums(gallery)], isPaused: true)
            (wishes.retried, wishes.areAllRetried) = ([.list(gallery)], true)
            news.wishes = wishes
            return news
        }
    }

    private var fetcherNews: FetcherNews {
        get throws {
            var news = FetcherNews()
            let failure = Failure("the server answered 404", remedy: .time, question: try question)
            let picture = Wish.Subject.picture(gallery, PhotoKey(9), .thumbnail)
            let time = Timestamp(milliseconds: 1_700_000_000_123)
            let log = Log(now: { 99 })
            log.error(.cache, "full")
            news.log = log.entries.map { FetcherNews.LogLine($0) }
            for phase: SyncPhase in [
                .getting(Progress(done: 5, total: nil), entries: 2), .waiting(failure, until: time),
                .parsing(entries: 3),
                .committing,
            ] {
                var part = Activity.GalleryPart()
                (part.phase, part.isCancelled, part.failure, part.isReadingAlbums) = (phase, true, failure, true)
                news.galleries[GalleryID(rawValue: UInt64(news.galleries.count))] = part
            }
            news.pictures = [picture: .init(progress: Progress(done: 5, total: 9), failure: failure)]
            let stages: [TransferReport.Stage] = [
                .running(Progress(done: 1, total: 2), speed: 3.5), .queued, .heldBack(failure, attempts: 2),
                .waiting(failure, attempts: 3, until: nil),
            ]
            news.traffic = .init(
                report: TrafficReport(
                    quality: .fair, isOnNetwork: false, unreachable: ["a", "b"], running: 3, width: 4, limit: 5,
                    window: 6,
                    bandwidth: 7.5, roundTrip: 0.25, received: 8, isPaused: true, queued: 9, waiting: 10,
                    transfers: stages.map {
                        TransferReport(picture, host: "example.org", importance: .near, stage: $0)
                    }),
                time: time)
            news.failures = [
                picture: FailureReport(picture, failure, attempts: 2, first: time, last: time, next: time),
                .list(gallery): nil,
            ]
            (news.refusal, news.restrictions) = ("No.", ["seccomp"])
            news.troubles = [.full, .failing]
            news.notices = ["A sentence."]
            news.questions = [try question]
            news.answered = [gallery]
            news.refused = RefusedCredentials(
                refusals: [.proxy("http://proxy:3128"): .init(user: "me", digests: [7, 8])])
            news.stages = [
                1: .starting, 2: .waiting(try Address("https://example.org/login")), 3: .granted(.token("t")),
                4: .failed(failure),
            ]
            news.lookUps = [
                1: .password(.proxy("http://proxy:3128")),
                2: .accessKeys(try #require(Origin("https://s3.example.org"))),
            ]
            (news.written, news.isCountDue, news.history) = (1 << 40, true, "example.org\t5\n")
            news.asked = [.list(gallery)]
            news.fulfilled = [.list(gallery): 12]
            return news
        }
    }

    private var setup: FetcherSetup {
        var setup = FetcherSetup(cacheFolder: "/home/me/.cache/vitrine", userAgent: "Vitrine/1")
        (setup.ratingsFolder, setup.towns, setup.run) = ("/r", "/t", 7)
        (setup.certificates, setup.netrc, setup.history) = ("/c", "/n", "h")
        setup.clientCertificate = .init(file: "/f", key: "/k", host: "example.org")
        (setup.mostAttempts, setup.followsFolders, setup.readablePlaces) = (2, true, ["/pictures"])
        setup.isOffline = true
        (setup.usesLocalServices, setup.requiresAllRestrictions, setup.isReportOnly) = (true, true, true)
        return setup
    }

    private func bytes(_ message: some WireValue) -> [UInt8] {
        var writer = WireWriter()
        writer.append(message)
        return writer.bytes
    }

    @Test func everyPartArrivesAsItWasSent() throws {
        let news = try screensNews
        let read = try MessageConnection.read(ScreensNews.self, from: bytes(news))
        #expect(read == news)
        #expect(read.opened.map(\.address.credentials) == news.opened.map(\.address.credentials))
        #expect(try MessageConnection.read(FetcherNews.self, from: bytes(fetcherNews)) == fetcherNews)
        #expect(try MessageConnection.read(FetcherSetup.self, from: bytes(setup)) == setup)
        #expect(try MessageConnection.read(ScreensNews.self, from: bytes(ScreensNews())) == ScreensNews())
    }

    @Test("The longest path that a user can name arrives")
    func longestPath() throws {
        // In normal form, each of these characters has nine bytes.
        let path = "/" + String(repeating: "漢", count: 909)
        let longest = try Address(typed: path, home: "/", currentFolder: "/")
        #expect(try MessageConnection.read(Address.self, from: bytes(longest)) == longest)
        #expect(throws: AddressError.tooLong) { try Address(typed: path + "漢", home: "/", currentFolder: "/") }
    }

    @Test func aShorterMessageIsRefused() throws {
        for message in [bytes(try screensNews), bytes(try fetcherNews), bytes(setup)] {
            for count in 0..<message.count {
                let cut = Array(message.prefix(count))
                #expect(throws: WireError.self) { try MessageConnection.read(ScreensNews.self, from: cut) }
                #expect(throws: WireError.self) { try MessageConnection.read(FetcherNews.self, from: cut) }
                #expect(throws: WireError.self) { try MessageConnection.read(FetcherSetup.self, from: cut) }
            }
        }
    }

    @Test func aMessageWithBytesLeftIsRefused() throws {
        let longer = bytes(try fetcherNews) + [0]
        #expect(throws: WireError.malformed("1 bytes are left")) {
            try MessageConnection.read(FetcherNews.self, from: longer)
        }
    }

    @Test func aNumberOfValuesBeyondTheMessageIsRefused() {
        let many = [UInt8](repeating: 0xFF, count: 64)
        #expect(throws: WireError.self) { try MessageConnection.read([UInt8].self, from: many) }
        #expect(throws: WireError.self) { try MessageConnection.read(String.self, from: many) }
    }

    @Test("News of a fetcher that would fill the memory are refused")
    func hugeNews() throws {
        var news = FetcherNews()
        news.answered = Set((0..<500_000).map { GalleryID(rawValue: $0) })
        #expect(try MessageConnection.read(FetcherNews.self, from: bytes(news)) == news)
        news.notices = ["one more"]
        #expect(throws: WireError.self) { try MessageConnection.read(FetcherNews.self, from: bytes(news)) }
        (news.answered, news.notices) = ([], [String(repeating: "x", count: 1 << 20)])
        #expect(try MessageConnection.read(FetcherNews.self, from: bytes(news)) == news)
        news.notices[0] += "x"
        #expect(throws: WireError.self) { try MessageConnection.read(FetcherNews.self, from: bytes(news)) }
    }

    /// Sums of such numbers must not overflow later.
    @Test func hugeNumbersAreRefusedOrLimited() throws {
        #expect(throws: WireError.self) { try MessageConnection.read(Int.self, from: bytes(Int64.max)) }
        #expect(throws: WireError.self) {
            try MessageConnection.read(Double.self, from: bytes(Double.infinity.bitPattern))
        }
        #expect(try MessageConnection.read(Timestamp.self, from: bytes(Int64.max)) == Timestamp(milliseconds: 1 << 53))
        #expect(try MessageConnection.read(Timestamp.self, from: bytes(Int64.min)) == Timestamp(milliseconds: -1 << 53))
    }

    @Test func messagesCrossAConnectionInOrder() async throws {
        let (ours, descriptor) = try MessageConnection.pair()
        let theirs = MessageConnection(adopting: descriptor)
        let sender = MessageSender(ours)
        let news = try fetcherNews
        for count in 1...3 {
            var numbered = FetcherNews()
            numbered.written = Int64(count)
            #expect(await sender.send(numbered))
        }
        #expect(await sender.send(news))
        ours.finish()
        let received = Mutex<[FetcherNews]>([])
        await MessageReceiver(theirs).run { news in
            received.withLock { $0.append(news) }
        } onFailure: {
            Issue.record($0)
        }
        let all = received.withLock { $0 }
        #expect(all.map(\.written) == [1, 2, 3, news.written] && all.last == news)
    }

    @Test func aReceiverTakesAMessageWhenTheOneBeforeIsDone() async throws {
        let (ours, descriptor) = try MessageConnection.pair()
        let theirs = MessageConnection(adopting: descriptor)
        let sender = MessageSender(ours)
        for count in 1...20 {
            var numbered = FetcherNews()
            numbered.written = Int64(count)
            #expect(await sender.send(numbered))
        }
        ours.finish()
        let steps = Mutex<[Int64]>([])
        await MessageReceiver(theirs).run { (news: FetcherNews) in
            steps.withLock { $0.append(news.written) }
        } finish: { news in
            // Other tasks may run here, but no other message may be taken.
            for _ in 0..<10 { await Task.yield() }
            steps.withLock { $0.append(-news.written) }
        } onFailure: {
            Issue.record($0)
        }
        #expect(steps.withLock { $0 } == (1...20).flatMap { [$0, -$0] })
    }

    @Test func anotherVersionAndALongMessageEndTheConnection() async throws {
        for (head, error): ([UInt8], WireError) in [
            ([9, 0, 0, 0, 0], .version(9)), ([WireVersion.current, 0xFF, 0xFF, 0xFF, 0xFF], .tooLong(0xFFFF_FFFF)),
        ] {
            let (ours, descriptor) = try MessageConnection.pair()
            #expect(send(descriptor, head, head.count, 0) == head.count)
            let failures = Mutex<[WireError]>([])
            await MessageReceiver(ours).run { (_: FetcherNews) in
            } onFailure: { error in
                failures.withLock { $0.append(error) }
            }
            #expect(failures.withLock { $0 } == [error])
            close(descriptor)
        }
    }

    @Test("A line of the log counts the entries that the fetcher no longer has")
    func missingEntries() {
        let log = Log(capacity: 3)
        for number in 0..<6 { log.info(.sync, "entry \(number)") }
        let lines = { (next: Int) in FetcherNews.LogLine.lines(log.entries(from: next), from: next).map(\.message) }
        #expect(lines(1) == ["missing entries of vitrine-fetcher: 2", "entry 3", "entry 4", "entry 5"])
        #expect(lines(3) == ["entry 3", "entry 4", "entry 5"])
        #expect(lines(5) == ["entry 5"] && lines(6).isEmpty)
    }

    @Test func aSenderNoticesThatTheOtherEndIsGone() async throws {
        let (ours, descriptor) = try MessageConnection.pair()
        close(descriptor)
        #expect(await !MessageSender(ours).send(FetcherNews()))
    }
}
