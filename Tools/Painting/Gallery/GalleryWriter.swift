import Glibc

/// Paints the whole test gallery and writes it into a folder.
public struct GalleryWriter: Sendable {
    private let folder: Folder
    private let catalogue = Catalogue()

    /// The most bytes of a photo; most need fewer.
    private static let photoBudget = 250_000

    private static let thumbnailSide = 320

    /// - Parameter path: The output folder, created if missing.
    public init(path: String) {
        folder = Folder(path)
    }

    /// Writes all files. Each run writes the same bytes.
    public func write() async throws {
        try folder.make("images")
        try folder.make("thumbnails")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for photo in catalogue.photos {
                group.addTask { try write(photo) }
            }
            group.addTask { try writeOddballs() }
            try await group.waitForAll()
        }
        try writeDocuments()
        try writeFakes()
    }

    private func write(_ photo: Photo) throws {
        let seen = photo.scene.picture()
        try folder.write(photo.file(of: seen, within: Self.photoBudget), to: photo.entry.image)
        try writeThumbnail(of: seen, sampling: photo.sampling, to: "thumbnails/\(photo.id).jpg")
        guard photo.id == AlbumDocuments.repainted else { return }
        // The second version is mirrored, so that it cannot be confused with the first.
        let mirrored = Orientation.mirrored.stored(seen)
        try folder.write(
            photo.file(of: mirrored, within: Self.photoBudget / 2), to: "images/\(photo.id)-2.jpg")
        try writeThumbnail(of: mirrored, sampling: photo.sampling, to: "thumbnails/\(photo.id)-2.jpg")
    }

    private func writeThumbnail(of seen: Raster, sampling: JPEGWriter.Sampling, to name: String) throws {
        let small = seen.reduced(longerSide: Self.thumbnailSide)
        try folder.write(JPEGWriter(small, sampling: sampling).file(within: 18_000, best: 88), to: name)
    }

    private func writeOddballs() throws {
        for oddball in Oddballs().files { try folder.write(oddball.bytes, to: oddball.name) }
    }

    private func writeDocuments() throws {
        let entries = catalogue.photos.map(\.entry)
        let documents = AlbumDocuments(entries).files + BrokenDocuments(entries).files
        for document in documents { try folder.write(Array(document.text.utf8), to: document.name) }
        try folder.write(Array(AlbumDocuments.album(Oddballs.entries).utf8), to: "oddballs.xml")
    }

    /// Writes files that claim to be pictures but are invalid.
    private func writeFakes() throws {
        let whole = JPEGWriter(DesertDusk().picture(dividedBy: 4)).file(quality: 80)
        try folder.write(Array(whole[..<(whole.count * 2 / 5)]), to: "images/truncated.jpg")
        var random = RandomSource(seed: 666)
        let noise = (0..<4000).map { _ in UInt8(truncatingIfNeeded: random.bits()) }
        try folder.write(Array(whole[..<20]) + noise, to: "images/damaged.jpg")
        try folder.write(
            Array("This is not a picture, whatever its name says.\n".utf8), to: "images/not-a-picture.jpg")
    }
}

/// A folder for output files.
struct Folder: Sendable {
    private let path: String

    init(_ path: String) {
        self.path = path
    }

    /// Creates a subfolder, and this folder if necessary.
    func make(_ name: String) throws {
        try Self.make(path)
        try Self.make("\(path)/\(name)")
    }

    /// Writes a file, replacing an existing one.
    func write(_ bytes: [UInt8], to name: String) throws {
        guard let file = fopen("\(path)/\(name)", "wb") else {
            throw FolderError(path: "\(path)/\(name)", code: errno)
        }
        let written = fwrite(bytes, 1, bytes.count, file)
        let code = errno
        guard fclose(file) == 0, written == bytes.count else {
            throw FolderError(path: "\(path)/\(name)", code: code)
        }
    }

    private static func make(_ path: String) throws {
        if mkdir(path, 0o777) != 0, errno != EEXIST { throw FolderError(path: path, code: errno) }
    }
}

/// The reason why a folder or file could not be written.
struct FolderError: Error, CustomStringConvertible {
    let path: String
    let code: Int32

    var description: String { "\(path): \(String(cString: strerror(code)))" }
}
