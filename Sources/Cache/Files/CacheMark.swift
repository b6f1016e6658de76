import Glibc

/// Tells a folder of caches from a folder that holds something else of the user's.
///
///     try CacheMark.claim("/home/me/.cache/vitrine")
///
/// Vitrine closes its folder of caches to others and removes what it does not know there. So it takes no folder but one that
/// it has made, or one that is empty. It knows its own by a mark, a file with a name that nothing else has; the folders of
/// earlier versions, which made no mark, it knows by what they hold.
enum CacheMark {
    /// The mark's name.
    static let name = ".vitrine-cache"
    /// The folder in it that holds a folder for each gallery.
    static let galleries = "galleries"

    /// Makes the folder, or takes one that is empty or a folder of caches already. Any other is left as it is.
    static func claim(_ path: String) throws(CacheError) {
        var status = stat()
        if lstat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else { throw .notOurs(path: path) }
            let entries = try PrivateFolder.readableEntries(path)
            guard entries.isEmpty || isMarked(path) || hasLayout(path, entries) else { throw .notACache(path: path) }
        }
        try PrivateFolder.make(path)
        try PrivateFolder.make("\(path)/\(galleries)")
        leave(in: path)
    }

    /// Whether a name is that of a gallery's folder.
    static func isGallery(_ name: String) -> Bool {
        name.utf8.count == 16 && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    private static func isMarked(_ path: String) -> Bool {
        var status = stat()
        return lstat("\(path)/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            && status.st_uid == geteuid()
    }

    /// A folder of galleries' folders and nothing else, or with a gallery's cache among others. Where there is no gallery yet,
    /// nothing else may lie beside it.
    private static func hasLayout(_ path: String, _ entries: [String]) -> Bool {
        guard entries.contains(galleries) else { return false }
        let names = PrivateFolder.entries("\(path)/\(galleries)")
        guard !names.isEmpty else { return entries.count == 1 }
        return names.allSatisfy(isGallery)
            || names.contains { isGallery($0) && access("\(path)/\(galleries)/\($0)/lock", F_OK) == 0 }
    }

    /// Leaves the mark last, since another program that starts at this moment knows the folder by its layout. Where nothing
    /// can be written, the layout has to do later too.
    private static func leave(in path: String) {
        let mark = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if mark >= 0 { close(mark) }
    }
}
