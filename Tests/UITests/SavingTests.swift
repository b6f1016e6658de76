import Cells
import Session
import Foundation
import Model
import TestSupport
import Testing

@testable import UI

@MainActor @Suite(.unlessItHangs) struct SavingTests {
    private let screens: TestScreens

    init() async throws {
        screens = try await TestScreens.offering(["a", "b", "c"], columns: 160)
    }

    private var pictures: String { screens.folder.path("pictures") }

    private func begin(_ ids: [String]) throws {
        screens.context.exports.begin(
            try ids.map { try screens.photo($0).key }, of: screens.cache, to: pictures, name: "\(ids.count) photos",
            gallery: "example.org")
    }

    @Test(arguments: [false, true]) func aPhotoIsSavedToTheTypedFolder(isPhotoOpen: Bool) async throws {
        try await screens.store(TestScreens.picture(red: 9), as: .original, of: "b")
        screens.open(at: "b", isPhotoOpen: isPhotoOpen)
        screens.press("s")
        #expect(screens.status == " Save “Photo b” to: \(pictures)" && screens.frame().cursor != nil)
        screens.press(.control("u"))
        screens.type("~/elsewhere")
        screens.press(Key(.enter))
        try await screens.until { screens.status == " Saved “Photo b” to \(screens.folder.path("elsewhere"))." }
        #expect(screens.folder.entries("elsewhere") == ["Photo b.png"])
        // The folder is proposed the next time.
        screens.press("s")
        #expect(screens.status == " Save “Photo b” to: \(screens.folder.path("elsewhere"))")
        screens.press(Key(.escape))
        #expect(screens.frame().cursor == nil && screens.context.exports.jobs.isEmpty)
    }

    @Test func aNoticeWaitsBehindAPrompt() async throws {
        screens.open(at: "a")
        screens.press("s")
        screens.root.modals.showNotice("Something happened.")
        screens.type("x")
        #expect(screens.status.contains("Save “Photo a” to: "))
        var (redraws, suspensions) = (0, 0)
        screens.root.host.onRedraw = { redraws += 1 }
        screens.root.host.onSuspend = { suspensions += 1 }
        screens.press(.control("l"), .control("z"))
        #expect(redraws == 1 && suspensions == 1)
        screens.press(Key(.escape))
        #expect(screens.status == " Something happened.")
        screens.press("j")
        #expect(!screens.status.contains("Something"))
    }

    @Test func savingFetchesMissingPhotos() async throws {
        screens.open(at: "a")
        screens.press("s", Key(.enter))
        let subject = try screens.subject("a", .original)
        for await snapshot in screens.wishes.snapshots() where snapshot.asked[subject] != nil { break }
        #expect(screens.status.contains("saving 0 of 1"))
        try await screens.store(TestScreens.picture(red: 9), as: .original, of: "a")
        screens.wishes.fulfil(subject)
        try await screens.until { screens.status == " Saved “Photo a” to \(pictures)." }
        screens.press("j")
        #expect(!screens.status.contains("saving"))
    }

    @Test func failedPhotosAreReported() async throws {
        try await screens.store(TestScreens.picture(red: 9), as: .original, of: "a")
        try await screens.note(.bad(Failure("the server answered 404", remedy: .none)), for: .original, of: "b")
        screens.open()
        try begin(["a", "b"])
        try await screens.until {
            screens.status.contains(
                "Saved 1 of 2 photos to \(pictures). "
                    + "“Photo b”: The photo is not in the cache: the server answered 404.")
        }
        screens.press("s", .control("u"))
        screens.type("/no/such/folder")
        screens.press(Key(.enter))
        try await screens.until { screens.status == " /no/such/folder: No such file or directory." }
        screens.press("s", .control("u"), Key(.enter))
        #expect(screens.status == " That is not the path of a folder.")
    }

    @Test(arguments: [60, 160]) func theTransfersScreenShowsAndStopsAnExport(columns: Int) async throws {
        screens.size.columns = columns
        try await screens.store(TestScreens.picture(red: 9), as: .original, of: "a")
        screens.open()
        try begin(["a", "b", "c"])
        try await screens.until { screens.context.exports.jobs.first?.done == 1 }
        screens.press("T")
        #expect(screens.selected?.hasPrefix("Saving 3 photos") == true)
        #expect(screens.text.contains("━━━─────── 1 of 3"))
        #expect(screens.text.contains(columns < 100 ? "example.org · to" : "example.org · to \(pictures)"))
        screens.press("x")
        try await screens.until { screens.context.exports.jobs.isEmpty }
        #expect(screens.text.contains("No transfers"))
        screens.size.columns = 300
        #expect(screens.status == " Saved 1 of 3 photos to \(pictures). 2 not saved yet; save again to continue.")
        #expect(await screens.importance(of: try screens.subject("b", .original)) == nil)
    }

    @Test("BEHAVIOURS 5.8: quitting stops an export and reports the rest")
    func quitting() async throws {
        screens.open(at: "a")
        screens.press("s", Key(.enter))
        screens.press("Q")
        #expect(screens.quits == 0 && screens.status.hasPrefix(" Vitrine has saved 0 of 1 photo so far."))
        screens.press("n", "Q", "s")
        #expect(screens.quits == 1)
        let said = await screens.root.finish()
        #expect(said == nil)
        let unfinished = screens.root.unfinishedExports
        #expect(unfinished.map(\.outcome) == ["“Photo a”: not saved yet; save again to continue."])
        #expect(unfinished.map(\.mayContinue) == [false])
        screens.press("Q")
        #expect(screens.quits == 2)
    }

    @Test(
        "The result of an export that ends behind a question or a prompt is reported at the end",
        arguments: [("Q", ["b"]), (":", ["q", Key(.enter)])] as [(Key, [Key])])
    func endBehindAQuestion(first: Key, last: [Key]) async throws {
        screens.open(at: "a")
        screens.press("s", Key(.enter), first)
        let subject = try screens.subject("a", .original)
        for await snapshot in screens.wishes.snapshots() where snapshot.asked[subject] != nil { break }
        try await screens.store(TestScreens.picture(red: 9), as: .original, of: "a")
        screens.wishes.fulfil(subject)
        try await screens.until { screens.context.exports.jobs.isEmpty }
        #expect(!screens.status.contains("Saved"))
        for key in last { screens.press(key) }
        #expect(screens.quits == 1)
        #expect(await screens.root.finish() == "Saved “Photo a” to \(pictures).")
    }

    @Test(arguments: [
        ("~", "/home/me"), ("~/a b", "/home/me/a b"), ("/x/../y/", "/y"), ("here", "/pictures/here"), ("../up", "/up"),
        (" /x", "/x"), ("", nil), ("  ", nil), ("a\u{1B}b", nil),
    ]) func typedFoldersBecomePaths(typed: String, path: String?) {
        #expect(TypedPath.absolute(typed, home: "/home/me", currentFolder: "/pictures") == path)
    }
}
