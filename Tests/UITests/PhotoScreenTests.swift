import Cells
import Session
import Model
import TestSupport
import Testing

@testable import UI

@MainActor @Suite(.unlessItHangs) struct PhotoScreenTests {
    private let screens: TestScreens

    init() throws { screens = try TestScreens() }

    private func open(_ ids: [String] = ["a", "b"], at id: String = "a") async throws {
        try await screens.sync(ids)
        screens.open(at: id, isPhotoOpen: true)
    }

    /// The colour in the middle of the screen.
    private var middle: Colour {
        screens.frame()[screens.size.columns / 2, screens.size.rows / 2].style.background
    }

    /// What stands in the middle of the screen.
    private var said: String { screens.frame().text(inRow: 11) }

    private let reason = Failure("the server answered 404", remedy: .none)

    @Test("BEHAVIOURS 5.10: opening a photo tries again what another server wants a password for, once")
    func askedOnOpening() async throws {
        try await screens.sync(["a", "b"])
        let refused = Failure("a password is needed for other.example" + Failure.askedOnOpening, remedy: .none)
        for rendition in Rendition.allCases { try await screens.note(.bad(refused), for: rendition, of: "a") }
        screens.open(at: "a", isPhotoOpen: true)
        try await screens.until { try screens.photo("a").original.isWanting && screens.photo("a").thumbnail.isWanting }
        for rendition in Rendition.allCases {
            #expect(await screens.importance(of: try screens.subject("a", rendition)) == .lookedAt)
        }
        // Another failure then stays until the user asks for a retry.
        for rendition in Rendition.allCases { try await screens.note(.bad(refused), for: rendition, of: "a") }
        try await screens.until { screens.text.contains("a password is needed for") }
        #expect(try screens.photo("a").original.trouble == .bad(refused))
    }

    @Test("BEHAVIOURS 3.5: while it is on its way it says so, and how far it is")
    func loading() async throws {
        try await open()
        let subject = try screens.subject("a", .original)
        #expect(await screens.importance(of: subject) == .lookedAt)
        #expect(screens.status.hasPrefix(" Loading…") && said.contains("Loading…"))
        screens.activity.setProgress(Progress(done: 25_000, total: 100_000), of: subject)
        try await screens.until { screens.status.hasPrefix(" Loading… 25.0 KB of 100.0 KB") }
        // A bar in the status line, and one below the word in the middle.
        #expect(screens.status.contains("━━━───────") || screens.status.contains("━━────────"))
        let bar = screens.frame().text(inRow: 13).trimmingPrefix { $0 == " " }
        #expect(bar == String(repeating: "━", count: 10) + String(repeating: "─", count: 30))
        // Without a whole there is no part of it.
        screens.activity.setProgress(Progress(done: 30_000), of: subject)
        try await screens.until { screens.status.hasPrefix(" Loading… 30.0 KB ") }
        #expect(!screens.text.contains("━"))
        screens.activity.setProgress(nil, of: subject)
        try await screens.store(TestScreens.picture(red: 255), as: .original, of: "a")
        try await screens.until { middle == .rgb(255, 0, 0) }
        #expect(!screens.text.contains("Loading…") && screens.title.hasSuffix("1 of 2 · fit"))
    }

    @Test("BEHAVIOURS 3.5: the thumbnail is looked at until the photo is here")
    func preview() async throws {
        try await screens.sync(["a"])
        try await screens.store(TestScreens.picture(red: 90), as: .thumbnail, of: "a")
        screens.open(at: "a", isPhotoOpen: true)
        try await screens.until { middle == .rgb(90, 0, 0) }
        #expect(screens.status.hasPrefix(" Loading…"))
        try await screens.store(TestScreens.picture(red: 255), as: .original, of: "a")
        try await screens.until { middle == .rgb(255, 0, 0) }
        #expect(!screens.status.contains("Loading…"))
    }

    @Test("BEHAVIOURS 3.5: that it cannot be had is said below, and why in the middle, once")
    func failed() async throws {
        try await open()
        try await screens.note(.bad(reason), for: .original, of: "a")
        try await screens.until { screens.status.hasPrefix(" Load failed ") }
        #expect(said.contains("Load failed: the server answered 404"))
        #expect(screens.text.components(separatedBy: "the server answered 404").count == 2)
    }

    @Test("BEHAVIOURS 3.5: an undecodable photo is a load that failed")
    func undecodable() async throws {
        try await open()
        try await screens.store([0xFF, 0xD8, 0xFF, 0x00, 0x01], as: .original, of: "a")
        try await screens.until { screens.status.hasPrefix(" Load failed ") }
        #expect(said.contains("Load failed: "))
    }

    @Test("BEHAVIOURS 3.5: when it is tried again, both places say so")
    func triedAgain() async throws {
        try await open()
        try await screens.note(.putOff(reason), for: .original, of: "a")
        try await screens.until { screens.status.hasPrefix(" Load failed ") }
        screens.activity.setProgress(Progress(done: 1_000, total: 4_000), of: try screens.subject("a", .original))
        try await screens.until { screens.status.hasPrefix(" Loading… 1.0 KB") }
        #expect(!screens.text.contains("Load failed") && said.contains("Loading…"))
    }

    @Test("BEHAVIOURS 2.6, 3.5: an older photo stays in view, whatever becomes of the newer one")
    func olderStays() async throws {
        try await open()
        try await screens.store(TestScreens.picture(red: 255), as: .original, of: "a")
        try await screens.until { middle == .rgb(255, 0, 0) }
        try await screens.sync([TestScreens.entry("a", date: 9)])
        try await screens.note(.bad(reason), for: .original, of: "a")
        try await screens.until { screens.status.hasPrefix(" Load failed: the server answered 404") }
        // The picture itself is whole.
        #expect(middle == .rgb(255, 0, 0) && screens.text.components(separatedBy: "Load failed").count == 2)
    }

    @Test("BEHAVIOURS 3.5: the title follows a new name")
    func renamed() async throws {
        try await open()
        #expect(screens.title.hasPrefix(" Photo a "))
        try await screens.sync([TestScreens.entry("a", name: "Kids\u{7} In A Box", date: 0)])
        try await screens.until { screens.title.hasPrefix(" Kids␇ In A Box ") }
        #expect(screens.title.hasSuffix("1 of 1"))
    }

    @Test("BEHAVIOURS 3.5: why it cannot be had is said though the cache could not be told")
    func failureOnlyKnownNow() async throws {
        try await open()
        let subject = try screens.subject("a", .original)
        screens.activity.setFailure(Failure("The disk is full", remedy: .time), of: subject)
        try await screens.until { screens.text.contains("Load failed: The disk is full") }
        screens.activity.setProgress(Progress(done: 0), of: subject)
        try await screens.until { !screens.text.contains("Load failed") }
    }

    @Test("BEHAVIOURS 3.5: removed by a sync, it gives way to the list, with a notice")
    func removed() async throws {
        try await open(["a", "b", "c"], at: "b")
        try await screens.sync(["a", "c"])
        try await screens.until { screens.status == " “Photo b” is no longer in the gallery." }
        #expect(screens.title.contains("example.org") && screens.title.hasSuffix("2 of 2"))
        #expect(screens.selected == "Photo c")
        // Nobody wishes for it any more.
        #expect(await !screens.wished().contains { $0.importance == .lookedAt || $0.importance == .rest })
        screens.press("k")
        #expect(screens.selected == "Photo a" && screens.status.hasPrefix(" Updated: "))
    }

    @Test(
        "BEHAVIOURS 3.5: so it does when it is found out behind another screen", arguments: ["L", "?"] as [Character])
    func removedBehind(key: Character) async throws {
        try await open(["a", "b", "c"], at: "b")
        screens.press(.character(key))
        let covering = screens.title
        try await screens.sync(["a", "c"])
        // Delivered with the list, or after it.
        try await screens.until { screens.root.place.photo == "c" }
        #expect(String(screens.title.prefix(6)) == covering.prefix(6))
        screens.press(Key(.escape))
        #expect(screens.title.contains("example.org") && screens.selected == "Photo c")
        #expect(screens.status == " “Photo b” is no longer in the gallery.")
    }

    @Test("BEHAVIOURS 5.7: left before it has arrived, it is still wanted, after everything else")
    func left() async throws {
        try await open()
        let subject = try screens.subject("a", .original)
        screens.press("q")
        _ = screens.frame()
        #expect(await screens.importance(of: subject) == .rest)
        screens.press(Key(.enter))
        #expect(await screens.importance(of: subject) == .lookedAt)
        screens.press("]")
        #expect(await screens.importance(of: subject) == .rest)
        #expect(await screens.importance(of: try screens.subject("b", .original)) == .lookedAt)
    }

    @Test("BEHAVIOURS 2.5, 5.7: left, and then removed by a sync, it is not wanted any more")
    func leftAndRemoved() async throws {
        try await open()
        let subject = try screens.subject("a", .original)
        screens.press("q")
        _ = screens.frame()
        #expect(await screens.importance(of: subject) == .rest)
        try await screens.sync(["b"])
        try await screens.until { screens.title.hasSuffix("1 of 1") }
        #expect(await screens.importance(of: subject) == nil)
    }

    @Test func stepping() async throws {
        try await open(["a", "b", "c"])
        for (keys, name) in [("]", "b"), (" ", "c"), ("]", "c"), ("[", "b"), ("h", "a"), ("h", "a"), ("l", "b")] {
            screens.type(keys)
            #expect(screens.title.hasPrefix(" Photo \(name) "))
        }
        screens.press(Key(.escape))
        #expect(screens.selected == "Photo b")
    }

    @Test("BEHAVIOURS 3.5: larger, one to one, moved about, and whole again")
    func zooms() async throws {
        try await open()
        try await screens.store(TestScreens.picture(red: 255), as: .original, of: "a")
        try await screens.until { middle == .rgb(255, 0, 0) }
        let whole = screens.title
        #expect(whole.hasSuffix("fit"))
        screens.press("+", "+")
        try await screens.until { screens.title.hasSuffix("%") && middle == .rgb(255, 0, 0) }
        let larger = screens.title
        screens.press("+")
        #expect(screens.title != larger)
        // Now the arrows move it, and do not go to another photo.
        screens.press(Key(.right), Key(.left), Key(.down), Key(.up), "l", "h")
        #expect(screens.title.hasPrefix(" Photo a "))
        screens.press("w")
        #expect(screens.title == whole)
    }
}
