import Foundation
import TestSupport
import Testing

/// Galleries in folders that refer to files outside.
@Suite(.ownThread, .serialized) struct BoundaryTests {
    private let home = Household()
    private let folder = TestFolder()
    private let photo: [UInt8]
    private let secret: [UInt8]

    init() throws {
        let read = { (name: String) in
            [UInt8](try Data(contentsOf: URL(fileURLWithPath: Built.testGallery + "/images/" + name)))
        }
        (photo, secret) = (try read("owl.jpg"), try read("moon.jpg"))
        folder.write("secret/photo.jpg", secret)
        folder.write("gallery/photo.jpg", photo)
        folder.write("gallery/deep/photo.jpg", photo)
    }

    private func write(_ references: [String], to path: String = "gallery/gallery.xml") {
        let photos = references.enumerated().map { number, reference in
            """
            <photo id="\(number)" name="\(number)" date="2006-07-30T07:47:17Z"><image kind="image" srcURL="\(reference)"/>\
            <image kind="thumbnail" srcURL="\(reference)"/></photo>
            """
        }
        folder.write(path, "<album>" + photos.joined() + "</album>")
    }

    /// Exports all photos of a gallery and returns their contents.
    private func exported(_ gallery: String) throws -> [String: String] {
        let sync = try home.vitrine("sync", "--thumbnails", gallery)
        let export = try home.vitrine("export", gallery, home.folder.path("out"))
        var kinds: [String: String] = [:]
        for name in home.folder.entries("out") {
            let bytes = FileManager.default.contents(atPath: home.folder.path("out/" + name)).map(Array.init)
            kinds[String(name.prefix { $0 != "." })] = bytes == photo ? "photo" : bytes == secret ? "secret" : "other"
        }
        #expect(export.lines.count == kinds.count, "\(sync.errors)\(export.errors)")
        return kinds
    }

    @Test("Photos outside the gallery's folder are not fetched, even through links")
    func photos() throws {
        let top = folder.path("gallery/")
        symlink(folder.path("secret/photo.jpg"), top + "absolute.jpg")
        symlink("../secret/photo.jpg", top + "relative.jpg")
        symlink("../secret", top + "folder")
        symlink("/proc/self/root", top + "root")
        symlink("deep/photo.jpg", top + "inside.jpg")
        symlink("deep", top + "deeper")
        write([
            "photo.jpg", "inside.jpg", "deeper/photo.jpg", "absolute.jpg", "relative.jpg", "folder/photo.jpg",
            "root" + folder.path("secret/photo.jpg"), "deep%2F..%2F..%2Fsecret%2Fphoto.jpg", "../secret/photo.jpg",
        ])
        #expect(try exported(folder.path("gallery")) == ["0": "photo", "1": "photo", "2": "photo"])
        let list = try home.vitrine("list", "--json", folder.path("gallery"))
        let errors = list.text.components(separatedBy: "lies outside of the gallery").count - 1
        #expect(errors == 4, "\(list.text)")
        let check = try home.vitrine("export", folder.path("gallery"), home.folder.path("out"), "3")
        #expect(check.status == 1 && check.errors.contains("leads outside"), "\(check.errors)")
    }

    @Test("A named list may be a link; its photos are relative to the target")
    func namedList() throws {
        write(["photo.jpg"], to: "elsewhere/list.xml")
        folder.write("elsewhere/photo.jpg", secret)
        symlink("../elsewhere/list.xml", folder.path("gallery/named.xml"))
        symlink("gallery", folder.path("link"))
        #expect(try exported(folder.path("link/named.xml")) == ["0": "photo"])
    }

    @Test("A list found in a folder must not be a link to the outside")
    func foundList() throws {
        write(["photo.jpg"], to: "elsewhere/list.xml")
        symlink("../elsewhere/list.xml", folder.path("gallery/gallery.xml"))
        let sync = try home.vitrine("sync", folder.path("gallery"))
        #expect(sync.status == 1 && sync.errors.contains("leads outside"), "\(sync.errors)")
        unlink(folder.path("gallery/gallery.xml"))
        write(["photo.jpg"], to: "gallery/deep/list.xml")
        symlink("deep/list.xml", folder.path("gallery/gallery.xml"))
        #expect(try exported(folder.path("gallery")) == ["0": "photo"])
    }
}
