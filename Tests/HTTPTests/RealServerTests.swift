import Foundation
import Glibc
import Logging
import Numbers
import TestSupport
import Testing

@testable import HTTP

/// Real servers and proxies.
@Suite(.ownThread) struct RealServerTests {
    private static let photo = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    private static let list = Array(String(repeating: "<photo/>", count: 10_000).utf8)
    private static let files = ["photo.jpg": photo, "list.xml": list]

    private func probe(_ change: (inout HTTPConfiguration) -> Void = { _ in }) -> Probe {
        var configuration = HTTPConfiguration(connectTimeout: 60, stallTimeout: 60)
        change(&configuration)
        return Probe(configuration)
    }

    private func request(_ url: String, _ credentials: HTTPRequest.Credentials? = nil) -> HTTPRequest {
        HTTPRequest(url: url, credentials: credentials, destination: .stream, limit: 1 << 20, allowsCompression: true)
    }

    private let me = HTTPRequest.Credentials(user: "me", password: "s3cret")

    @Test("BEHAVIOURS 5.10: nginx accepts a password or a token")
    func nginxKnows() async throws {
        let (server, probe) = (try LoopbackServer.nginx(files: Self.files), probe())
        let open = try await probe.fetch(request(server.url("/photo.jpg")))
        #expect(open.bytes == Self.photo && open.response?.length == 200_000)
        let stranger = try await probe.fetch(request(server.url("/basic/photo.jpg")))
        #expect(stranger.response?.challenges == [HTTPChallenge(isProxy: false, scheme: "basic", realm: "photos")])
        #expect(try await probe.fetch(request(server.url("/basic/photo.jpg"), me)).bytes == Self.photo)
        let unknown = try await probe.fetch(request(server.url("/bearer/photo.jpg"))).response
        #expect(unknown?.challenges == [HTTPChallenge(isProxy: false, scheme: "bearer", realm: "photos")])
        let token = HTTPRequest.Credentials(bearer: "t0ken")
        #expect(try await probe.fetch(request(server.url("/bearer/photo.jpg"), token)).bytes == Self.photo)
    }

    @Test func compressed() async throws {
        let (server, probe, meter) = (try LoopbackServer.nginx(files: Self.files), probe(), TransferMeter())
        var request = request(server.url("/list.xml"))
        request.meter = meter
        let outcome = try await probe.fetch(request)
        #expect(outcome.bytes == Self.list && outcome.response?.headers["content-encoding"] == "gzip")
        // Bytes on the network count.
        let metrics = try #require(outcome.metrics)
        #expect(metrics.bytes < 10_000 && meter.reading.bytes == metrics.bytes)
    }

    @Test("BEHAVIOURS 5.9: nginx sends the rest, or the whole after a change")
    func resumed() async throws {
        let (server, probe, folder) = (try LoopbackServer.nginx(files: Self.files), probe(), TestFolder())
        let first = try await probe.fetch(request(server.url("/photo.jpg")))
        let validator = try #require(first.response?.resumptionValidator)
        for (expected, begin) in [(Self.photo, 100_000), (Array(Self.photo.reversed()), 0)] {
            let path = folder.write("part", Array(Self.photo.prefix(100_000)))
            let descriptor = open(path, O_RDWR)
            defer { close(descriptor) }
            if begin == 0 {
                server.folder.write("photo.jpg", expected)
                utimes(server.folder.path("photo.jpg"), [timeval(), timeval()])
            }
            let outcome = try await probe.fetch(
                HTTPRequest(
                    url: server.url("/photo.jpg"), destination: .file(try BodyFile(duplicating: descriptor)),
                    resumption: .init(offset: 100_000, validator: validator), limit: 1 << 20))
            #expect(outcome.response?.begin == ByteCount(begin) && outcome.response?.length == 200_000)
            #expect(Array(FileManager.default.contents(atPath: path) ?? Data()) == expected)
        }
    }

    @Test func secure() async throws {
        let authority = try TestAuthority()
        let server = try LoopbackServer.nginx(authority.issue(.good), files: Self.files)
        let (probe, meter) = (probe { $0.certificates = authority.certificate }, TransferMeter())
        var request = request(server.url("/basic/photo.jpg", scheme: "https"), me)
        (request.meter, request.weight) = (meter, 256)
        #expect(try await probe.fetch(request).bytes == Self.photo)
        #expect(meter.reading.version == .http2 && meter.reading.connect == nil)
    }

    /// Other transfers still run on the connection when one has ended.
    @Test func sharedConnectionsCountPackets() async throws {
        let authority = try TestAuthority()
        let server = try LoopbackServer.nginx(authority.issue(.good), files: Self.files)
        let probe = probe { $0.certificates = authority.certificate }
        let meters = (0..<16).map { _ in TransferMeter() }
        try await withThrowingTaskGroup { group in
            for meter in meters {
                var request = request(server.url("/photo.jpg", scheme: "https"))
                request.meter = meter
                group.addTask { [request] in _ = try await probe.fetch(request) }
            }
            try await group.waitForAll()
        }
        #expect(meters.count { $0.reading.connect != nil } == 1, "they share one")
        #expect(meters.allSatisfy { $0.reading.packets != nil })
        let received = meters.reduce(0) { $0 + ($1.reading.packets?.received ?? 0) }
        // As many packets as loopback carries, long or short.
        #expect((16 * 200_000 / 65_536...16 * 200_000 / 500).contains(received))
    }

    /// An unread answer occupies its share of a connection.
    @Test func twoShareAConnection() async throws {
        let authority = try TestAuthority()
        let length = 1_000_000
        let server = try LoopbackServer.nginx(
            authority.issue(.good), files: ["photo.jpg": [UInt8](repeating: 7, count: length)])
        let probe = probe { $0.certificates = authority.certificate }
        var transfers: [HTTPTransfer] = []
        var connections: [Bool] = []
        for connection in [.few, .few, .few, .few, .any] as [HTTPRequest.Connection] {
            let meter = TransferMeter()
            var request = request(server.url("/photo.jpg", scheme: "https"))
            (request.connection, request.meter) = (connection, meter)
            let transfer = probe.client.transfer(request)
            transfers.append(transfer)
            for try await case .response in transfer { break }
            connections.append(meter.reading.connect != nil)
            #expect(meter.reading.version == .http2)
        }
        #expect(connections == [true, false, true, false, true])
        for transfer in transfers {
            var count = 0
            for try await case .bytes(let bytes) in transfer { count += bytes.count }
            #expect(count == length)
        }
    }

    @Test("BEHAVIOURS 5.10: a client certificate is shown to its host only")
    func ownCertificate() async throws {
        let (authority, clients) = (try TestAuthority(), try TestAuthority())
        let server = try LoopbackServer.nginx(authority.issue(.good), clients: clients, files: Self.files)
        let url = server.url("/photo.jpg", scheme: "https")
        let pair = try clients.issue(.good)
        for (host, status) in [(nil, 200), ("127.0.0.1", 200), ("else.test", 400)] as [(String?, Int)] {
            let probe = probe {
                $0.certificates = authority.certificate
                $0.clientCertificate = ClientCertificate(file: pair.certificate, key: pair.key, host: host)
            }
            var named = request(url)
            named.isNamedByUser = true
            #expect(try await probe.fetch(named).response?.status == status)
            // A list or a redirect that names the host is not the user.
            #expect(try await probe.fetch(request(url)).response?.status == (host == "127.0.0.1" ? 200 : 400))
            let away = try ScriptedServer { _ in .answer(302, headers: ["Location: \(url)"]) }
            named.url = away.url("/")
            #expect(try await probe.fetch(named).response?.status == 400)
        }
        let missing = probe {
            $0.certificates = authority.certificate
            $0.clientCertificate = ClientCertificate(file: "/nowhere.pem", key: "/nowhere.key")
        }
        var named = request(url)
        named.isNamedByUser = true
        guard case .ownCertificate? = await missing.failure(named) else {
            Issue.record("no certificate, and no complaint")
            return
        }
    }

    /// After a redirect, a "default" entry could match any host.
    @Test(
        "BEHAVIOURS 5.10: after a redirect netrc is used only for the same host over TLS",
        arguments: ["machine 127.0.0.1", "default"])
    func netrcAndRedirects(entry: String) async throws {
        let (authority, folder) = (try TestAuthority(), TestFolder())
        let server = try LoopbackServer.nginx(authority.issue(.good), files: Self.files)
        let netrc = folder.write("netrc", "\(entry) login me password s3cret\n")
        let probe = probe { ($0.certificates, $0.netrc) = (authority.certificate, netrc) }
        let url = server.url("/basic/photo.jpg", scheme: "https")
        let away = try ScriptedServer { _ in .answer(302, headers: ["Location: \(url)"]) }
        let around = try ScriptedServer { _ in
            .answer(302, headers: ["Location: \(away.url("/").replacing("127.0.0.1", with: "localhost"))"])
        }
        let elsewhere = away.url("/").replacing("127.0.0.1", with: "localhost")
        for (begin, status) in [(away.url("/"), 200), (elsewhere, 401), (around.url("/"), 401)] {
            var request = request(begin)
            request.isNamedByUser = true
            #expect(try await probe.fetch(request).response?.status == status, "\(begin)")
        }
    }

    /// The server closes a connection after so many requests; no transfer is lost.
    @Test(arguments: ["http", "https"]) func oldConnectionsAreReplaced(scheme: String) async throws {
        let authority = try TestAuthority()
        let server = try LoopbackServer.nginx(
            scheme == "https" ? authority.issue(.good) : nil, requests: 25, files: ["photo.jpg": [1, 2, 3]])
        let probe = probe { $0.certificates = authority.certificate }
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for number in 0..<300 {
                if number >= 40 { #expect(try await group.next() == [1, 2, 3]) }
                group.addTask { try await probe.fetch(request(server.url("/photo.jpg", scheme: scheme))).bytes }
            }
            for try await bytes in group { #expect(bytes == [1, 2, 3]) }
        }
    }

    @Test("BEHAVIOURS 5.10: Apache accepts a digest")
    func digest() async throws {
        let (server, probe) = (try LoopbackServer.apache(files: Self.files), probe())
        let stranger = try await probe.fetch(request(server.url("/photo.jpg")))
        #expect(stranger.response?.challenges == [HTTPChallenge(isProxy: false, scheme: "digest", realm: "photos")])
        for _ in 0..<2 { #expect(try await probe.fetch(request(server.url("/photo.jpg"), me)).bytes == Self.photo) }
        let wrong = HTTPRequest.Credentials(user: "me", password: "wrong")
        #expect(try await probe.fetch(request(server.url("/photo.jpg"), wrong)).response?.status == 401)
        #expect(!probe.log.entries.contains { $0.message.contains("s3cret") })
    }

    @Test("BEHAVIOURS 5.10: tinyproxy accepts credentials for pages and tunnels", arguments: ["http", "https"])
    func proxies(scheme: String) async throws {
        let authority = try TestAuthority()
        let server = try LoopbackServer.nginx(
            scheme == "https" ? authority.issue(.good) : nil, files: Self.files)
        let (open, closed) = (
            try LoopbackServer.tinyproxy(wantsPassword: false), try LoopbackServer.tinyproxy(wantsPassword: true)
        )
        func fetch(_ proxy: String) async throws -> Probe.Outcome {
            let probe = probe {
                $0.certificates = authority.certificate
                $0.proxies = ProxyChoice { $0 == "all_proxy" ? proxy : nil }
            }
            return try await probe.fetch(request(server.url("/basic/photo.jpg", scheme: scheme), me))
        }
        #expect(try await fetch("127.0.0.1:\(open.port)").bytes == Self.photo)
        #expect(try await fetch("me:s3cret@127.0.0.1:\(closed.port)").bytes == Self.photo)
        let asked = [HTTPChallenge(isProxy: true, scheme: "basic", realm: "Tinyproxy")]
        let unknown = try await fetch("127.0.0.1:\(closed.port)").response
        #expect(unknown?.status == 407 && unknown?.challenges == asked)
        // It answers a wrong password like a server.
        let wrong = try await fetch("me:wrong@127.0.0.1:\(closed.port)").response
        #expect(wrong?.status == 407 && wrong?.challenges == asked)
        let place = "http://127.0.0.1:\(closed.port)"
        #expect(unknown?.proxyRefusal == ProxyRefusal(proxy: place, wasTold: false))
        #expect(wrong?.proxyRefusal == ProxyRefusal(proxy: place, wasTold: true))
    }
}
