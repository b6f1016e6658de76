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
}
