import Cells
import Commands
import Model
import Settings
import TestSupport
import Testing

@testable import Cache
@testable import UI

/// Folders of a gallery whose photos' ids are paths: going into them with Enter and up with Backspace, and sections by
/// folder.
@MainActor @Suite(.unlessItHangs) struct FolderViewTests {
    private let screens: TestScreens

    init() throws {
        var settings = Settings()
        settings.syncOnOpen = false
        screens = try TestScreens(settings)
    }

    /// Updates the list to files with these paths, in order of date.
    private func sync(
        _ paths: [String], at base: String = "http://example.org/album/", on other: TestScreens? = nil
    ) async throws {
        let base = try Address(base)
        try await (other ?? screens).sync(
            paths.enumerated().map { number, path in
                GalleryEntry(
                    id: path, name: path.split(separator: "/").last.map(String.init) ?? path,
                    date: Timestamp(milliseconds: Int64(number) * 86_400_000 + 1_000), photo: try base.resolving(path),
                    thumbnail: nil, revision: "1")
            })
    }

    private static let paths = [
        "2024/Lisbon/a.jpg", "2024/Lisbon/b.jpg", "2024/Porto/c.jpg", "2023/d.jpg", "e.jpg",
    ]

    /// Shows the top folder, with its first row selected.
    private func openTop() async throws {
        try await sync(Self.paths)
        screens.open(at: "e.jpg")
        screens.press("t")
        try await screens.until { screens.selected == "e.jpg" && screens.title.contains("3 of 3") }
        screens.press("g")
    }

    @Test("Enter goes into a folder and Backspace to the folder above, where the cursor returns")
    func goingInAndUp() async throws {
        try await openTop()
        #expect(screens.selected == "2023/")
        screens.press("j")
        #expect(screens.selected == "2024/")
        let text = screens.text
        #expect(text.contains("3 photos") && text.contains("newest: Sat  3 Jan 1970"))
        screens.press(Key(.enter))
        try await screens.until { screens.title.contains("index.xml › 2024 ") }
        #expect(screens.selected == "Lisbon/")
        screens.press("j", "l")
        try await screens.until { screens.title.contains("index.xml › 2024 › Porto") }
        #expect(screens.selected == "c.jpg")
        screens.press(Key(.backspace))
        try await screens.until { screens.selected == "Porto/" }
        screens.press("h")
        try await screens.until { screens.selected == "2024/" }
        // Going in again leads to the row where the user left.
        screens.press(Key(.enter))
        try await screens.until { screens.selected == "Porto/" }
        screens.press(Key(.left))
        try await screens.until { screens.selected == "2024/" }
        screens.press("h")
        #expect(screens.title.contains("Galleries"))
    }

    @Test("One key goes to the folder of the selected photo and back to all photos")
    func switching() async throws {
        try await sync(Self.paths)
        screens.open(at: "2024/Lisbon/b.jpg")
        #expect(screens.text.contains("Fri  2 Jan 1970  00:00 · 2024/Lisbon"))
        screens.press("t")
        try await screens.until { screens.title.contains("Lisbon") && screens.title.contains("2 of 2") }
        #expect(screens.selected == "b.jpg" && !screens.text.contains("· 2024"))
        screens.press("h")
        try await screens.until { screens.selected == "Lisbon/" }
        screens.press("j", "h")
        try await screens.until { screens.selected == "2024/" }
        screens.press(Key(.enter))
        try await screens.until { screens.selected == "Porto/" }
        screens.press("k", Key(.enter))
        try await screens.until { screens.selected == "b.jpg" }
        screens.press("t")
        try await screens.until { screens.title.contains("2 of 5") }
        #expect(screens.selected == "b.jpg")
        try await screens.sync(["a"])
        try await screens.until { screens.title.contains("of 1") }
        screens.press("t")
        #expect(screens.status.contains("This gallery has no folders."))
    }

    @Test("A folder that the user leaves before it is read does not move the selection later")
    func leavingAnUnreadFolder() async throws {
        try await sync(Self.paths)
        screens.open(at: "e.jpg")
        screens.press("t", "t", "g", ",", "n")
        try await screens.until { screens.root.openGallery?.lists.all.order == PhotoOrder(.name) }
        #expect(screens.selected == "a.jpg" && screens.title.contains("1 of 5"))
    }

    @Test("A search in a folder shows the matches in it and in all folders below")
    func searching() async throws {
        try await openTop()
        screens.press("j", Key(.enter))
        try await screens.until { screens.title.contains("› 2024 ") }
        screens.press("/")
        screens.type("jpg")
        try await screens.until { screens.status.contains("3 photos found") }
        screens.press(Key(.enter), "G")
        #expect(screens.selected == "c.jpg" && screens.title.contains("“jpg”  3 of 3"))
        #expect(screens.text.contains("· 2024/Porto"))
        screens.press(Key(.escape))
        try await screens.until { screens.title.contains("2 of 2") }
        #expect(screens.selected == "Porto/")
    }

    @Test("Escape ends a search in a folder and returns to the subfolder that was selected")
    func leavingASearch() async throws {
        try await openTop()
        screens.press("j", "/", "d")
        try await screens.until { screens.selected == "d.jpg" && screens.status.contains("1 photo found") }
        // Without a text, the folder appears again.
        screens.press(Key(.backspace))
        try await screens.until { screens.title.contains("2 of 3") }
        #expect(screens.selected == "2024/")
        for text in ["d", "zebra"] {
            screens.type(text)
            try await screens.until { text == "d" ? screens.selected == "d.jpg" : screens.text.contains("No matches") }
            screens.press(Key(.escape))
            try await screens.until { screens.title.contains("2 of 3") }
            #expect(screens.selected == "2024/")
            screens.press("/")
        }
    }

    @Test("Enter on a photo of a search goes to the photo's folder")
    func fromAMatchToItsFolder() async throws {
        try await openTop()
        screens.press("f")
        screens.type("porto")
        try await screens.until { screens.status.contains("1 photo found") }
        screens.press(Key(.enter), Key(.enter), Key(.enter))
        try await screens.until { screens.title.contains("› 2024 › Porto") }
        #expect(screens.selected == "c.jpg")
    }

    @Test("Marks and actions on a folder are about all photos below")
    func marks() async throws {
        try await openTop()
        screens.press("G", "k", "y")
        #expect(screens.copied.last?.split(separator: "\n").count == 3)
        screens.press(" ")
        #expect(screens.title.contains("3 marked") && screens.selected == "e.jpg")
        screens.press("k", " ")
        #expect(!screens.title.contains("marked"))
        screens.press(.control("a"))
        #expect(screens.title.contains("5 marked"))
        screens.press("*")
        #expect(!screens.title.contains("marked"))
    }

    @Test("Backspace, held in the command line, does not leave the gallery and its marks")
    func heldBackspace() async throws {
        try await openTop()
        screens.press(" ", ":", "x")
        for _ in 0..<6 { screens.press(Key(.backspace)) }
        #expect(screens.status == ":" && screens.title.contains("1 marked"))
        // After another key, Backspace closes the empty line.
        screens.press(.control("u"), Key(.backspace))
        #expect(screens.root.commandLine == nil && screens.title.contains("1 marked"))
    }

    @Test("A folder shows a mark while all photos below are marked", arguments: [false, true])
    func marksOfFolders(isSheet: Bool) async throws {
        try await openTop()
        if isSheet { screens.press(Key(.tab)) }
        let (next, previous): (Key, Key) = isSheet ? ("l", "h") : ("j", "k")
        var marks: Int { screens.text.split(separator: "✓", omittingEmptySubsequences: false).count - 1 }
        screens.press(next, " ")
        try await screens.until { marks == 1 }
        // A photo in Lisbon loses its mark. The photo in Porto keeps it.
        screens.press(previous, Key(.enter))
        try await screens.until { screens.text.contains("Lisbon/") }
        screens.press(Key(.enter))
        try await screens.until { screens.text.contains("b.jpg") }
        screens.press(" ", Key(.backspace))
        try await screens.until { screens.text.contains("Porto/") && marks == 1 }
        #expect(screens.title.contains("2 marked"))
        screens.press(Key(.backspace))
        try await screens.until { screens.text.contains("2023/") }
        #expect(screens.title.contains("2 marked") && marks == 0)
        screens.press(" ")
        try await screens.until { marks == 1 }
        #expect(screens.title.contains("3 marked"))
    }

    @Test("A range of marks includes the photos of all folders in it")
    func rangesOfMarks() async throws {
        try await openTop()
        screens.press("G", " ", "k", "M")
        #expect(screens.selected == "2024/" && screens.title.contains("4 marked"))
        // The next range starts at that folder.
        screens.press("k", "M")
        #expect(screens.selected == "2023/" && screens.title.contains("5 marked"))
        // A folder that was marked alone starts a range, too.
        screens.press("u", " ")
        #expect(screens.selected == "2024/" && screens.title.contains("1 marked"))
        screens.press("M")
        #expect(screens.title.contains("4 marked"))
    }

    @Test("The photos of a large folder are read in the background, in the order of the keys pressed")
    func marksOfALargeFolder() async throws {
        try await sync((0..<1_100).map { "2025/\($0 / 600)/\($0).jpg" } + ["2023/d.jpg", "e.jpg"])
        screens.open(at: "e.jpg")
        try await screens.until { screens.root.openGallery?.lists.all.isComplete == true }
        screens.press("t")
        try await screens.until { screens.selected == "e.jpg" && screens.title.contains("3 of 3") }
        // This marks the folders and the photo, and then removes the marks of the first folder.
        screens.press("g")
        screens.type("3 ")
        screens.press("g", " ")
        #expect(!screens.title.contains("marked") && screens.selected == "2025/")
        try await screens.until { screens.title.contains("1101 marked") }
        screens.press("*")
        try await screens.until { screens.title.contains("1 marked") && !screens.title.contains("1101") }
        screens.press(.control("a"))
        try await screens.until { screens.title.contains("1102 marked") }
        // A single photo is copied at once.
        screens.press("u", "G", " ", "y")
        #expect(screens.copied == ["http://example.org/album/e.jpg"])
        screens.press("u", "k", "y")
        #expect(screens.copied.count == 1)
        try await screens.until { screens.copied.count == 2 }
        #expect(screens.copied.last?.hasPrefix("http://example.org/album/2025/0/0.jpg\n") == true)
    }

    @Test("A question about a large folder does not interrupt the user's typing", arguments: ["/", ":"] as [Character])
    func lateQuestion(prompt: Character) async throws {
        try await sync((0..<1_100).map { "2025/\($0).jpg" } + ["e.jpg"])
        screens.open(at: "e.jpg")
        try await screens.until { screens.root.openGallery?.lists.all.isComplete == true }
        screens.press("t")
        try await screens.until { screens.title.contains("2 of 2") }
        // The addresses are copied after the photos to delete have been read.
        screens.press("g", "D", "y", .character(prompt), "y")
        try await screens.until { screens.copied.count == 1 }
        #expect(screens.root.question == nil && screens.text.contains("\(prompt == "/" ? "/ " : ":")y"))
    }

    @Test("A slideshow of a folder shows the photos below")
    func slideshow() async throws {
        try await openTop()
        screens.press("j", "S")
        #expect(screens.title.contains("a.jpg") && screens.title.contains("slideshow"))
        // The next run opens the photo, not the folder that the list selects.
        let place = screens.root.place
        #expect(place.photo == "2024/Lisbon/a.jpg" && place.subfolder == nil && place.isPhotoOpen)
        // The slideshow keeps its list when another folder appears.
        try await sync(Self.paths + ["2022/f.jpg"])
        try await screens.until { screens.root.openGallery?.lists.folder?.subfolders.count == 3 }
        #expect(screens.title.contains("1 of 6"))
        screens.press(Key(.escape))
        #expect(screens.selected == "2024/")
    }

    @Test("Enter on a photo of a folder's slideshow goes to the photo's folder")
    func fromASlideshowToThePhotosFolder() async throws {
        try await openTop()
        screens.press("j", "S", Key(.enter))
        try await screens.until { screens.title.contains("› 2024 › Lisbon") }
        #expect(screens.selected == "a.jpg")
    }

    @Test("The contact sheet and plain text show folders, too")
    func otherLayouts() async throws {
        try await openTop()
        screens.press(Key(.tab))
        let text = screens.text
        #expect(text.contains("2023/") && text.contains("2024/") && text.contains("e.jpg"))
        screens.press("l", Key(.enter))
        try await screens.until { screens.text.contains("Lisbon/") }
        screens.press(Key(.tab))
        screens.type(":set plain yes")
        screens.press(Key(.enter), Key(.escape))
        #expect(screens.title.contains("index.xml / 2024"))
        #expect(screens.text.contains("> Lisbon/"))
    }

    @Test("The folder is restored, and a folder that is gone leads to the one above")
    func restoring() async throws {
        try await openTop()
        screens.press("j", Key(.enter))
        try await screens.until { screens.title.contains("› 2024 ") }
        screens.press(Key(.enter))
        try await screens.until { screens.selected == "a.jpg" }
        let place = screens.root.place
        #expect(place.folder == FolderPath("2024/Lisbon"))
        screens.root.start(at: place)
        try await screens.until { screens.title.contains("› Lisbon") }
        #expect(screens.selected == "a.jpg" && screens.root.place == place)
        try await sync(["2024/Porto/c.jpg", "2023/d.jpg", "e.jpg"])
        func isAbove() -> Bool { screens.title.contains("› 2024 ") && !screens.title.contains("Lisbon") }
        try await screens.until { isAbove() }
        #expect(screens.selected == "Porto/")
        screens.root.start(at: place)
        try await screens.until { isAbove() }
    }

    @Test("A selected subfolder is restored")
    func restoringASubfolder() async throws {
        try await openTop()
        #expect(screens.selected == "2023/")
        screens.press("q")
        #expect(screens.title.contains("Galleries"))
        _ = screens.root.handle(InterfaceEvent.openGallery(screens.cache.address))
        try await screens.until { screens.title.contains("1 of 3") }
        #expect(screens.selected == "2023/")
        // A change of the gallery keeps the selection, too.
        try await sync(Self.paths + ["2022/f.jpg"])
        try await screens.until { screens.title.contains("2 of 4") }
        #expect(screens.selected == "2023/")
        // An older version wrote no subfolder, and a subfolder can be gone. Then the first row is selected.
        var place = screens.root.place
        #expect(place.photo == nil && place.subfolder == FolderPath("2023"))
        for subfolder in [nil, FolderPath("2021")] {
            place.subfolder = subfolder
            screens.root.start(at: place)
            try await screens.until { screens.title.contains("1 of 4") }
            #expect(screens.selected == "2022/")
        }
    }

    @Test("A photo that is open in a folder is restored with the folder's photos")
    func restoringAPhoto() async throws {
        try await sync(Self.paths)
        screens.open(at: "2024/Lisbon/a.jpg")
        // The photo opens before the folder has been read.
        screens.press("t", Key(.enter))
        try await screens.until { screens.title.contains("1 of 2") }
        let place = screens.root.place
        #expect(place.isPhotoOpen && place.folder == FolderPath("2024/Lisbon"))
        screens.root.start(at: place)
        try await screens.until { screens.title.contains("1 of 2") }
        screens.press("]", "]")
        #expect(screens.title.hasPrefix(" b.jpg ") && screens.title.contains("2 of 2"))
    }

    @Test("Folders follow changes of the gallery")
    func following() async throws {
        try await openTop()
        screens.press("j")
        try await sync(Self.paths + ["2022/f.jpg", "2024/g.jpg"])
        try await screens.until { screens.text.contains("2022/") && screens.text.contains("4 photos") }
        #expect(screens.selected == "2024/" && screens.title.contains("3 of 4"))
    }

    @Test("If the selected folder leaves the gallery, the next row is selected")
    func removedFolder() async throws {
        try await openTop()
        screens.press("j")
        #expect(screens.selected == "2024/")
        try await sync(["2023/d.jpg", "e.jpg"])
        try await screens.until { screens.title.contains("of 2") }
        #expect(screens.selected == "e.jpg")
    }

    @Test("A folder on a server does not open as a gallery of its own")
    func ownGallery() async throws {
        try await openTop()
        screens.press("O")
        #expect(screens.status.contains("Only a local folder"))
        // The rows of a gallery on a server may name any file.
        try await sync(Self.paths, at: "file:///")
        screens.press("O")
        #expect(
            screens.status.contains("Only a local folder")
                && screens.root.place.gallery == screens.cache.address)
    }

    @Test("A folder of a local gallery opens as a gallery of its own")
    func ownLocalGallery() async throws {
        let pictures = TestFolder()
        for path in Self.paths { pictures.write("album/" + path, "x") }
        let album = Address(filePath: pictures.path("album"))
        let local = try TestScreens(Settings(), gallery: album)
        try await sync(Self.paths, at: album.text + "/list.xml", on: local)
        let openFolder = { (photo: String) in
            local.open(at: photo)
            local.type(":open-folder")
            local.press(Key(.enter))
        }
        openFolder("2023/d.jpg")
        #expect(local.root.place.gallery == album.appending("2023"))
        openFolder("2024/Lisbon/a.jpg")
        #expect(local.root.place.gallery == album.appending("2024").appending("Lisbon"))
        // The rows of a local gallery may name files outside it, too.
        try await sync(Self.paths, at: Address(filePath: pictures.path("list.xml")).text, on: local)
        openFolder("2023/d.jpg")
        #expect(local.status.contains("The folder is outside this gallery."))
    }

    @Test("Sections by folder have the folders' paths as titles, in every order")
    func sections() async throws {
        try await sync(Self.paths)
        screens.open(at: "e.jpg")
        // Months, days, folders. All photos are of one year.
        screens.press("#", "#", "#")
        try await screens.until { screens.text.contains("2024/Lisbon ──") }
        let text = screens.text
        #expect(text.contains("index.xml ──") && text.contains("2023 ──") && !text.contains("· 2024"))
        #expect(screens.selected == "e.jpg" && screens.title.contains("1 of 5"))
        screens.press("}")
        #expect(screens.selected == "d.jpg")
        screens.press("}")
        #expect(screens.selected == "a.jpg")
        screens.press(",", "N")
        try await screens.until { screens.title.contains("4 of 5") }
        #expect(screens.selected == "a.jpg" && screens.root.place.sections == .folder)
        let place = screens.root.place
        screens.root.start(at: place)
        try await screens.until { screens.text.contains("2024/Lisbon ──") }
        screens.press("#")
        try await screens.until { !screens.text.contains("──") }
        screens.press("#")
        try await screens.until { screens.text.contains("2024/Lisbon ──") }
    }

    @Test("The title of photos without a date says that the date is unknown")
    func undated() async throws {
        let base = try Address("http://example.org/album/")
        let dates = [Timestamp.unknown, Timestamp(milliseconds: 1_154_245_637_000)]
        try await screens.sync(
            dates.enumerated().map { number, date in
                GalleryEntry(
                    id: "\(number).jpg", name: "\(number).jpg", date: date, photo: try base.resolving("\(number).jpg"),
                    thumbnail: nil, revision: "1")
            })
        screens.open(at: "0.jpg")
        screens.press("#")
        let text = screens.text
        #expect(text.contains(" unknown date ──") && text.contains(" 2006 ──") && !text.contains("1970"))
    }

    @Test("The setting divides a list into folders, also if the photos arrive later")
    func sectionsBySetting() async throws {
        for isNew in [false, true] {
            let screens = try byFolder()
            if !isNew { try await sync(Self.paths, on: screens) }
            screens.open(at: isNew ? nil : "e.jpg")
            if isNew { try await sync(Self.paths, on: screens) }
            try await screens.until { screens.text.contains("2024/Lisbon ──") }
            #expect(screens.root.place.sections == nil)
            screens.press("#")
            try await screens.until { !screens.text.contains("──") }
            #expect(screens.root.place.sections == SectionRule.none)
        }
    }

    @Test("The first row of sections by folder is selected when the gallery opens")
    func firstRowOfSections() async throws {
        let screens = try byFolder()
        try await sync(Self.paths, on: screens)
        screens.open()
        try await screens.until { screens.text.contains("2024/Lisbon ──") }
        #expect(screens.selected == "e.jpg")
    }

    @Test("With the setting for folders, a gallery without folders has the default sections")
    func sectionsWithoutFolders() async throws {
        let screens = try byFolder()
        try await sync(["a.jpg", "b.jpg"], on: screens)
        screens.open(at: "a.jpg")
        #expect(!screens.text.contains("──") && screens.root.place.sections == nil)
        // All photos are of one month.
        screens.press("#", "#")
        try await screens.until { screens.text.contains("1 January 1970 ──") }
        #expect(screens.root.place.sections == .day)
    }

    private func byFolder() throws -> TestScreens {
        var settings = Settings()
        (settings.syncOnOpen, settings.sections) = (false, .folder)
        return try TestScreens(settings)
    }
}
