import Foundation
import TestSupport
import Testing

/// `vitrine info`: words for people, stable names for programs.
@Suite(.ownThread, .serialized) struct InfoTests {
    private let home = Household()
    private let dawn = Built.testGallery + "/images/dawn-ridge.jpg"
    private let owl = Built.testGallery + "/images/owl.jpg"

    private func json(_ command: Command) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(command.output))
    }

    @Test func peopleGetWords() throws {
        let info = try home.vitrine("info", dawn)
        #expect(info.status == 0 && info.errors.isEmpty)
        let lines = Set(info.lines)
        func line(_ name: String, _ text: String) -> String {
            name.padding(toLength: 28, withPad: " ", startingAt: 0) + text
        }
        #expect(lines.contains(line("exposure", "1/125 s")), "\(info.text)")
        #expect(lines.contains { $0.hasPrefix("aperture ") && $0.contains(" f/") })
        #expect(lines.contains { $0.hasPrefix("focal length ") && $0.hasSuffix(" mm") })
        #expect(lines.contains(line("sensitivity", "ISO 100")))
        #expect(lines.contains { $0.hasPrefix("size ") && $0.contains("1600 × ") && $0.hasSuffix(" MP") })
        #expect(lines.contains { $0.hasPrefix("file size ") && $0.hasSuffix(" KB") })
        #expect(lines.contains(line("taken", "2006-07-30 07:47:17")) || lines.contains { $0.hasPrefix("taken ") })
    }

    @Test func placesAreOnAMap() throws {
        let photo = Built.testGallery + "/images/lighthouse.jpg"
        let info = try home.vitrine("info", photo)
        #expect(info.lines.contains { $0.hasPrefix("place ") && $0.contains("° N, ") || $0.contains("° S, ") })
        #expect(info.lines.contains { $0.hasPrefix("map ") && $0.contains("https://www.openstreetmap.org/?mlat=") })
        #expect(info.lines.contains { $0.hasPrefix("stored ") && $0.hasSuffix("rotated 90° right") })
        let facts = try #require(try json(try home.vitrine("info", "--json", photo)) as? [String: Any])
        #expect(facts["latitude"] is Double && facts["longitude"] is Double && facts["orientation"] as? Int == 6)
        #expect(facts["map"] == nil && facts["place"] == nil)
    }

    @Test("Towns are in the output of info and list, and a search finds them, without any request")
    func town() throws {
        let photo = Built.testGallery + "/images/tulips.jpg"
        #expect(
            try home.vitrine("info", photo).lines.contains {
                $0.hasPrefix("town ") && $0.hasSuffix("Lisse, Netherlands")
            })
        let facts = try #require(try json(try home.vitrine("info", "--json", photo)) as? [String: Any])
        #expect(facts["town"] as? String == "Lisse, Netherlands" && facts["townDistance"] as? Int == 0)
        _ = try home.vitrine("sync", "--photos", Built.testGallery)
        let found = try home.vitrine("list", "--json", "--matching", "place:lisse", Built.testGallery)
        let photos = try #require(try json(found) as? [[String: Any]])
        #expect(photos.map { $0["id"] as? String } == ["tulips"])
        #expect(photos.first?["town"] as? String == "Lisse, Netherlands")
    }

    @Test func jsonNamesAreStable() throws {
        let facts = try #require(try json(try home.vitrine("info", "--json", dawn)) as? [String: Any])
        #expect(facts["format"] as? String == "JPEG" && facts["width"] as? Int == 1600)
        #expect(facts["exposure"] as? Double == 0.008 && facts["iso"] as? Int == 100)
        #expect(facts["aperture"] is Double && facts["focalLength"] is Double && facts["taken"] is String)
        let size = try FileManager.default.attributesOfItem(atPath: dawn)[.size] as? Int
        #expect(facts["bytes"] as? Int == size && facts["exif"] is [String: Any] && facts["source"] == nil)
    }

    /// The cache stores an unknown date as the start of 1970.
    @Test("A photo of unknown date has no date in the output of info and list")
    func unknownDate() throws {
        let list = home.folder.write(
            "gallery/gallery.xml",
            """
            <album><photo id="lake" name="Lake" date="1970-01-01T00:00:00Z"><image kind="image" srcURL="lake.jpg"/>\
            </photo></album>
            """)
        #expect(try home.vitrine("sync", "--list-only", list).status == 0)
        #expect(try home.vitrine("list", list).text == "lake\t\tLake\tnothing\n")
        let facts = try #require(try json(try home.vitrine("info", "--json", list + "#lake")) as? [String: Any])
        #expect(facts["name"] as? String == "Lake" && facts["date"] == nil)
        let info = try home.vitrine("info", list + "#lake")
        #expect(info.status == 0 && !info.lines.contains { $0.hasPrefix("date ") }, "\(info.text)")
    }

    @Test func severalAreAnArrayInOrder() throws {
        _ = try home.vitrine("sync", "--list-only", Built.testGallery)
        let (missing, photo) = (home.folder.path("none.jpg"), Built.testGallery + "#owl")
        let command = try home.vitrine("info", "--json", dawn, missing, photo, owl)
        #expect(command.status == 1 && command.errors.contains("none.jpg: "))
        let facts = try #require(try json(command) as? [[String: Any]])
        #expect(facts.map { $0["source"] as? String } == [dawn, missing, photo, owl])
        #expect(facts[1]["error"] is String && facts[1].count == 2)
        #expect(facts[2]["id"] as? String == "owl" && facts[3]["width"] is Int)
        // Each line has one object.
        #expect(command.lines.count == 6)
        let words = try home.vitrine("info", dawn, missing, owl)
        #expect(words.status == 1 && words.lines.filter { $0.hasPrefix("source ") }.count == 2)
        #expect(words.text.contains("\n\nsource "))
    }

    @Test("The error about the only file names the file")
    func missingFile() throws {
        let info = try home.vitrine("info", "/nope")
        #expect(info.status == 1 && info.errors.hasPrefix("vitrine: /nope: "), "\(info.errors)")
    }

    /// A file's name may look like a gallery's photo.
    @Test func fileNamesMayContainNumberSigns() throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: owl))
        let path = home.folder.write("a#b.jpg", [UInt8](bytes))
        #expect(try home.vitrine("info", path).status == 0)
        let nobody = try home.vitrine("info", home.folder.path("c#d.jpg"))
        #expect(nobody.status == 1 && nobody.errors.contains("has never fetched"))
    }
}
