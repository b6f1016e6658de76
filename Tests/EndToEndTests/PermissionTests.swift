import Foundation
import TestSupport
import Testing

/// The permissions of files in the user's folders and in Vitrine's own.
@Suite(.ownThread, .serialized) struct PermissionTests {
    private let home = Household()

    private func mode(_ path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_mode & 0o7777) : nil
    }

    private func vitrine(umask: String, _ arguments: String...) throws -> Command {
        try Command(
            "/bin/sh", ["-c", "umask \(umask); exec \"$0\" \"$@\"", Built.vitrine] + arguments,
            environment: home.environment())
    }

    private func makeFolder(_ name: String, _ mode: Int) throws -> String {
        let path = home.folder.path(name)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try #require(chmod(path, mode_t(mode)) == 0)
        return path
    }

    /// A umask, the folder's mode, and the expected mode of a file.
    private static let files = [
        ("022", 0o1777, 0o644), ("000", 0o777, 0o644), ("077", 0o755, 0o600), ("002", 0o775, 0o644),
        ("002", 0o2775, 0o664), ("022", 0o2775, 0o644),
    ]

    @Test("An exported photo has the permissions that the user's umask allows", arguments: files)
    func exported(umask: String, folder: Int, file: Int) throws {
        let path = try makeFolder("out", folder)
        let export = try vitrine(umask: umask, "export", Built.testGallery, path, "owl")
        #expect(export.status == 0, "\(export.errors)")
        let photo = try #require(home.folder.entries("out").first)
        #expect(mode(path + "/" + photo) == file)
        #expect(mode(path) == folder, "the folder is the user's and stays as it was")
    }

    @Test(
        "A folder that an export makes has the permissions that the user's umask allows",
        arguments: [("022", 0o755, 0o644), ("000", 0o755, 0o644), ("077", 0o700, 0o600)])
    func made(umask: String, folder: Int, file: Int) throws {
        let path = home.folder.path("out")
        #expect(try vitrine(umask: umask, "export", Built.testGallery, path, "owl").status == 0)
        let photo = try #require(home.folder.entries("out").first)
        #expect(mode(path) == folder && mode(path + "/" + photo) == file)
        #expect(mode(home.caches) == 0o700, "the cache is the user's alone, whatever the umask")
    }

    @Test("A published gallery has the permissions that the user's umask allows", arguments: files)
    func published(umask: String, folder: Int, file: Int) throws {
        let path = try makeFolder("photos", folder)
        let photo = FileManager.default.contents(atPath: Built.testGallery + "/images/owl.jpg").map(Array.init) ?? []
        home.folder.write("photos/owl.jpg", photo)
        let publish = try vitrine(umask: umask, "publish", path)
        #expect(publish.status == 0, "\(publish.errors)")
        #expect(mode(path + "/gallery.xml") == file)
        let thumbnail = try #require(home.folder.entries("photos/thumbnails").first { !$0.hasPrefix(".") })
        #expect(mode(path + "/thumbnails/" + thumbnail) == file)
        let execute = (file & 0o444) >> 2
        #expect(mode(path + "/thumbnails") == file | execute | folder & 0o2000)
        #expect(mode(path) == folder, "the folder is the user's and stays as it was")
    }
}
