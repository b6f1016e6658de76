import Glibc

/// Folders that only the user can access.
enum PrivateFolder {
    /// Creates a folder and its parents, or checks an existing folder.
    ///
    /// Throws if the path is a link or belongs to another user.
    static func make(_ path: String) throws(CacheError) {
        try makeMissing(path)
        try check(path)
    }

    /// Creates a folder and its missing parents. The parents may be links, such as a linked home folder.
    private static func makeMissing(_ path: String) throws(CacheError) {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw failure(path)
        }
        try makeMissing(String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure(path) }
    }

    /// Checks that a path is a folder that belongs to the user. Makes the folder private.
    static func check(_ path: String) throws(CacheError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw failure(path) }
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else { throw .notOurs(path: path) }
        guard status.st_mode & 0o077 == 0 || chmod(path, 0o700) == 0 else { throw failure(path) }
    }

    /// Returns the names of a folder's entries. Returns none if the folder is unreadable.
    static func entries(_ path: String) -> [String] {
        (try? readableEntries(path)) ?? []
    }

    /// Returns the names of a folder's entries. Throws if the folder is unreadable.
    static func readableEntries(_ path: String) throws(CacheError) -> [String] {
        guard let folder = opendir(path) else { throw failure(path) }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private static func failure(_ path: String) -> CacheError {
        .cannotOpen(path)
    }
}
