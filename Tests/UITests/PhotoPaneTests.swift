import Cells
import Model
import TestSupport
import Testing

@testable import Cache
@testable import UI

@MainActor @Suite(.unlessItHangs) struct PhotoPaneTests {
    private let screens: TestScreens

    init() throws { screens = try TestScreens() }

    /// Opens 50 photos: the second has a thumbnail, the third is cached.
    private func open(_ size: Size) async throws {
        screens.size = size
        try await screens.sync((0..<50).map { "\($0)" })
        try await screens.store(TestScreens.picture(red: 100), as: .thumbnail, of: "1")
        try await screens.store(TestScreens.picture(red: 200), as: .original, of: "2")
        screens.open()
    }

    /// The column between the list and the pane, or nil without a pane.
    private var left: Int? {
        let frame = screens.frame()
        return (1..<screens.size.columns - 1).first { column in
            (1..<screens.size.rows - 1).allSatisfy { ["│", "█"].contains(frame[column, $0].text) }
        }
    }

    /// The lines of the pane.
    private func said() throws -> [String] {
        let (frame, left) = (screens.frame(), try #require(left))
        return (1..<screens.size.rows - 1).map { row in
            (left + 2..<screens.size.columns).reduce("") { $0 + frame[$1, row].text }
                .trimmed
        }
    }

    private func shows(red: UInt8) throws -> Bool {
        let (frame, left) = (screens.frame(), try #require(left))
        return (1..<screens.size.rows - 1).contains { row in
            (left + 2..<screens.size.columns).contains { frame[$0, row].style.background == .rgb(red, 0, 0) }
        }
    }

    @Test func thePaneOfAnEmptyGalleryCanBeHidden() async throws {
        screens.size = Size(columns: 200, rows: 24)
        screens.open()
        _ = screens.frame()
        screens.press("i")
        #expect(!screens.status.contains("needs"))
    }

    @Test(arguments: [(80, 24, nil), (40, 12, nil), (20, 5, nil), (119, 24, nil), (120, 24, 71), (200, 60, 119)])
    func aWideWindowHasAPreviewPane(columns: Int, rows: Int, place: Int?) async throws {
        try await open(Size(columns: columns, rows: rows))
        #expect(left == place)
        screens.press(Key(.tab))
        #expect(left == place)
        screens.press("i")
        #expect(left == nil)
        if place == nil {
            #expect(screens.text.contains(" The preview pane"))
        } else {
            screens.press("i")
            #expect(left == place)
        }
    }

    @Test func thePaneFollowsTheRestingSelection() async throws {
        try await open(Size(columns: 120, rows: 24))
        #expect(try said().contains("Photo 0"))
        screens.press("j")
        #expect(try said().contains("Photo 0") && screens.selected?.hasPrefix("Photo 1") == true)
        #expect(await screens.waits.nextBegin() == PhotoPane.restInterval)
        // Another key restarts the wait.
        screens.press("k", "j")
        _ = screens.frame()
        screens.waits.pass()
        try await screens.until { try shows(red: 100) }
        #expect(try said().contains("Photo 1") && !said().contains("Photo 0"))
        screens.press("j")
        _ = screens.frame()
        // The picture stays until the next photo has one.
        #expect(try said().contains("Photo 1") && shows(red: 100))
        #expect(await screens.waits.nextBegin() == PhotoPane.restInterval)
        screens.waits.pass()
        try await screens.until { try shows(red: 200) && said().contains { $0.contains("40 × 30") } }
        #expect(try said().contains("Photo 2") && said().contains { $0.hasPrefix("Cached, ") })
    }

    @Test func thePaneFetchesNothing() async throws {
        try await open(Size(columns: 200, rows: 60))
        screens.press(Key(.tab))
        _ = screens.frame()
        screens.press("l")
        _ = screens.frame()
        _ = await screens.waits.nextBegin()
        screens.waits.pass()
        try await screens.until { try shows(red: 100) }
        let photos = await screens.wished().filter {
            if case .picture(_, _, .original) = $0.subject { true } else { false }
        }
        #expect(photos.isEmpty)
    }

    @Test func thePaneReportsAFailure() async throws {
        try await open(Size(columns: 120, rows: 24))
        try await screens.note(.bad(Failure("the server answered 404", remedy: .none)), for: .thumbnail, of: "0")
        try await screens.until { try said().contains("Thumbnail: the server answered 404") }
        #expect(try said().contains { $0.contains("×") })
    }

    @Test func aLineSeparatesThePaneFromAListWithoutABar() async throws {
        screens.size = Size(columns: 120, rows: 24)
        try await screens.sync(["a"])
        screens.open()
        #expect(left == 72)
    }

    @Test func anEmptyGalleryHasNoPane() async throws {
        screens.size = Size(columns: 120, rows: 24)
        screens.open()
        #expect(left == nil)
    }
}

extension String {
    fileprivate var trimmed: String {
        String(String(drop { $0 == " " }.reversed()).drop { $0 == " " }.reversed())
    }
}
