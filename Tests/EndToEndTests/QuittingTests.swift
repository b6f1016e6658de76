import Foundation
import TestSupport
import Testing

/// Quitting while the network hangs.
@Suite(.ownThread, .serialized) struct QuittingTests {
    private let home = Household()
    /// Opens when every possible request is made.
    private let isBusy = Gate()
    /// The gate that every transfer waits for.
    private let gate = Gate()
    private let server: ScriptedServer

    /// Vitrine requests thumbnails and photos of forty photos, as many as it may.
    private static let photos = 40
    private static let transfers = 64

    init() throws {
        let photos = (0..<Self.photos).map { number in
            """
            <photo id="\(number)" name="Photo \(number)" date="2006-01-01T00:00:00Z"><image kind="image" srcURL="p/\(number)"/>
            <image kind="thumbnail" srcURL="t/\(number)"/></photo>
            """
        }
        let list = "<album>\(photos.joined())</album>"
        let (isBusy, gate) = (isBusy, gate)
        let places = Places(Self.transfers) { isBusy.open() }
        server = try ScriptedServer { request in
            guard request.path != "/index.xml" else { return .answer(200, list) }
            places.take()
            guard request.path.hasPrefix("/p/") else { return [.hold(gate)] }
            let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 9000000\r\n\r\n"
            return [.send(head), .send([0xFF, 0xD8, 0xFF] + [UInt8](repeating: 0, count: 100_000)), .hold(gate)]
        }
    }

    /// Reports when all slots are taken.
    private final class Places: Sendable {
        private let lock = NSLock()
        private nonisolated(unsafe) var left: Int
        private let onTaken: @Sendable () -> Void

        init(_ count: Int, _ onTaken: @escaping @Sendable () -> Void) {
            (left, self.onTaken) = (count, onTaken)
        }

        func take() {
            lock.lock()
            left -= 1
            let isLast = left == 0
            lock.unlock()
            if isLast { onTaken() }
        }
    }

    private var partial: String {
        let galleries = ".cache/vitrine/galleries"
        return "\(galleries)/\(home.folder.entries(galleries).first ?? "")/partial"
    }

    private func browse(_ arguments: String...) throws -> TerminalSession {
        try TerminalSession(arguments: arguments + [server.url("/index.xml")], environment: home.environment())
    }

    @Test(
        "BEHAVIOURS 5.7: quitting waits for no transfer, and the next start removes their leftovers",
        arguments: ["Q", "\u{03}", "qq"])
    func quitting(keys: String) throws {
        defer { gate.open() }
        let session = try browse("--transfers", "\(Self.transfers)", "--all-thumbnails", "--all-photos")
        #expect(isBusy.wait())
        // Before the first frame, Ctrl-C is a signal and no key.
        #expect(session.until { $0.text(inRow: 0).contains("index.xml") })
        // All other transfers are photos with files.
        #expect((Self.transfers - Self.photos...Self.photos).contains(home.folder.entries(partial).count))
        // Each key applies to the screen that the previous one opened.
        if keys == "qq" {
            session.type("q")
            #expect(session.until { $0.text(inRow: 0).contains("Galleries") })
        }
        session.type(String(keys.suffix(1)))
        #expect(session.wait() == 0)
        #expect(!gate.isOpen && server.requests.count == 1 + Self.transfers)
        let left = try Command("/usr/bin/ps", ["-o", "pid=", "-s", "\(session.process)"])
        #expect(left.lines.isEmpty, "\(left.text)")

        let next = try browse("--offline")
        for _ in 0..<1_200 where !home.folder.entries(partial).isEmpty {
            next.type("\u{0C}")
            next.untilQuiet(milliseconds: 50)
        }
        #expect(home.folder.entries(partial).isEmpty)
        #expect(next.until(shows: "1 of \(Self.photos)"))
        next.type("Q")
        #expect(next.wait() == 0)
    }

    /// One photo is saved and many hang.
    @Test(
        "BEHAVIOURS 5.7, 5.8: quitting during hanging transfers reports unsaved photos and leaves no partial file")
    func quittingWhileSaving() throws {
        defer { gate.open() }
        let session = try browse("--transfers", "\(Self.transfers)", "--all-thumbnails", "--all-photos")
        #expect(isBusy.wait())
        // Keys typed before the first frame are lost.
        #expect(session.until { $0.text(inRow: 0).contains("index.xml") })
        session.type("*s")
        #expect(session.until(shows: "Save \(Self.photos) photos to:"))
        session.type("\u{15}~/saved\r")
        #expect(session.until(shows: "saving 0 of \(Self.photos)"))
        session.type("Q")
        #expect(session.until(shows: "s quit and stop"))
        session.type("s")
        #expect(session.wait() == 0 && !gate.isOpen)
        let said = String(decoding: session.bytes, as: UTF8.self)
        let folder = home.folder.path("saved")
        #expect(
            said.contains("Saved 0 of \(Self.photos) photos to \(folder). \(Self.photos) not saved yet"),
            "\(said.suffix(300))")
        #expect(home.folder.entries("saved").isEmpty)
    }
}
