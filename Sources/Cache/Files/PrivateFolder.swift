import Glibc

/// Folders that are the user's own and nobody else's to read.
enum PrivateFolder {
    /// Makes a folder, its parents too, or checks one that is there.
    ///
    /// A link in its place, or somebody else's folder, is refused: what is written there would not be ours.
    static func make(_ path: String) throws(CacheError) {
        try makeWhatIsMissing(path)
        try check(path)
    }

    /// The parents are the user's business: a home may well lie behind a link.
    private static func makeWhatIsMissing(_ path: String) throws(CacheError) {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw failure(path)
        }
        try makeWhatIsMissing(String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure(path) }
    }

    /// Checks that a folder of the cache is a folder, ours, and closed to others.
    static func check(_ path: String) throws(CacheError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw failure(path) }
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else { throw .notOurs(path: path) }
        guard status.st_mode & 0o077 == 0 || chmod(path, 0o700) == 0 else { throw failure(path) }
    }

    /// The names of a folder's entries; none if it cannot be read.
    static func entries(_ path: String) -> [String] {
        (try? readableEntries(path)) ?? []
    }

    /// The names of a folder's entries.
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
