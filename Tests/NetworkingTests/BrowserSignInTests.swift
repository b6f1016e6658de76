import Foundation
import HTTP
import Logging
import Model
import Session
import Synchronization
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Sign-ins with the browser: the stand-in for Nextcloud, and servers that misbehave.
@Suite(.ownThread, .unlessItHangs) struct BrowserSignInTests {
    private let files = TestFolder()
    private let folder = TestFolder()
    private let log = Log(level: .debug)
    private let activity = Activity()
    private let wishes = Wishes()
    private let clock = ManualClock()
    private let credentials = CredentialStore()
    private let context: RequestContext
    private let client: HTTPClient

    init() throws {
        let caches = try CacheFolder(
            path: folder.path("cache"), log: log, activity: activity, credentials: credentials)
        context = RequestContext(caches: caches, activity: activity, log: log)
        client = HTTPClient(log: log)
    }

    /// Serves wishes for sign-ins meanwhile.
    private func serving(_ body: () async throws -> Void) async throws {
        let signIns = BrowserSignIns(wishes: wishes, context: context, client: client, clock: clock)
        let running = Task { await signIns.run() }
        try await body()
        running.cancel()
        await running.value
        #expect(clock.alarms.isEmpty)
    }

    private func begin(at server: String, of gallery: String) throws -> BrowserSignIn {
        let cache = try context.caches.open(Address(gallery))
        let signIn = activity.beginSignIn(withBrowserAt: try Address(server), for: [cache.id])
        wishes.signIn(withBrowser: signIn)
        return signIn
    }

    /// Waits for the stage after `starting`, or after `waiting`.
    private func stage(of signIn: BrowserSignIn, afterWaiting: Bool = false) async -> BrowserSignIn.Stage? {
        let changes = activity.changes()
        while true {
            switch activity.stage(of: signIn) {
            case .starting: break
            case .waiting where afterWaiting: break
            case let stage: return stage
            }
            _ = await changes.next()
        }
    }

    /// Waits until the server has answered a request, and the next request has a time.
    private func untilVitrineWaits() async {
        for await _ in clock.changes() where !clock.alarms.isEmpty { break }
    }

    private func failure(of signIn: BrowserSignIn, afterWaiting: Bool = false) async -> String? {
        guard case .failed(let failure) = await stage(of: signIn, afterWaiting: afterWaiting) else { return nil }
        return failure.reason
    }

    // MARK: - The stand-in

    @Test("The user signs in with the browser, and the server’s password opens the gallery")
    func signsIn() async throws {
        files.write("a.jpg", "x")
        let server = try await NextcloudServer.start(serving: files.path)
        let cache = try context.caches.open(Address(server.url("/remote.php/dav/files/me/")))
        let controller = NetworkController(
            wishes: wishes, context: context, client: client, schedule: .inQuickSuccession)
        let working = Task { await controller.run() }
        defer { working.cancel() }
        func fetch() async {
            wishes.ask(for: .list(cache.id))
            for await snapshot in wishes.snapshots() where snapshot.wishes.isEmpty { return }
        }
        await fetch()
        let question = try #require(activity.questions.first)
        #expect(question.browserServer?.text == server.url("/"))
        try await serving {
            let signIn = try begin(at: server.url("/"), of: cache.address.text)
            guard case .waiting(let page) = await stage(of: signIn) else {
                Issue.record("\(String(describing: activity.stage(of: signIn)))")
                return
            }
            #expect(page.text.hasPrefix(server.url("/login/v2/flow/")))
            // The user needs a while.
            #expect(await clock.advanceToNextAlarm() == .seconds(2))
            #expect(await clock.advanceToNextAlarm() == .seconds(4))
            await untilVitrineWaits()
            #expect(try Command("/usr/bin/curl", ["-s", "-d", "", page.text]).text.contains("grant access"))
            await clock.advanceToNextAlarm()
            guard case .granted(let granted) = await stage(of: signIn, afterWaiting: true) else {
                Issue.record("\(String(describing: activity.stage(of: signIn)))")
                return
            }
            guard case .password(let user, let password) = granted else { return #expect(Bool(false)) }
            #expect(user == NextcloudServer.user && password != NextcloudServer.password && password.count > 40)
            activity.withdrawQuestion(question.place)
            credentials.take(granted, for: question.place, by: question.galleries)
            await fetch()
            #expect(
                try cache.read { try $0.gallery() }.photoCount == 1 && activity.questions.isEmpty,
                "\(log.entries.map(\.message))")
            let polls = server.requests.filter { $0.contains("/login/v2") }
            #expect(
                polls.first == "POST /index.php/login/v2 200" && polls.last == "POST /login/v2/poll 200", "\(polls)")
            #expect(!log.entries.contains { $0.message.contains(password) || $0.message.contains(page.path) })
        }
    }

    @Test("A question about a share, a proxy or another server offers no browser")
    func offersNone() async throws {
        let server = try await NextcloudServer.start(
            serving: files.path, shares: ["a1B2c3D4e5F6g7H": .init(of: "", password: "op3n")])
        for (address, server) in [
            ("https://c.org/remote.php/dav/files/me/Photos/", "https://c.org/"),
            ("https://c.org:81/cloud/remote.php/webdav/", "https://c.org:81/cloud/"),
            ("https://c.org/cloud/index.php/core/preview?fileId=7", "https://c.org/cloud/"),
            ("https://c.org/cloud/index.php/apps/photos/api/v1/preview/7?x=256", "https://c.org/cloud/"),
            ("https://c.org/public.php/dav/files/a1B2c3D4/", nil), ("https://c.org/photos/", nil),
            ("https://c.org//evil.org/remote.php/dav/files/me/", "https://c.org//evil.org/"),
        ] {
            let pages = ServerPlace.pages(for: try Address(address))
            #expect(pages?.text == server || pages == nil && address.contains("evil"), "\(address)")
        }
        let cache = try context.caches.open(Address(server.url("/s/a1B2c3D4e5F6g7H")))
        let controller = NetworkController(
            wishes: wishes, context: context, client: client, schedule: .inQuickSuccession)
        let working = Task { await controller.run() }
        defer { working.cancel() }
        wishes.ask(for: .list(cache.id))
        for await snapshot in wishes.snapshots() where snapshot.wishes.isEmpty { break }
        #expect(activity.questions.count == 1 && activity.questions[0].browserServer == nil)
        // The list of a gallery names another server.
        let foreign = try #require(Origin("https://c.org"))
        await context.ask(
            SignInQuestion(origin: foreign, schemes: ["basic"], browserServer: try Address("https://c.org/")),
            afterSaying: nil, in: cache)
        #expect(activity.questions.count == 2 && activity.questions[1].browserServer == nil)
    }

    // MARK: - Other servers

    /// A server with the first answer of a sign-in. It answers each request for the result with the steps.
    private func server(
        login: String = "HERE/page", endpoint: String = "HERE/poll",
        _ answer: @escaping @Sendable (_ here: String) -> [ScriptedServer.Step] = { _ in .answer(404, "[]") }
    ) throws -> ScriptedServer {
        try ScriptedServer { request in
            let here = "http://" + (request.headers["host"] ?? "")
            func text(_ url: String) -> String { url.replacingOccurrences(of: "HERE", with: here) }
            guard request.path == "/index.php/login/v2" else { return answer(here) }
            return .answer(
                200, #"{"poll":{"token":"a+b&c/","endpoint":"\#(text(endpoint))"},"login":"\#(text(login))"}"#)
        }
    }

    private func begin(at server: ScriptedServer) throws -> BrowserSignIn {
        try begin(at: server.url("/"), of: server.url("/remote.php/dav/files/me/"))
    }

    @Test("Requests name Vitrine, carry no password, and encode the token")
    func requests() async throws {
        let server = try server { here in
            .answer(200, #"{"server":"\#(here)","loginName":"me","appPassword":"n3w"}"#)
        }
        credentials.take(
            .password(user: "me", password: "0ld"), for: .origin(try #require(Address(server.url("/")).origin)))
        try await serving {
            let signIn = try begin(at: server)
            await clock.advanceToNextAlarm()
            #expect(
                await stage(of: signIn, afterWaiting: true) == .granted(.password(user: "me", password: "n3w")))
        }
        #expect(server.requests.map(\.method) == ["POST", "POST"])
        #expect(server.requests.allSatisfy { $0.headers["user-agent"]?.hasPrefix("Vitrine/") == true })
        #expect(server.requests.allSatisfy { $0.headers["authorization"] == nil })
        #expect(server.requests.first?.body == [] && server.requests.last?.body == Array("token=a%2Bb%26c%2F".utf8))
    }

    @Test(
        "Addresses of another origin are refused, and get no request",
        arguments: [
            ("http://127.0.0.2:PORT/page", "HERE/poll"), ("HERE/page", "http://127.0.0.2:PORT/poll"),
            ("https://127.0.0.1:PORT/page", "HERE/poll"), ("HERE/page", "http://127.0.0.1/poll"),
            ("http://me:x@127.0.0.1:PORT/page", "HERE/poll"), ("file:///etc/passwd", "HERE/poll"),
            ("javascript:alert(1)", "HERE/poll"), ("HERE/page", "/poll"),
        ])
    func foreignAddresses(login: String, endpoint: String) async throws {
        let port = Mutex("")
        let server = try ScriptedServer { request in
            guard request.path == "/index.php/login/v2" else { return .answer(500, "") }
            let port = port.withLock { $0 }
            func text(_ url: String) -> String {
                url.replacingOccurrences(of: "HERE", with: "http://127.0.0.1:PORT")
                    .replacingOccurrences(of: "PORT", with: port)
            }
            return .answer(200, #"{"poll":{"token":"t","endpoint":"\#(text(endpoint))"},"login":"\#(text(login))"}"#)
        }
        port.withLock { $0 = "\(server.port)" }
        try await serving {
            let failure = await failure(of: try begin(at: server)) ?? ""
            #expect(failure.contains("Vitrine refuses") || failure.contains("unusable address"), "\(failure)")
        }
        #expect(server.requests.count == 1)
    }

    @Test("A password for another server is refused")
    func foreignResult() async throws {
        let server = try server { _ in
            .answer(200, #"{"server":"https://evil.example.org","loginName":"me","appPassword":"n3w"}"#)
        }
        try await serving {
            let signIn = try begin(at: server)
            await clock.advanceToNextAlarm()
            #expect(await failure(of: signIn, afterWaiting: true)?.contains("evil.example.org") == true)
        }
    }

    @Test("If a server behind a proxy names http addresses, Vitrine asks by https")
    func behindProxy() throws {
        func own(_ text: String, at server: String) -> String? {
            try? BrowserSignIns.own(text, at: try Address(server)).text
        }
        for (text, server, expected) in [
            ("https://c.org/poll", "https://c.org/", "https://c.org/poll"),
            ("http://c.org/poll?a=1", "https://c.org/cloud/", "https://c.org/poll?a=1"),
            ("http://c.org/poll", "https://c.org:8443/", "https://c.org:8443/poll"),
            ("http://c.org:8443/poll", "https://c.org:8443/", "https://c.org:8443/poll"),
            ("http://c.org:8080/poll", "https://c.org/", nil), ("https://c.org:8443/poll", "https://c.org/", nil),
            ("https://c.org/poll", "http://c.org/", nil), ("http://evil.org/poll", "https://c.org/", nil),
            ("http://c.org.evil.org/poll", "https://c.org/", nil), ("http://c.org@evil.org/", "https://c.org/", nil),
            ("", "https://c.org/", nil), ("/poll", "https://c.org/", nil), ("//c.org/poll", "https://c.org/", nil),
        ] {
            #expect(own(text, at: server) == expected, "\(text) at \(server)")
        }
        // Two slashes would begin the name of a host.
        let doubled = own("http://c.org//evil.org/poll", at: "https://c.org/")
        #expect(doubled.map { $0.hasPrefix("https://c.org/") } ?? true)
    }

    @Test(
        "A server without sign-ins with the browser is reported as such",
        arguments: [(404, "x"), (405, ""), (200, "<html></html>")])
    func unsupported(status: Int, body: String) async throws {
        let server = try ScriptedServer { _ in .answer(status, body) }
        try await serving {
            let failure = await failure(of: try begin(at: server))
            #expect(failure == "the server offers no sign-in with the browser")
        }
        #expect(server.requests.count == 1)
    }

    @Test("Vitrine asks again after temporary errors, and ends the sign-in after twenty minutes")
    func expires() async throws {
        let server = try server { _ in .answer(503, headers: ["Retry-After: 1000"]) }
        try await serving {
            let signIn = try begin(at: server)
            var alarms: [Duration] = []
            while alarms.last != BrowserSignIns.lifetime { alarms.append(await clock.advanceToNextAlarm()) }
            #expect(await failure(of: signIn, afterWaiting: true) == "you did not sign in within 20 minutes")
            #expect(alarms.prefix(3) == [.seconds(2), .seconds(62), .seconds(122)])
            // One request begins the sign-in, and the last alarm is its end.
            #expect(server.requests.count == alarms.count)
        }
    }

    @Test("A permanent error ends the sign-in")
    func fails() async throws {
        let server = try server { _ in .answer(403, "") }
        try await serving {
            let signIn = try begin(at: server)
            await clock.advanceToNextAlarm()
            #expect(await failure(of: signIn, afterWaiting: true)?.contains("403") == true)
        }
    }

    @Test("The end of the wish, or another sign-in, ends the requests at once")
    func isCancelled() async throws {
        let (first, second) = (try server(), try server())
        try await serving {
            let abandoned = try begin(at: first)
            _ = await stage(of: abandoned)
            await clock.advanceToNextAlarm()
            await untilVitrineWaits()
            wishes.signIn(withBrowser: nil)
            activity.endSignIn(abandoned)
            let signIn = try begin(at: second)
            _ = await stage(of: signIn)
            await untilVitrineWaits()
            await clock.advanceToNextAlarm()
            await untilVitrineWaits()
            #expect(clock.alarms.count == 1)
            #expect(activity.stage(of: abandoned) == nil)
        }
        #expect(first.requests.count == 2 && second.requests.count == 2)
    }
}
