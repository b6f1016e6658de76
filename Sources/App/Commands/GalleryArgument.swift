import Files
import Glibc
import Model

/// Reads a gallery from the command line. The user can name a URL, a folder, a list file, or a picture in a folder.
enum GalleryArgument {
    /// Returns the address of an existing file or folder, or else of a typed URL.
    ///
    /// - Parameter buckets: returns the storage service for `s3://` addresses.
    static func address(_ text: String, home: String, buckets: () -> BucketService) throws(AddressError) -> Address {
        guard !text.isEmpty, access(text, F_OK) == 0 else {
            return try Address(typed: text, home: home, currentFolder: currentFolder, buckets: buckets())
        }
        let address = Address(filePath: text.hasPrefix("/") ? text : currentFolder + "/" + text)
        try address.checkLength()
        return address
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
    ///
    /// - Parameter isCached: whether Vitrine has the folder's photos in its cache. Then this call does not read the
    ///   folder, which can take long.
    init?(at address: Address, isCached: () throws -> Bool) rethrows {
        guard let path = address.filePath, let bytes = address.filePathBytes,
            ["gallery.xml", "index.xml"].allSatisfy({ access("\(path)/\($0)", F_OK) != 0 }), try !isCached(),
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
