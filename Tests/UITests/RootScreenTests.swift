import Cells
import Session
import Foundation
import Model
import TestSupport
import Testing

@testable import Cache
@testable import UI

@MainActor @Suite(.unlessItHangs) struct RootScreenTests {
    @Test func earlyNoticesAreShown() throws {
        let screens = try TestScreens()
        screens.activity.postNotice("config:1: a mistake")
        #expect(RootScreen(screens.context).frame(screens.size).text.contains("config:1: a mistake"))
    }

    @Test func aTooSmallWindowSaysSo() throws {
        let screens = try TestScreens()
        for size in [Size(columns: 19, rows: 24), Size(columns: 80, rows: 4), Size(columns: 9, rows: 1)] {
            screens.size = size
            #expect(screens.text.trimmingCharacters(in: .whitespacesAndNewlines) == "Too small")
        }
        screens.size = Size(columns: 0, rows: 0)
        #expect(screens.text.isEmpty)
        screens.size = Size(columns: 20, rows: 5)
        #expect(screens.title.hasPrefix(" Galleries"))
    }

    @Test func theNextKeyDismissesANoticeAndStillWorks() async throws {
        let screens = try TestScreens()
        try await screens.sync(["a", "b"])
        screens.open()
        screens.activity.postNotice("Something \u{1B}[2J happened.")
        try await screens.until { screens.status == " Something ␛[2J happened." }
        screens.activity.setPhase(.getting(Progress(done: 0)), of: screens.cache.id)
        #expect(screens.status == " Something ␛[2J happened.")
        screens.press("j")
        #expect(screens.selected == "Photo b" && screens.status.hasPrefix(" Updating…"))
    }

    @Test("Escape dismisses a notice before it goes back")
    func escapeTakesTheNoticeFirst() async throws {
        let screens = try TestScreens()
        try await screens.sync(["a", "b"])
        screens.open(at: "b", isPhotoOpen: true)
        screens.activity.postNotice("Something happened.")
        try await screens.until { screens.status == " Something happened." }
        screens.press(Key(.escape))
        #expect(!screens.text.contains("Something happened.") && screens.root.place.isPhotoOpen)
        screens.press(Key(.escape))
        #expect(!screens.root.place.isPhotoOpen)
    }

    @Test("Escape never quits; q does")
    func escapeNeverQuits() async throws {
        let screens = try TestScreens()
        screens.activity.postNotice("Something happened.")
        try await screens.until { screens.status == " Something happened." }
        screens.press(Key(.escape))
        #expect(screens.quits == 0 && screens.status.hasPrefix(" No gallery"))
        screens.press(Key(.escape), Key(.escape))
        screens.press("?", Key(.escape), Key(.escape), "L", Key(.escape), Key(.escape))
        #expect(screens.quits == 0 && screens.title.hasPrefix(" Galleries"))
        screens.press("q")
        #expect(screens.quits == 1)
    }

    @Test func aPhotoStaysOpenBelowOtherScreens() async throws {
        let screens = try TestScreens()
        try await screens.sync(["a", "b"])
        screens.open(at: "b", isPhotoOpen: true)
        for key in ["?", "L"] as [Character] {
            screens.press(.character(key))
            #expect(screens.root.place.isPhotoOpen && screens.root.place.photo == "b")
            screens.press(Key(.escape))
        }
        screens.press("q", "?")
        #expect(!screens.root.place.isPhotoOpen)
    }

    @Test func allNoticesAreShown() async throws {
        let screens = try TestScreens()
        for text in ["One.", "Two.", "Three."] { screens.activity.postNotice(text) }
        try await screens.until { screens.status == " One." }
        screens.press("j")
        #expect(screens.status == " Two.")
        screens.press("j")
        #expect(screens.status == " Three.")
        screens.press("j")
        #expect(screens.status.hasPrefix(" No gallery"))
    }

    @Test func aFullDiskIsReportedOncePerRequest() async throws {
        let screens = try TestScreens()
        try await screens.sync(["a", "b"])
        screens.open()
        for _ in 0..<20 { screens.activity.report(StorageTrouble.full) }
        try await screens.until { screens.status == " The disk is full: nothing new can be stored." }
        screens.press("j")
        screens.activity.report(StorageTrouble.full)
        #expect(screens.activity.takeNotices().isEmpty && screens.status.hasPrefix(" Updated: "))
        screens.press("r")
        screens.activity.report(StorageTrouble.full)
        try await screens.until { screens.status == " The disk is full: nothing new can be stored." }
    }

    @Test func aQuestionTakesTheNextKey() throws {
        let screens = try TestScreens()
        var said: [String] = []
        screens.root.send(.confirm("Really?") { said.append("yes") })
        #expect(screens.status == " Really? (y/n)")
        screens.press("Q")
        #expect(screens.quits == 0 && said.isEmpty && screens.status.hasPrefix(" No gallery"))
        screens.root.send(.confirm("Really?") { said.append("yes") })
        screens.press("y", "y")
        #expect(said == ["yes"])
    }

    @Test("BEHAVIOURS 4.3: a notice reports a damaged cache")
    func damaged() async throws {
        let screens = try TestScreens()
        let address = try Address("http://example.org/damaged.xml")
        let folder = "cache/galleries/\(GalleryID(address))"
        screens.folder.write("\(folder)/gallery.sqlite", [UInt8](repeating: 0x55, count: 20_000))
        #expect(chmod(screens.folder.path(folder), 0o700) == 0)
        screens.root.send(.openGallery(address))
        #expect(screens.title.hasPrefix(" example.org/damaged.xml"))
        #expect(screens.status == " Vitrine set aside the damaged cache and is filling a new one.")
        #expect(screens.wishes.isStanding(.list(GalleryID(address))))
    }

    @Test func aFailureToOpenAGalleryIsReported() throws {
        let screens = try TestScreens()
        let address = try Address("http://example.org/other.xml")
        screens.folder.write("cache/galleries/\(GalleryID(address))", "a file in the way")
        screens.root.send(.openGallery(address))
        #expect(screens.title.hasPrefix(" Galleries"))
        #expect(!screens.status.hasPrefix(" No gallery") && screens.status.count > 10)
        #expect(screens.log.entries.contains { $0.level == .error && $0.message.contains("other.xml") })
        screens.press("j")
        #expect(screens.status.hasPrefix(" No gallery"))
    }

    /// If neither the list's thumbnails nor the photo were wished for, bulk fetches would begin.
    @Test func aPhotoIsWishedForBeforeItsListIsLeft() async throws {
        let screens = try TestScreens()
        try await screens.sync(["a", "b"])
        screens.open(at: "a")
        _ = screens.frame()
        let photo = try screens.subject("a", .original)
        let snapshots = screens.wishes.snapshots()
        // Repeated, because a listener receives each change only while it waits for it.
        for _ in 0..<20 {
            _ = await snapshots.next()
            let first = Task.detached { await snapshots.next() }
            for _ in 0..<20 { await Task.yield() }
            screens.press(Key(.enter))
            #expect(await first.value?.wishes.contains { $0.subject == photo } == true)
            screens.press("q")
            _ = screens.frame()
        }
    }
}
