import Foundation
import TestSupport
import Testing

/// `vitrine sync` of several galleries, as scripts use it.
@Suite(.ownThread, .serialized) struct SyncTests {
    private let home = Household()

    @Test("A mistyped address does not make later updates of all galleries fail")
    func mistypedAddress() throws {
        #expect(try home.vitrine("sync", Built.testGallery + "/missing.xml").status == 1)
        #expect(try home.vitrine("sync", "--list-only", Built.testGallery).status == 0)
        let sync = try home.vitrine("sync", "--list-only")
        #expect(sync.status == 0 && sync.errors.isEmpty, "\(sync.errors)")
        #expect(sync.lines.count == 1 && sync.text.hasSuffix("\t28 photos\n"), "\(sync.text)")
    }

    @Test("In a narrow terminal, progress fills one row")
    func narrowTerminal() throws {
        let isSeen = Gate()
        let server = try ScriptedServer { _ in [.hold(isSeen)] + .answer(200, "<album/>") }
        let address = server.url("/\(String(repeating: "a", count: 80))/index.xml")
        let session = try TerminalSession(
            arguments: ["sync", "--list-only", address], columns: 40, environment: home.environment())
        defer { isSeen.open() }
        #expect(session.until { $0.text(inRow: 0).hasPrefix("http://") && $0.text.contains("…") })
        #expect((1..<24).allSatisfy { session.screen.text(inRow: $0).isEmpty }, "\(session.screen.text)")
        isSeen.open()
        #expect(session.wait() == 0)
    }
}
