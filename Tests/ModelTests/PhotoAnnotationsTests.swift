import Model
import Testing

@Suite struct PhotoAnnotationsTests {
    private static var lake: PhotoAnnotations {
        var lake = PhotoAnnotations()
        (lake.rating, lake.isFavorite) = (4, true)
        lake.description = "The ferry\nat noon"
        (lake.author, lake.place) = ("Zoë", "Potsdam, Germany")
        (lake.people, lake.tags) = (["Anna Berg", "Uwe"], ["lake", "#1"])
        return lake
    }

    @Test("The stored form keeps everything, and needs nothing for a photo without annotations")
    func stored() {
        #expect(PhotoAnnotations().text.isEmpty && PhotoAnnotations(text: "").isEmpty)
        #expect(
            Self.lake.text == "****+\n~Zoë\n>Potsdam, Germany\n@Anna Berg\n@Uwe\n#lake\n##1\n|The ferry\n|at noon")
        #expect(PhotoAnnotations(text: Self.lake.text) == Self.lake)
        for (rating, isFavorite) in [(0, true), (5, false), (1, true)] {
            var marks = PhotoAnnotations()
            (marks.rating, marks.isFavorite) = (rating, isFavorite)
            #expect(PhotoAnnotations(text: marks.text) == marks)
        }
    }

    @Test("Texts of a list cannot add lines or marks, and are cut to a limit")
    func hostile() {
        var annotations = PhotoAnnotations()
        annotations.rating = 900
        annotations.tags = ["a\n@b", "", "\u{301}c", " \r\n "] + Array(repeating: "t", count: 100)
        annotations.description = "x\r\n#y\u{2028}*" + String(repeating: "é", count: 5_000)
        let read = PhotoAnnotations(text: annotations.text)
        #expect(read.rating == 5 && !read.isFavorite && read.people.isEmpty)
        #expect(read.tags.prefix(3) == ["a @b", "\u{301}c", "t"] && read.tags.count <= 64)
        #expect(read.description.hasPrefix("x\n#y\n*é") && read.description.utf8.count <= 4_096)
        #expect(PhotoAnnotations(text: read.text) == read)
        // Lines of a newer version, and damaged ones.
        #expect(PhotoAnnotations(text: "**\n!new\n\n#a").tags == ["a"])
    }
}
