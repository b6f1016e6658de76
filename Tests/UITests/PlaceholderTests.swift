import Cells
import Model
import TestSupport
import Testing

@testable import UI

@MainActor @Suite(.unlessItHangs) struct PlaceholderTests {
    private let screens: TestScreens
    private let reason = Failure("the server answered 404", remedy: .none)

    init() throws { screens = try TestScreens() }

    /// The middle cell of the first thumbnail.
    private var middle: Cell { screens.frame()[4, 2] }

    private func isPicture(red: UInt8) -> Bool { screens.frame()[1, 1].style.background == .rgb(red, 0, 0) }

    @Test("BEHAVIOURS 3.2: awaited, postponed and failed thumbnails look different")
    func three() async throws {
        try await screens.sync(["a"])
        screens.open()
        let awaited = middle
        try await screens.note(.putOff(reason), for: .thumbnail, of: "a")
        try await screens.until { screens.text.contains("Thumbnail (retry later): the server answered 404") }
        let putOff = middle
        try await screens.note(.bad(reason), for: .thumbnail, of: "a")
        try await screens.until { screens.text.contains("Thumbnail: the server answered 404") }
        let bad = middle
        #expect([awaited.text, putOff.text, bad.text] == ["…", "~", "×"])
    }

    @Test("BEHAVIOURS 3.2: a failed photo without a thumbnail shows the failure in its place")
    func withoutThumbnail() async throws {
        try await screens.sync([TestScreens.entry("a", date: 0, thumbnail: false)])
        try await screens.note(.bad(reason), for: .original, of: "a")
        screens.open()
        #expect(middle.text == "×" && screens.text.contains("Photo: the server answered 404"))
    }

    @Test("BEHAVIOURS 3.2: a failure never hides an older thumbnail", arguments: [true, false])
    func olderStays(isBad: Bool) async throws {
        try await screens.sync(["a"])
        try await screens.store(TestScreens.picture(red: 200), as: .thumbnail, of: "a")
        screens.open()
        try await screens.until { isPicture(red: 200) }
        try await screens.sync([TestScreens.entry("a", date: 1)])
        try await screens.note(isBad ? .bad(reason) : .putOff(reason), for: .thumbnail, of: "a")
        try await screens.until { screens.text.contains("the server answered 404") }
        #expect(isPicture(red: 200))
        // After a restart, the place of the older thumbnail shows "awaited" until it is drawn.
        let (another, log) = (try TestScreens(), screens.log)
        try await another.sync(["a"])
        try await another.store(TestScreens.picture(red: 201), as: .thumbnail, of: "a")
        try await another.sync([TestScreens.entry("a", date: 1)])
        try await another.note(isBad ? .bad(reason) : .putOff(reason), for: .thumbnail, of: "a")
        another.open()
        #expect(another.frame()[4, 2].text == "…")
        try await another.until { another.frame()[1, 1].style.background == .rgb(201, 0, 0) }
        #expect(log.entries.allSatisfy { $0.level != .error })
    }

    @Test("BEHAVIOURS 2.6, 3.2: an undecodable thumbnail is reported and does not replace the older one")
    func undecodable() async throws {
        try await screens.sync(["a"])
        try await screens.store(TestScreens.picture(red: 200), as: .thumbnail, of: "a")
        screens.open()
        try await screens.until { isPicture(red: 200) }
        try await screens.sync([TestScreens.entry("a", date: 1)])
        try await screens.store([0xFF, 0xD8, 0xFF, 0x00], as: .thumbnail, of: "a")
        try await screens.until { screens.text.contains("Thumbnail: ") && isPicture(red: 200) }
        #expect(isPicture(red: 200))
        // A good thumbnail replaces it.
        try await screens.sync([TestScreens.entry("a", date: 2)])
        try await screens.store(TestScreens.picture(red: 100), as: .thumbnail, of: "a")
        try await screens.until { isPicture(red: 100) && !screens.text.contains("Thumbnail: ") }
        #expect(isPicture(red: 100))
    }

    @Test("The picture drawn from a photo stays until the new thumbnail is drawn")
    func photoStays() async throws {
        try await screens.sync(["a"])
        try await screens.store(TestScreens.picture(red: 200), as: .original, of: "a")
        screens.open()
        try await screens.until { isPicture(red: 200) }
        try await screens.store(TestScreens.picture(red: 100), as: .thumbnail, of: "a")
        var shown: Set<String> = []
        try await screens.until {
            shown.insert(middle.text)
            return isPicture(red: 100)
        }
        #expect(!shown.contains("…"))
    }

    @Test("A blurred picture stands in until the thumbnail arrives, but never hides a failure")
    func blurred() async throws {
        var entry = try TestScreens.entry("a", date: 0)
        entry.thumbhash = "1QcSHQRnh493V4dIh4eXh1h4kJUI"
        try await screens.sync([entry])
        screens.open()
        guard case .rgb(let red, _, let blue) = middle.style.foreground else {
            Issue.record("\(middle)")
            return
        }
        // The picture is brown in the middle.
        #expect(middle.text == "▀" && red > blue + 20)
        try await screens.note(.putOff(reason), for: .thumbnail, of: "a")
        try await screens.until { screens.text.contains("Thumbnail (retry later)") }
        #expect(middle.text == "~")
        try await screens.store(TestScreens.picture(red: 200), as: .thumbnail, of: "a")
        try await screens.until { isPicture(red: 200) }
    }
}
