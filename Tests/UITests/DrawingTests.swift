import Cells
import Foundation
import Model
import Testing

@testable import UI

/// The small parts of screens.
@Suite struct DrawingTests {
    @Test func datesFollowTheLocale() {
        setenv("TZ", "UTC", 1)
        let moment = Timestamp(milliseconds: 1_154_245_637_999)
        #expect(DateText.long(moment) == "Sun 30 Jul 2006  07:47")
        #expect(DateText.short(moment) == "2006-07-30 07:47:17")
        #expect(DateText.long(Timestamp(milliseconds: -1)) == "Wed 31 Dec 1969  23:59")
        #expect(DateText.long(Timestamp(milliseconds: 1_154_390_400_000)) == "Tue  1 Aug 2006  00:00")
    }

    @Test(arguments: [(-1.0, 0), (0, 0), (0.04, 0), (0.05, 1), (0.5, 5), (0.94, 9), (0.95, 10), (1, 10), (7, 10)])
    func barsFillFromTheLeft(fraction: Double, done: Int) {
        let theme = Theme(Capabilities())
        var surface = Surface(size: Size(columns: 12, rows: 1))
        ProgressBar.draw(
            fraction, in: &surface, Rect(column: 1, row: 0, columns: 10, rows: 1), theme)
        let bar = String(repeating: "━", count: done) + String(repeating: "─", count: 10 - done)
        #expect(surface.text == " " + bar)
        #expect((1...10).allSatisfy { surface[$0, 0].style == ($0 <= done ? theme.barDone : theme.barLeft) })
    }

    @Test func aGalleryIsNamedByItsLocation() throws {
        #expect(GalleryTitle.text(try Address("http://example.org/a/b.xml?c=d")) == "example.org/a/b.xml?c=d")
        #expect(GalleryTitle.text(try Address("https://me:secret@example.org:8443/")) == "example.org:8443/")
        #expect(GalleryTitle.text(Address(filePath: "/a folder/ä")) == "/a folder/ä")
    }

    @Test func theSelectionIsVisibleWithoutColours() {
        let theme = Theme(Capabilities(colours: .none))
        #expect(theme.selectedName != theme.name)
        let styles = [theme.title, theme.name, theme.selectedName, theme.mark, theme.detail, theme.trouble, theme.key]
        #expect(styles.allSatisfy { $0.foreground == .terminal && $0.background == .terminal })
    }
}
