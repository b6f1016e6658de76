import Glibc
import Model
import Publishing

/// A gallery as it is named on the command line: a URL, a file or a folder.
enum GalleryArgument {
    /// What is on the disk is meant, where there is such a thing; else it is read as if it were typed.
    static func address(_ text: String, home: String) throws -> Address {
        let folder = currentFolder
        if !text.isEmpty, access(text, F_OK) == 0 {
            return Address(filePath: text.hasPrefix("/") ? text : folder + "/" + text)
        }
        return try Address(typed: text, home: home, currentFolder: folder)
    }

    /// The folder that the program was started in.
    static var currentFolder: String {
        guard let path = getcwd(nil, 0) else { return "/" }
        defer { free(path) }
        return String(cString: path)
    }
}

/// A folder that the user named as a gallery, and that has no list.
struct GalleryFolder: Error, CustomStringConvertible {
    private let path: String
    private let hasPhotos: Bool

    /// Names of lists, the one that `vitrine publish` writes first.
    private static let lists = ["gallery.xml", "index.xml"]

    /// Looks at a gallery's address. Returns nil if it is no folder, or the folder has a list.
    init?(withoutListAt address: Address) {
        guard let path = address.filePath else { return nil }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
            Self.lists.allSatisfy({ access("\(path)/\($0)", F_OK) != 0 })
        else { return nil }
        self.path = path
        hasPhotos = FolderPhotos.areIn(path)
    }

    /// A sentence for the user.
    var description: String {
        hasPhotos
            ? "\(path) holds photos, but no list of them. Run “vitrine publish \(quoted)” to make one."
            : "\(path) is no gallery: it holds neither a list (gallery.xml or index.xml) nor photos."
    }

    /// The path as a shell reads it.
    private var quoted: String {
        let isPlain = path.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte >= 0x80
                || "/._-+,@%".utf8.contains(byte)
        }
        return isPlain
            ? path : "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
