import Glibc
import Model

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
