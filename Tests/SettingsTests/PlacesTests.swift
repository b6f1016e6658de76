import Model
import TestSupport
import Testing

@testable import Settings

@Suite struct PlacesTests {
    private func address(_ number: Int) throws -> Address { try Address("http://example.org/\(number).xml") }

    @Test("BEHAVIOURS 6.3: a gallery's view round-trips")
    func roundTrip() throws {
        var place = Place(gallery: try address(1), photo: "two\nlines\t", isPhotoOpen: true)
        place.fillsScreen = true
        place.view = .sheet
        place.order = PhotoOrder(.name, ascending: false)
        place.sections = SectionRule.none
        place.filter = "an owl\t\u{1B}"
        place.folder = FolderPath("2024/an owl\t")
        place.subfolder = FolderPath("2024/an owl\t/eggs\n")
        #expect(Place(text: place.line) == place)
        place.folder = .top
        #expect(Place(text: place.line) == place)
        #expect(!place.line.contains("\n") && !place.line.contains("\u{1B}"))
        for order in PhotoOrder.Criterion.allCases.flatMap({ [PhotoOrder($0), PhotoOrder($0, ascending: false)] }) {
            place.order = order
            #expect(Place(text: place.line).order == order)
        }
    }

    @Test("A position with another photo keeps the gallery's view, but no filter or folder that could hide the photo")
    func anotherPhoto() throws {
        var place = Place(gallery: try address(1), photo: "a", isPhotoOpen: true)
        (place.fillsScreen, place.view, place.sections) = (true, .sheet, .month)
        place.order = PhotoOrder(.name, ascending: false)
        (place.filter, place.folder, place.subfolder) = ("owl", FolderPath("2024"), FolderPath("2024/owls"))
        #expect(place.showing(photoOf: nil) == place && place.showing(photoOf: Place(isPhotoOpen: true)) == place)
        var expected = Place(gallery: try address(1), photo: "b")
        (expected.view, expected.order, expected.sections) = (place.view, place.order, place.sections)
        #expect(place.showing(photoOf: Place(photo: "b")) == expected)
        expected.isPhotoOpen = true
        #expect(place.showing(photoOf: Place(photo: "b", isPhotoOpen: true)) == expected)
    }

    @Test(arguments: [
        "view=tiles", "sort=colour", "sections=week", "filter=zz", "zoom=3", "reversed=yes", "subfolder=zz", "tree=61",
    ])
    func invalidTextIsIgnored(text: String) throws {
        let expected = Place(gallery: try address(1))
        #expect(Place(text: expected.line + "\t" + text) == expected)
    }

    @Test("A place omits the secrets of its gallery’s address and is found by the full address")
    func secrets() throws {
        let gallery = try Address("http://example.org/a.xml?page=2&access_token=s3cret")
        var places = Places()
        places.record(Place(gallery: gallery, photo: "one"))
        for places in [places, Places(text: places.text)] {
            #expect(!places.text.contains("s3cret"))
            #expect(places.place(in: gallery)?.gallery?.text == gallery.text)
            let last = try #require(places.last.gallery)
            #expect(last.lacksSecrets && last.textWithoutSecrets == gallery.textWithoutSecrets)
        }
        // Older versions wrote the secrets.
        #expect(!Places(text: "gallery=\(gallery.text)\tphoto=61\n").text.contains("s3cret"))
    }

    @Test func latestPlaceComesFirst() throws {
        var places = Places()
        #expect(places.last == Place())
        for number in [1, 2, 3, 1] { places.record(Place(gallery: try address(number), photo: "\(number)")) }
        let last = Place(gallery: try address(1), photo: "1")
        #expect(galleryCount(places) == 3 && places.last == last)
        let read = Places(text: places.text)
        #expect(read == places)
        #expect(try read.place(in: address(2))?.photo == "2")
        // A prefix of an address is a different address.
        #expect(try read.place(in: Address("http://example.org/2")) == nil)
    }

    @Test func listOfGalleriesIsRestored() throws {
        var places = Places()
        places.record(Place(gallery: try address(1), photo: "a"))
        places.record(Place())
        let read = Places(text: places.text)
        #expect(read.last == Place() && read == places)
        #expect(try read.place(in: address(1))?.photo == "a")
        #expect(try read.lastGallery == address(1))
        #expect(Places(text: "").last == Place() && galleryCount(Places(text: "galleries\n\u{0}\n=")) == 0)
    }

    @Test func olderPlacesAreDropped() throws {
        var places = Places()
        for number in 0..<600 { places.record(Place(gallery: try address(number))) }
        #expect(galleryCount(places) == 500)
        #expect(try places.place(in: address(99)) == nil)
        #expect(try places.place(in: address(100)) != nil)
        let long = try Address("http://example.org/" + String(repeating: "x", count: 6_000))
        var large = Places()
        for number in 0..<200 { large.record(Place(gallery: try long.resolving("\(number)?" + long.description))) }
        #expect(large.text.utf8.count < 1 << 20 && Places(text: large.text).last == large.last)
    }

    // MARK: - The file

    private func locations(_ folder: TestFolder) -> Locations {
        Locations { ["HOME": folder.path, "XDG_STATE_HOME": folder.path][$0] }
    }

    @Test func placesOfTwoProgramsAreMerged() throws {
        let folder = TestFolder()
        let (one, other) = (PlacesFile(locations(folder)), PlacesFile(locations(folder)))
        try one.record([Place(gallery: address(1), photo: "a")])
        try other.record([Place(gallery: address(2), photo: "b")])
        try one.record([Place(gallery: address(1), photo: "c"), Place()])
        let places = other.read()
        #expect(try places.place(in: address(1))?.photo == "c")
        #expect(try places.place(in: address(2))?.photo == "b")
        #expect(places.last == Place())
    }

    @Test func olderFileIsRead() throws {
        let folder = TestFolder()
        let place = Place(gallery: try address(1), photo: "a", isPhotoOpen: true)
        folder.write("vitrine/place", "gallery=http://example.org/1.xml\nphoto=61\nopen=photo\n")
        let file = PlacesFile(locations(folder))
        #expect(file.read().last == place)
        // The newer file wins.
        try file.record([Place(gallery: address(2))])
        #expect(file.read().last == Place(gallery: try address(2)))
        #expect(try file.read().place(in: address(1)) == place)
    }

    @Test func unreadableFileIsEmpty() throws {
        let folder = TestFolder()
        folder.write("vitrine/places/x", "")
        #expect(PlacesFile(locations(folder)).read() == Places())
    }

    private func galleryCount(_ places: Places) -> Int {
        places.text.split(separator: "\n").count { $0.hasPrefix("gallery=") }
    }

    @Test("A gallery that was only named for an update is known, and keeps the last position")
    func named() throws {
        var places = Places()
        places.note(try address(1))
        #expect(try places.knows(address(1)) && !places.knows(address(2)) && places.last == Place())
        places.record(Place(gallery: try address(2), photo: "x"))
        places.note(try address(2))
        places.note(try address(3))
        let read = Places(text: places.text)
        #expect(try (1...3).allSatisfy { try read.knows(address($0)) })
        #expect(try read.last.gallery == address(2) && read.place(in: address(2))?.photo == "x")
        for number in 4...(Places.most + 4) { places.note(try address(number)) }
        #expect(try places.knows(address(2)) && places.knows(address(Places.most + 4)))
        #expect(places.text.split(separator: "\n").count == Places.most + 1)
    }
}
