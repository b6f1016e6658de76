import Foundation
import Session
import HTTP
import Logging
import Model
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// The receivers of a password, and the places where it may be written.
@Suite struct SecrecyTests {
    /// How the server or proxy learns the password.
    enum Way: CaseIterable, Sendable {
        case basic
        case digest
        case bearer
        case netrc
        case proxy
    }

    private let folder = TestFolder()
    private let elsewhere = TestFolder()
    /// A password that never needs escaping, and one that always does.
    private static let passwords = ["s3cretword", "p@ss/wörd%"]

    /// A gallery whose host asks for credentials. All its pictures lead to another host.
    private static func list(_ other: ScriptedServer) -> String {
        let photos = ["own", "away", "gone", "other"].map { id in
            let place = id == "other" ? other.url("/t/other") : "t/\(id)"
            return """
                <photo id="\(id)" name="\(id)" date="2006-01-01T00:00:00Z">
                <image kind="image" srcURL="p/\(id)"/><image kind="thumbnail" srcURL="\(place)"/></photo>
                """
        }
        return "<album>\(photos.joined())</album>"
    }

    private static func answer(_ path: String, _ other: ScriptedServer) -> [ScriptedServer.Step] {
        if path.hasSuffix("/index.xml") { return .answer(200, list(other)) }
        if path.hasSuffix("/away") { return .answer(307, headers: ["Location: \(other.url("/taken"))"]) }
        return path.hasSuffix("/gone") ? .answer(410) : .answer(200, NetworkTest.picture("own"))
    }

    /// Whether the password was sent by the requested method.
    private static func isKnown(_ request: ScriptedServer.Request, _ way: Way, _ password: String) -> Bool {
        let basic = "Basic " + Data("me:\(password)".utf8).base64EncodedString()
        return switch way {
        case .basic, .netrc: request.headers["authorization"] == basic
        case .digest: request.headers["authorization"]?.hasPrefix("Digest username=\"me\"") == true
        case .bearer: request.headers["authorization"] == "Bearer \(password)"
        case .proxy: request.headers["proxy-authorization"] == basic
        }
    }

    private static func question(_ way: Way) -> [ScriptedServer.Step] {
        switch way {
        case .basic, .netrc: .answer(401, headers: ["WWW-Authenticate: Basic realm=\"photos\""])
        case .digest:
            .answer(
                401, headers: ["WWW-Authenticate: Digest realm=\"photos\", nonce=\"n\", qop=\"auth\", algorithm=MD5"])
        case .bearer: .answer(401, headers: ["WWW-Authenticate: Bearer realm=\"photos\""])
        case .proxy: .answer(407, headers: ["Proxy-Authenticate: Basic realm=\"way out\""])
        }
    }

    /// The texts that must appear nowhere: the password and its equivalents.
    private static func secrets(_ password: String, _ server: ScriptedServer) throws -> [Secret] {
        // A digest's answer serves one challenge, which is the same for all of them here. So the answers are secret
        // too.
        let digests = server.requests.compactMap { $0.headers["authorization"] }
            .flatMap { $0.matches(of: #/response="([^"]+)"/#).map { String($0.output.1) } }
        return try [password, MD5.text(of: "me:photos:\(password)")].map(Secret.init) + Set(digests).map(Secret.init)
    }

    @Test(
        "BEHAVIOURS 5.10: credentials are sent to no other server and written nowhere", arguments: Way.allCases,
        Self.passwords)
    func secrets(way: Way, password: String) async throws {
        // Another port is another origin; through a proxy, it sees all of them. One of them is on a host that netrc
        // names.
        let other = try ScriptedServer { _ in
            way == .netrc ? Self.question(way) : .answer(200, NetworkTest.picture("other"))
        }
        let server = try ScriptedServer { request in
            Self.isKnown(request, way, password) ? Self.answer(request.path, other) : Self.question(way)
        }
        var configuration = HTTPConfiguration(connectTimeout: 60, stallTimeout: 60)
        var address = server.url("/index.xml")
        let credentials = CredentialStore()
        let encoded = try #require(password.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        switch way {
        case .basic, .digest: address = address.replacing("//", with: "//me:\(encoded)@")
        case .bearer: credentials.take(.token(password), for: .origin(try #require(try Address(address).origin)))
        case .netrc:
            configuration.netrc = elsewhere.write("netrc", "machine 127.0.0.1 login me password \(password)\n")
        case .proxy:
            address = "http://photos.test/index.xml"
            configuration.proxies = ProxyChoice { [server] in
                $0 == "http_proxy" ? "me:\(encoded)@127.0.0.1:\(server.port)" : nil
            }
        }
        let file = try LogFile(path: folder.path("log"))
        let log = Log(level: .debug, file: file)
        let activity = Activity()
        let caches = try CacheFolder(
            path: folder.path("cache"), log: log, activity: activity, credentials: credentials)
        let cache = try caches.open(Address(address))
        let wishes = Wishes()
        let controller = NetworkController(
            wishes: wishes, context: RequestContext(caches: caches, activity: activity, log: log),
            client: HTTPClient(configuration, log: log), clock: ManualClock())
        let changes = activity.changes()
        let running = Task { await controller.run() }
        defer { running.cancel() }
        for subject in [
            Wish.Subject.list(cache.id), .everyPicture(cache.id, .thumbnail), .everyPicture(cache.id, .original),
        ] {
            wishes.ask(for: subject)
            let snapshots = wishes.snapshots()
            for await _ in snapshots where !wishes.isStanding(subject) { break }
        }
        withExtendedLifetime(changes) {}
        file.flush()

        #expect(server.requests.contains { Self.isKnown($0, way, password) })
        let held = try cache.read { try $0.thumbnail(of: #require(try $0.photo(galleryID: "own")).key) }
        #expect(held?.bytes == NetworkTest.picture("own"))
        // Through the proxy, no other host is reached.
        #expect(other.requests.isEmpty == (way == .proxy))
        let heard = other.requests.flatMap { ["\($0.path)"] + $0.headers.map { "\($0.key): \($0.value)" } }
        let said = log.entries.map(\.message) + activity.failures.map(\.failure.reason) + [cache.address.text]
        #expect(other.requests.allSatisfy { $0.headers["authorization"] == nil })
        #expect(other.requests.allSatisfy { $0.headers["proxy-authorization"] == nil })
        let secrets = try Self.secrets(password, server)
        #expect(secrets.count >= (way == .digest ? 3 : 2))
        for text in heard + said { #expect(secrets.flatMap { $0.traces(in: text) } == [], "\(text)") }
        expectNothingWritten(secrets)
    }

    private func expectNothingWritten(_ secrets: [Secret]) {
        #expect((FileManager.default.subpaths(atPath: folder.path) ?? []).count > 2)
        #expect(secrets.flatMap { $0.traces(below: folder.path) } == [])
    }

    @Test func aSecretIsFoundHoweverItIsWritten() throws {
        let secret = Secret(Self.passwords[1])
        for (begin, end) in [("me:", ""), ("", "x"), ("ab", "yz"), ("?", "~~~")] {
            let text = begin + secret.text + end
            let json = String(decoding: try JSONEncoder().encode(["a": text]), as: UTF8.self)
            for written in [
                text, PercentEncoding.encode(text, keepingEscapes: false), Data(text.utf8).base64EncodedString(),
                PercentEncoding.encode(text, keepingEscapes: false, also: "@/").lowercased(),
                "user=\(Data(text.utf8).base64EncodedString())",
            ] {
                #expect(!secret.traces(in: "before \(written) behind").isEmpty, "\(written)")
            }
            #expect(!secret.traces(in: json.replacing("\\/", with: "/")).isEmpty)
        }
        #expect(!secret.traces(in: #"{"a": "p@ss/w\u00f6rd%"}"#).isEmpty)
        #expect(secret.traces(in: "p@ss/word% cEBzcy93b3Jk p%40ss").isEmpty)
        folder.write("a/p%40ss%2Fw%C3%B6rd%25/b", "")
        folder.write("c", "..\(secret.text)..")
        #expect(secret.traces(below: folder.path).count == 3)
    }

    /// Failure texts and printed objects never contain credentials.
    @Test("BEHAVIOURS 5.10: no failure’s words name a password", arguments: [401, 403, 407, 500])
    func words(status: Int) async throws {
        let secret = Secret(Self.passwords[0])
        let log = Log(level: .debug)
        let server = try ScriptedServer { _ in
            .answer(status, "sorry", headers: ["WWW-Authenticate: Basic realm=\"photos\""])
        }
        let caches = try CacheFolder(path: folder.path("cache"), log: log)
        let address = server.url("/index.xml").replacing("//", with: "//me:\(secret.text)@")
        let cache = try caches.open(Address(address))
        let context = RequestContext(caches: caches, activity: Activity(), log: log)
        let request = try #require(try GalleryListRequest.make(for: .list(cache.id), in: context))
        do {
            try await request.perform(over: HTTPClient(log: log))
            Issue.record("it succeeded")
        } catch {
            var dumped = "\(error) \(RequestError(error).failure) \(request)"
            dump(error, to: &dumped)
            #expect(secret.traces(in: dumped) == [])
        }
        await request.recordPostponement(Failure("x", remedy: .time))
        #expect(log.entries.flatMap { secret.traces(in: $0.message) } == [])
        expectNothingWritten([secret])
    }
}
