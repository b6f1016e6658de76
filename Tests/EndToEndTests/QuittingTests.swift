import Foundation
import TestSupport
import Testing

/// Leaving while the network hangs.
@Suite(.ownThread, .serialized) struct QuittingTests {
    private let home = Household()
    /// Opens when all that may be asked for at once has been asked for.
    private let isBusy = Gate()
    /// What every transfer waits for.
    private let gate = Gate()
    private let server: ScriptedServer

    /// Of forty photos thumbnails and photos are asked for, as many as find a place.
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

    /// Says when all are taken.
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
        "BEHAVIOURS 5.7: quitting waits for no transfer, and what they leave behind is swept at the next start",
        arguments: ["Q", "\u{03}", "qq"])
    func quitting(keys: String) throws {
        defer { gate.open() }
        let session = try browse("--transfers", "\(Self.transfers)", "--all-thumbnails", "--all-photos")
        #expect(isBusy.wait())
        // What is no thumbnail is a photo, and has a file.
        #expect((Self.transfers - Self.photos...Self.photos).contains(home.folder.entries(partial).count))
        // One key after the other, each on the screen that the one before has led to.
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
        for _ in 0..<200 where !home.folder.entries(partial).isEmpty {
            next.type("\u{0C}")
            next.untilQuiet(milliseconds: 50)
        }
        #expect(home.folder.entries(partial).isEmpty)
        #expect(next.until(shows: "1 of \(Self.photos)"))
        next.type("Q")
        #expect(next.wait() == 0)
    }

    /// What is saved meanwhile is one photo that has come and many that hang.
    @Test(
        "BEHAVIOURS 5.7, 5.8: quitting while everything hangs says what is left to save, and leaves no half of a file")
    func quittingWhileSaving() throws {
        defer { gate.open() }
        let session = try browse("--transfers", "\(Self.transfers)", "--all-thumbnails", "--all-photos")
        #expect(isBusy.wait())
        session.type("*s")
        #expect(session.until(shows: "Save \(Self.photos) photos to:"))
        session.type("\u{15}~/saved\r")
        #expect(session.until(shows: "saving 0 of \(Self.photos)"))
        session.type("Q")
        #expect(session.until(shows: "Quit all the same? (y/n)"))
        session.type("y")
        #expect(session.wait() == 0 && !gate.isOpen)
        let said = String(decoding: session.bytes, as: UTF8.self)
        let folder = home.folder.path("saved")
        #expect(
            said.contains("0 of \(Self.photos) photos are in \(folder). \(Self.photos) are left"), "\(said.suffix(300))"
        )
        #expect(home.folder.entries("saved").isEmpty)
    }
}
