import Glibc

/// The names in a folder.
enum FolderNames {
    /// Reads the names of a folder's entries; none if it cannot be read.
    ///
    /// - Parameter folder: open for reading, and closed by this.
    static func names(consuming folder: Int32) -> [String] {
        guard let stream = fdopendir(folder) else {
            close(folder)
            return []
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
            let start = (UnsafeMutableRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self)
            // A name that is no UTF-8 is none of Vitrine's.
            if let name = String(validatingCString: start), name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
