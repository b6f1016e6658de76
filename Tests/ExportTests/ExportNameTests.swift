import Model
import Testing

@testable import Export

@Suite struct ExportNameTests {
    private func name(
        _ title: String, _ format: PictureSignature? = .jpeg, _ video: VideoSignature? = nil, id: String = "id-7"
    ) -> String {
        let state = RenditionState(edition: 1)
        let photo = Photo(
            key: PhotoKey(1), galleryID: id, name: title, date: Timestamp(milliseconds: 0), thumbnail: state,
            original: state)
        return ExportName(photo, format, video).text
    }

    @Test("A title gets the ending of the file's format") func endings() {
        #expect(name("Lake") == "Lake.jpg")
        #expect(name("Lake", .png) == "Lake.png")
        #expect(name("Lake.JPG") == "Lake.JPG" && name("Lake.jpeg") == "Lake.jpeg")
        // Many cameras' raw files are TIFFs.
        #expect(name("Lake.NEF", .tiff) == "Lake.NEF" && name("Lake", .tiff) == "Lake.tif")
        #expect(name("Lake", .tiff, id: "2024/lake.DNG") == "Lake.dng" && name("Lake", .cr3) == "Lake.cr3")
        // Cameras name their HEIF photos so.
        #expect(name("IMG_1.HIF", .heif) == "IMG_1.HIF" && name("Lake", .heif, id: "a/b.HIF") == "Lake.hif")
        // The title contradicts the format.
        #expect(name("Lake.jpg", .png) == "Lake.jpg.png")
        #expect(name("See bei Nacht, 1. Bild") == "See bei Nacht, 1. Bild.jpg")
        #expect(name("湖") == "湖.jpg")
    }

    @Test("A video's title gets the ending of the file's format") func videoEndings() {
        #expect(name("Lake", nil, .mp4) == "Lake.mp4" && name("Lake.MOV", nil, .mp4) == "Lake.MOV")
        #expect(name("Lake", nil, .mp4, id: "2024/lake.M4V") == "Lake.m4v" && name("Lake", nil, .avi) == "Lake.avi")
        #expect(name("Lake.mp4", nil, .matroska) == "Lake.mp4.mkv")
        #expect(
            name("Lake.mts", nil, .transportStream) == "Lake.mts" && name("Lake", nil, .programStream) == "Lake.mpg")
    }

    @Test(
        "A gallery chooses only endings of pictures and videos",
        arguments: ["index.html", "x.php", "x.desktop", "GNUmakefile", "Makefile", "a.jpg.html", ".mp4"])
    func otherEndings(title: String) {
        #expect(name(title, nil, .mp4, id: "7").hasSuffix(".mp4"))
        #expect(name(title, nil, id: "7").hasSuffix(".bin") && name("", nil, id: title).hasSuffix(".bin"))
    }

    @Test("A file with unknown contents keeps the ending of a picture or a video") func unknownContents() {
        #expect(name("Lake.NEF", nil) == "Lake.NEF" && name("Lake", nil, id: "2024/lake.MOV") == "Lake.mov")
    }

    @Test("An ending from the cache gives the same name as the file's format, and is no path")
    func storedEndings() {
        let state = RenditionState(edition: 1)
        func photo(_ title: String, id: String) -> Photo {
            Photo(
                key: PhotoKey(1), galleryID: id, name: title, date: Timestamp(milliseconds: 0), thumbnail: state,
                original: state)
        }
        let formats: [PictureSignature?] = [.jpeg, .tiff, nil]
        for title in ["Lake", "Lake.JPG", "Lake.jpeg", "Lake.NEF", "Lake.mov", ""] {
            for format in formats {
                let lake = photo(title, id: "2024/lake.DNG")
                let name = ExportName(lake, format)
                #expect(ExportName(lake, ending: name.kind) == name)
            }
        }
        for ending in ["", "/../x", "a.b", "JPG", "123456789", "jp\u{301}g"] {
            #expect(ExportName(photo("Lake", id: "7"), ending: ending) == nil)
        }
    }

    @Test("A hostile title becomes one harmless name") func harmlessNames() {
        #expect(name("../../.bashrc") == "_._.._.bashrc.jpg")
        #expect(name("a/b") == "a_b.jpg")
        #expect(name(".hidden") == "_hidden.jpg" && name("-rf") == "_rf.jpg")
        // An accent after a sign belongs to the sign's character in Swift, but not in a file system.
        #expect(name("a/\u{301}b").utf8.count { $0 == 0x2F } == 0 && name(".\u{301}x").utf8.first == 0x5F)
        #expect(
            name("-\u{301}x").utf8.first == 0x5F
                && name("a\u{301}" + String(repeating: "\u{302}", count: 300)) != ".jpg")
        #expect(name("") == "id-7.jpg" && name("", id: "") == "photo.jpg" && name("  .. ") == "id-7.jpg")
        #expect(name(".jpg") == "_jpg.jpg")
        let hostile = name("a\u{0}b\u{1B}[2Jc\nd\u{202E}gpj")
        #expect(hostile.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0.value != 0x202E })
    }

    @Test("A portable name has none of the signs that FAT forbids") func portableNames() {
        func portable(_ title: String, _ format: PictureSignature? = .jpeg) -> String {
            ExportName(named: title, id: "id-7", format).portable.text
        }
        #expect(portable(#"a\b:c*d?e"f<g>h|i"#) == "a_b_c_d_e_f_g_h_i.jpg")
        #expect(portable("Why?\u{301}").unicodeScalars.allSatisfy { $0 != "?" })
        #expect(portable("See bei Nacht, 1. Bild.JPG") == "See bei Nacht, 1. Bild.JPG" && portable("湖") == "湖.jpg")
        // FAT drops a space at the end of a name. The cut name has one, but the ending follows.
        #expect(portable(String(repeating: "x", count: 179) + " y", nil).hasSuffix("x .bin"))
    }

    @Test("A long title is cut between characters") func longTitles() {
        for title in [String(repeating: "x", count: 3_000), String(repeating: "e\u{301}湖👧", count: 300)] {
            let text = name(title)
            #expect(text.utf8.count <= 200 && text.hasSuffix(".jpg") && title.hasPrefix(text.dropLast(4).prefix(5)))
        }
        let many = ExportName(
            Photo(
                key: PhotoKey(1), galleryID: "x", name: "Lake", date: Timestamp(milliseconds: 0),
                thumbnail: RenditionState(edition: 1), original: RenditionState(edition: 1)), .jpeg)
        #expect(many.numbered(2).text == "Lake (2).jpg")
    }
}
