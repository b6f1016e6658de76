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

    /// The text in the middle of the screen.
    private var said: String { screens.frame().text(inRow: 11) }

    private let reason = Failure("the server answered 404", remedy: .none)

    @Test("BEHAVIOURS 5.10: opening a photo retries it once if another server wants a password")
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

    @Test("Opening a photo on this machine retries it once if its file could not be read")
    func localFileIsBack() async throws {
        let screens = try TestScreens(gallery: Address(filePath: "/pictures"))
        try await screens.sync([
            GalleryEntry(
                id: "a", name: "Photo a", date: Timestamp(milliseconds: 1_000),
                photo: Address(filePath: "/pictures/a.jpg"), thumbnail: nil)
        ])
        let missing = Failure("the file cannot be read: No such file or directory", remedy: .none)
        try await screens.note(.bad(missing), for: .original, of: "a")
        screens.open(at: "a", isPhotoOpen: true)
        try await screens.until { try screens.photo("a").original.isWanting }
        try await screens.note(.bad(missing), for: .original, of: "a")
        try await screens.until { screens.text.contains("No such file") }
        #expect(try screens.photo("a").original.trouble == .bad(missing))
    }

    @Test("BEHAVIOURS 3.5: a loading photo shows its progress")
    func loading() async throws {
        try await open()
        let subject = try screens.subject("a", .original)
        #expect(await screens.importance(of: subject) == .lookedAt)
        #expect(screens.status.hasPrefix(" Loading…") && said.contains("Loading…"))
        screens.activity.setProgress(Progress(done: 25_000, total: 100_000), of: subject)
        try await screens.until { screens.status.hasPrefix(" Loading… 25.0 KB of 100.0 KB") }
        // The status line and the middle each show a bar.
        #expect(screens.status.contains("━━━───────") || screens.status.contains("━━────────"))
        let bar = screens.frame().text(inRow: 13).trimmingPrefix { $0 == " " }
        #expect(bar == String(repeating: "━", count: 10) + String(repeating: "─", count: 30))
        // Progress of an unknown size has no bar.
        screens.activity.setProgress(Progress(done: 30_000), of: subject)
        try await screens.until { screens.status.hasPrefix(" Loading… 30.0 KB ") }
        #expect(!screens.text.contains("━"))
        screens.activity.setProgress(nil, of: subject)
        try await screens.store(TestScreens.picture(red: 255), as: .original, of: "a")
        try await screens.until { middle == .rgb(255, 0, 0) }
        #expect(!screens.text.contains("Loading…") && screens.title.hasSuffix("1 of 2 · fit"))
    }

    @Test("BEHAVIOURS 3.5: the thumbnail stands in until the photo arrives")
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

    @Test("BEHAVIOURS 3.5: the status line reports a failed load, and the middle its reason, once")
    func failed() async throws {
        try await open()
        try await screens.note(.bad(reason), for: .original, of: "a")
        try await screens.until { screens.status.hasPrefix(" Load failed ") }
        #expect(said.contains("Load failed: the server answered 404"))
        #expect(screens.text.components(separatedBy: "the server answered 404").count == 2)
    }

    @Test("BEHAVIOURS 3.5: an undecodable photo counts as a failed load")
    func undecodable() async throws {
        try await open()
        try await screens.store([0xFF, 0xD8, 0xFF, 0x00, 0x01], as: .original, of: "a")
        try await screens.until { screens.status.hasPrefix(" Load failed ") }
        #expect(said.contains("Load failed: "))
    }

    @Test("BEHAVIOURS 3.5: status line and middle both show a retry")
    func triedAgain() async throws {
        try await open()
        try await screens.note(.putOff(reason), for: .original, of: "a")
        try await screens.until { screens.status.hasPrefix(" Load failed ") }
        screens.activity.setProgress(Progress(done: 1_000, total: 4_000), of: try screens.subject("a", .original))
        try await screens.until { screens.status.hasPrefix(" Loading… 1.0 KB") }
        #expect(!screens.text.contains("Load failed") && said.contains("Loading…"))
    }

    @Test("BEHAVIOURS 3.5: a failed photo shows the time of its automatic retry")
    func timeOfRetry() async throws {
        let now = Timestamp(milliseconds: 1_800_000_000_000)
        let screens = try TestScreens(now: now)
        try await screens.sync(["a"])
        try await screens.note(.putOff(reason), for: .original, of: "a")
        screens.open(at: "a", isPhotoOpen: true)
        try await screens.until { screens.text.contains("Load failed: the server answered 404") }
        screens.activity.recordFailure(
            FailureReport(
                try screens.subject("a", .original), reason, attempts: 1, first: now, last: now,
                next: Timestamp(milliseconds: now.milliseconds + 60_000)))
        try await screens.until { screens.text.contains("the server answered 404; retry at 08:01:00") }
    }

    @Test("BEHAVIOURS 2.6, 3.5: an older edition stays visible when the newer one fails")
    func olderStays() async throws {
        try await open()
        try await screens.store(TestScreens.picture(red: 255), as: .original, of: "a")
        try await screens.until { middle == .rgb(255, 0, 0) }
        try await screens.sync([TestScreens.entry("a", date: 9)])
        try await screens.note(.bad(reason), for: .original, of: "a")
        try await screens.until { screens.status.hasPrefix(" Load failed: the server answered 404") }
        // No text covers the picture.
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

    @Test("BEHAVIOURS 3.5: a failure that the cache could not store is reported, too")
    func failureOnlyKnownNow() async throws {
        try await open()
        let subject = try screens.subject("a", .original)
        screens.activity.setFailure(Failure("The disk is full", remedy: .time), of: subject)
        try await screens.until { screens.text.contains("Load failed: The disk is full") }
        screens.activity.setProgress(Progress(done: 0), of: subject)
        try await screens.until { !screens.text.contains("Load failed") }
    }

    @Test("BEHAVIOURS 3.5: when an update removes the photo, the list appears with a notice")
    func removed() async throws {
        try await open(["a", "b", "c"], at: "b")
        try await screens.sync(["a", "c"])
        try await screens.until { screens.status == " “Photo b” is no longer in the gallery." }
        #expect(screens.title.contains("example.org") && screens.title.hasSuffix("2 of 2"))
        #expect(screens.selected == "Photo c")
        // All wishes for it have ended.
        #expect(await !screens.wished().contains { $0.importance == .lookedAt || $0.importance == .rest })
        screens.press("k")
        #expect(screens.selected == "Photo a" && screens.status.hasPrefix(" Updated: "))
    }

    @Test("BEHAVIOURS 3.5: a command typed on a removed photo does not act on the next photo")
    func removedBehindTheCommandLine() async throws {
        try await open(["a", "b", "c"], at: "b")
        try await screens.store(TestScreens.picture(red: 9), as: .original, of: "c")
        screens.type(":delete")
        try await screens.sync(["a", "c"])
        try await screens.until { screens.title.contains("example.org") && screens.selected == "Photo c" }
        #expect(screens.status == ":delete")
        screens.press(Key(.enter))
        #expect(screens.status == " The command “delete” does not apply to this screen.")
        screens.press(Key(.escape))
        #expect(screens.status == " “Photo b” is no longer in the gallery.")
        // Commands for every screen still work.
        screens.press(Key(.escape), Key(.enter))
        screens.type(":log")
        try await screens.sync(["a"])
        try await screens.until { screens.title.contains("example.org") }
        screens.press(Key(.enter))
        #expect(screens.title.hasPrefix(" Log"))
    }

    @Test("BEHAVIOURS 3.5: a typed back does not leave the gallery after a removed photo has closed")
    func backBehindTheCommandLine() async throws {
        try await open(["a", "b", "c"], at: "b")
        screens.type(":back")
        try await screens.sync(["a", "c"])
        try await screens.until { screens.title.contains("example.org") }
        screens.press(Key(.enter))
        #expect(screens.status == " The command “back” does not apply to this screen.")
        #expect(screens.title.contains("example.org"))
    }

    @Test(
        "BEHAVIOURS 3.5: a photo removed behind another screen closes when that screen does",
        arguments: ["L", "?"] as [Character])
    func removedBehind(key: Character) async throws {
        try await open(["a", "b", "c"], at: "b")
        screens.press(.character(key))
        let covering = screens.title
        try await screens.sync(["a", "c"])
        // The removal arrives with the list's update or after it.
        try await screens.until { screens.root.place.photo == "c" }
        #expect(String(screens.title.prefix(6)) == covering.prefix(6))
        screens.press(Key(.escape))
        #expect(screens.title.contains("example.org") && screens.selected == "Photo c")
        #expect(screens.status == " “Photo b” is no longer in the gallery.")
    }

    @Test("BEHAVIOURS 5.7: an unfinished photo that the user leaves is fetched after everything else")
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

    @Test("BEHAVIOURS 2.5, 5.7: an update that removes an unfinished photo ends its wish")
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

    /// Filters by photos without stars, and opens a photo of the filtered list.
    private func openWithoutStars(_ ids: [String], at id: String) async throws {
        try await screens.sync(ids)
        screens.open(at: id)
        screens.press("f")
        screens.type("rating:0")
        try await screens.until { screens.status.contains("\(ids.count) photos found") }
        screens.press(Key(.enter), Key(.enter))
        #expect(screens.title.hasPrefix(" Photo \(id) "))
    }

    /// Gives four stars to the photo on the screen, so that it leaves the filtered list.
    private func rateOutOfTheList(_ id: String) async throws {
        screens.type("4.")
        // The list receives the update just before the photo screen does, and then selects another photo.
        try await screens.until {
            try screens.photo(id).rating.value == 4 && screens.root.openGallery?.selectedGalleryID != id
        }
        #expect(screens.title.hasPrefix(" Photo \(id) ") && !screens.title.contains(" of "))
    }

    @Test("Steps from a photo that left the filtered list lead to the photos beside it")
    func steppingFromARatedPhoto() async throws {
        try await openWithoutStars(["a", "b", "c", "d", "e"], at: "b")
        try await rateOutOfTheList("b")
        #expect(await screens.importance(of: try screens.subject("c", .original)) == .near)
        screens.press("]")
        #expect(screens.title.hasPrefix(" Photo c "))
        try await rateOutOfTheList("c")
        screens.press("[")
        #expect(screens.title.hasPrefix(" Photo a "))
        // No photo comes before this one, and two come after it.
        try await rateOutOfTheList("a")
        screens.press("[")
        #expect(screens.title.hasPrefix(" Photo a "))
        screens.press("2", "]")
        #expect(screens.title.hasPrefix(" Photo e "))
        try await rateOutOfTheList("e")
        screens.press("]")
        #expect(screens.title.hasPrefix(" Photo e "))
        screens.press(" ", "[")
        #expect(screens.title.hasPrefix(" Photo d "))
    }

    @Test("A photo that left the filtered list is compared with the next one, and shown in the whole list")
    func actingOnARatedPhoto() async throws {
        try await openWithoutStars(["a", "b", "c"], at: "b")
        try await rateOutOfTheList("b")
        screens.press("c")
        #expect(screens.title.hasPrefix(" Compare") && screens.text.contains("Photo b"))
        #expect(screens.text.contains("Photo c"))
        screens.press("q", Key(.enter))
        try await screens.until { screens.title.contains("2 of 3") }
        #expect(screens.selected == "Photo b")
    }

    @Test("A photo that left the filtered list shows its latest rating, and its file when it arrives")
    func changesOfARatedPhoto() async throws {
        try await openWithoutStars(["a", "b", "c"], at: "b")
        try await rateOutOfTheList("b")
        screens.type("5.")
        try await screens.until { screens.title.contains("★★★★★") }
        #expect(screens.title.hasPrefix(" Photo b ") && screens.status.hasPrefix(" Loading…"))
        try await screens.store(TestScreens.picture(red: 255), as: .original, of: "b")
        try await screens.until { middle == .rgb(255, 0, 0) }
        #expect(!screens.status.contains("Loading…"))
    }

    @Test("BEHAVIOURS 3.5: a photo zooms, pans and fits again")
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
        // The arrows pan an enlarged photo.
        screens.press(Key(.right), Key(.left), Key(.down), Key(.up), "l", "h")
        #expect(screens.title.hasPrefix(" Photo a "))
        screens.press("w")
        #expect(screens.title == whole)
    }

    @Test("BEHAVIOURS 3.5: h and l leave a photo that failed to load, even if it would fill the screen")
    func stepsFromAFailedPhoto() async throws {
        try await open(["a", "b", "c"], at: "b")
        try await screens.note(.bad(reason), for: .original, of: "b")
        try await screens.until { screens.status.hasPrefix(" Load failed ") }
        screens.press("W", "l")
        #expect(screens.title.hasPrefix(" Photo c "))
        screens.press("[")
        #expect(screens.title.hasPrefix(" Photo b "))
        screens.type("2h")
        #expect(screens.title.hasPrefix(" Photo a "))
    }

    @Test(
        "BEHAVIOURS 3.5: h and l go to other photos if an enlarged photo is wholly visible",
        arguments: [("l", "c"), ("h", "a"), ("2l", "d")])
    func stepsFromAnEnlargedPhoto(keys: String, name: String) async throws {
        screens.size = Size(columns: 160, rows: 50)
        try await open(["a", "b", "c", "d"], at: "b")
        try await screens.store(TestScreens.picture(red: 255), as: .original, of: "b")
        try await screens.until { middle == .rgb(255, 0, 0) }
        // The lower edge of the photo is below the screen.
        screens.press("+", "+", "+")
        #expect(screens.title.hasSuffix("338 %"))
        screens.type(keys)
        #expect(screens.title.hasPrefix(" Photo b "))
        screens.press("-", "-")
        #expect(screens.title.hasSuffix("150 %"))
        screens.type(keys)
        #expect(screens.title.hasPrefix(" Photo \(name) "))
    }
}
