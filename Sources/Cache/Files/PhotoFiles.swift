import Glibc
import Logging
import Model

/// The folder of a gallery's photos, and the one of files that are still on their way.
///
/// File first, row second: bytes go to a partial file, which is synced and moved here, and only then does a row name it.
/// So a row never dangles; a file that no row names is an orphan, left behind by a program that died, and is swept.
///
/// A lock on the open file tells a file in the making from an orphan, across processes: the system drops it when the
/// program that held it dies, however it dies.
public struct PhotoFiles: Sendable {
    let photosFolder: String
    let partialFolder: String
    private let log: Log

    init(folder: String, log: Log) throws {
        photosFolder = folder + "/photos"
        partialFolder = folder + "/partial"
        self.log = log
        try PrivateFolder.make(photosFolder)
        try PrivateFolder.make(partialFolder)
    }

    /// A new name: never used before, made of nothing from outside. Its first part tells whose file it is.
    static func name(for key: PhotoKey, edition: Int) -> String {
        "\(key.rawValue)-\(edition)-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
    }

    /// The photo that a file was stored for; nil if the name is none of ours.
    static func key(in name: String) -> PhotoKey? {
        name.split(separator: "-", maxSplits: 1).first.flatMap { Int64($0) }.map(PhotoKey.init)
    }

    /// Where a photo's file lies.
    public func path(_ photo: StoredPhoto) -> String {
        path(photo.name)
    }

    func path(_ name: String) -> String {
        photosFolder + "/" + name
    }

    /// Begins a file for bytes that are on their way.
    public func makePartial() throws -> PartialFile {
        try PartialFile(in: partialFolder)
    }

    /// Whether a photo's file is still what was stored. Reads all of it. Where no file can be opened at all, nothing is known
    /// against it.
    public func isIntact(_ photo: StoredPhoto) -> Bool {
        let descriptor = open(path(photo.name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return [EMFILE, ENFILE].contains(errno) }
        defer { close(descriptor) }
        guard let found = FileDigest.ofFile(descriptor) else { return false }
        return found.size == photo.size && found.digest == photo.digest
    }

    func remove(_ name: String) {
        guard unlink(path(name)) != 0, errno != ENOENT else { return }
        log.error(.cache, "\(name) cannot be removed: \(String(cString: strerror(errno)))")
    }

    /// Removes what programs that died have left behind. Returns how many files went.
    ///
    /// - Parameter isNamed: whether a row names a file. Asked after the file's lock was taken: whoever was making it
    ///   is then done, row and all, or dead.
    func sweep(isNamed: (String) throws -> Bool) rethrows -> Int {
        var removed = 0
        for name in PrivateFolder.entries(partialFolder) {
            removed += removeIfAbandoned(partialFolder + "/" + name, if: { true }) ? 1 : 0
        }
        for name in PrivateFolder.entries(photosFolder) {
            removed += try removeIfAbandoned(path(name), if: { try !isNamed(name) }) ? 1 : 0
        }
        return removed
    }

    /// Removes a file that nobody holds, if it is of no use: under its lock, so that nobody begins to hold it meanwhile.
    private func removeIfAbandoned(_ path: String, if isUseless: () throws -> Bool) rethrows -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        // A link is none of ours, and nobody can hold it.
        guard descriptor >= 0 else { return errno == ELOOP && unlink(path) == 0 }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return false }
        return try isUseless() && unlink(path) == 0
    }
}
