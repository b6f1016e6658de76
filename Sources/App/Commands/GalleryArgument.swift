import Files
import Glibc
import Model
import Sandbox

/// Reads a gallery from the command line. The user can name a URL, a folder, a list file, or a picture in a folder.
enum GalleryArgument {
    /// Returns the address of an existing file or folder, or else of a typed URL. For a picture, returns the address of
    /// the picture's folder.
    ///
    /// - Parameter buckets: returns the storage service for `s3://` addresses.
    static func address(_ text: String, home: String, buckets: () -> BucketService) throws -> Address {
        guard let path = path(text) else {
            return try Address(typed: text, home: home, currentFolder: currentFolder, buckets: buckets())
        }
        let address = Address(filePath: path)
        try address.checkLength()
        return pictureName(path) == nil ? address : address.folderAlone
    }

    /// Returns a picture's id in the gallery of its folder. Returns nil unless the text is the path of a picture.
    static func photo(_ text: String) -> String? { path(text).flatMap(pictureName) }

    /// Returns the absolute path of an existing file or folder.
    ///
    /// For a link to a picture, returns the picture's own path, because the gallery of a folder leaves out links.
    private static func path(_ text: String) -> String? {
        guard !text.isEmpty, access(text, F_OK) == 0 else { return nil }
        let path = text.hasPrefix("/") ? text : currentFolder + "/" + text
        guard let target = target(ofLinkAt: path), pictureName(target) != nil else { return path }
        return target
    }

    /// Returns the path to which a link leads, without links. Returns nil if the path is no link.
    private static func target(ofLinkAt path: String) -> String? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return nil }
        return FetcherRules.realPath(of: path)
    }

    /// Returns the file's name if the file is a picture or a video.
    private static func pictureName(_ path: String) -> String? {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        var status = stat()
        guard PictureName.isPictureOrVideo(Array(name.utf8)[...]), stat(path, &status) == 0,
            status.st_mode & S_IFMT == S_IFREG
        else { return nil }
        return name
    }

    /// The current working folder.
    static var currentFolder: String {
        guard let path = getcwd(nil, 0) else { return "/" }
        defer { free(path) }
        return String(cString: path)
    }
}

/// The error for a named folder that has nothing to show.
struct EmptyFolder: Error, CustomStringConvertible {
    private let path: String

    /// The maximum number of pieces of a ``FolderTree`` to search for photos. Vitrine opens a larger tree in any case.
    private static let maximumPieces = 2_000

    /// Creates the error if the folder has neither a list nor photos. Otherwise returns nil.
    init?(at address: Address) {
        guard let path = address.filePath, let bytes = address.filePathBytes,
            ["gallery.xml", "index.xml"].allSatisfy({ access("\(path)/\($0)", F_OK) != 0 }),
            let tree = try? FolderTree(bytes: bytes, isWanted: PictureName.isPictureOrVideo)
        else { return nil }
        for _ in 0..<Self.maximumPieces {
            guard let piece = tree.next() else {
                self.path = path
                return
            }
            if !piece.files.isEmpty { return nil }
        }
        return nil
    }

    /// A sentence for the user.
    var description: String { "\(path) has no photos, and no gallery.xml or index.xml that lists photos." }
}
