import Glibc
import Model
import Publishing

/// Reads a gallery argument of the command line: a URL, a file or a folder.
enum GalleryArgument {
    /// Returns the address of an existing file or folder, or else of a typed URL.
    static func address(_ text: String, home: String) throws -> Address {
        let folder = currentFolder
        if !text.isEmpty, access(text, F_OK) == 0 {
            return Address(filePath: text.hasPrefix("/") ? text : folder + "/" + text)
        }
        return try Address(typed: text, home: home, currentFolder: folder)
    }

    /// The current working folder.
    static var currentFolder: String {
        guard let path = getcwd(nil, 0) else { return "/" }
        defer { free(path) }
        return String(cString: path)
    }
}

/// The error for a named folder without a list of photos.
struct GalleryFolder: Error, CustomStringConvertible {
    private let path: String
    private let hasPhotos: Bool

    /// The file names that a list may have.
    private static let lists = ["gallery.xml", "index.xml"]

    /// Creates the error; nil if the address is not a folder or the folder has a list.
    init?(withoutListAt address: Address) {
        guard let path = address.filePath else { return nil }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
            Self.lists.allSatisfy({ access("\(path)/\($0)", F_OK) != 0 })
        else { return nil }
        self.path = path
        hasPhotos = FolderPhotos.areIn(path)
    }

    /// The error as a sentence for the user.
    var description: String {
        hasPhotos
            ? "\(path) has photos but no list. Run “vitrine publish \(quoted)” to make one."
            : "\(path) is not a gallery: it has no list (gallery.xml or index.xml) and no photos."
    }

    /// The folder's path, quoted for a shell.
    private var quoted: String {
        let isPlain = path.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte >= 0x80
                || "/._-+,@%".utf8.contains(byte)
        }
        return isPlain
            ? path : "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
