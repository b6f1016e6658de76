import Files
import Glibc
import Logging
import Model
import Numbers
import SQLite

/// The files of a gallery's photos, complete and partial.
///
/// A transfer writes to a partial file. The cache syncs that file, moves it to the photos' folder, and then stores the
/// file's name in the photo's database row. So every file that a row names exists. A file that no row names is an
/// orphan, left by a program that was killed. Vitrine removes orphans.
///
/// Files being written are locked, so that other processes do not mistake them for orphans.
///
/// The photos of a local gallery stay where they are. The cache only records their paths, and Vitrine never changes
/// them.
public struct PhotoFiles: Sendable {
    let photosFolder: String
    let partialFolder: String
    private let gallery: Address
    private let log: Log

    /// - Parameter gallery: the address of the gallery. A local gallery's folder contains the photos.
    init(folder: String, of gallery: Address, log: Log) throws {
        photosFolder = folder + "/photos"
        partialFolder = folder + "/partial"
        self.gallery = gallery
        self.log = log
        try PrivateFolder.make(photosFolder)
        try PrivateFolder.make(partialFolder)
    }

    /// Returns a new random file name that starts with the photo's number and edition.
    static func name(for key: PhotoKey, edition: Int) -> String {
        "\(key.rawValue)-\(edition)-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
    }

    /// Whether a file name is that of a photo's edition.
    private static func isName(_ name: String, for key: PhotoKey, edition: Int) -> Bool {
        name.hasPrefix("\(key.rawValue)-\(edition)-")
    }

    /// Returns the key of the photo in a file name. Returns nil for other names.
    static func key(in name: String) -> PhotoKey? {
        name.split(separator: "-", maxSplits: 1).first.flatMap { Int64($0) }.map(PhotoKey.init)
    }

    /// Whether a text has the form of Vitrine's file names. Such a name has no slash, and is no hidden file.
    ///
    /// The check is necessary, because the fetcher reads strangers' bytes and can write any text into the database.
    static func isName(_ text: String) -> Bool {
        key(in: text) != nil
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// Returns the path of a photo's file, for display and for other programs.
    public func path(_ photo: StoredPhoto) -> String {
        photo.original?.filePath ?? path(photo.name)
    }

    /// Opens a photo's file for reading. The caller closes the descriptor.
    public func open(_ photo: StoredPhoto) throws(SystemError) -> Int32 {
        if let original = photo.original { return try open(original: original) }
        return try Self.open(path(photo.name))
    }

    private static func open(_ path: String) throws(SystemError) -> Int32 {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw SystemError() }
        // Reading a named pipe would never end.
        guard OriginalFile(descriptor) != nil else {
            close(descriptor)
            throw SystemError(EINVAL)
        }
        return descriptor
    }

    /// Opens the user's own file in the gallery's folder. Follows no links, so that it opens no other file.
    ///
    /// A gallery may be a list file. Then its folder is the folder that contains the list file.
    public func open(original: Address) throws(SystemError) -> Int32 {
        guard let path = original.filePathBytes, let folder = folder(around: path) else { throw SystemError(EXDEV) }
        return try FolderBoundary(bytes: folder).open(bytes: Array(path.dropFirst(folder.count)), .none)
    }

    /// Opens the folder of the user's own file, for new files beside it. Follows no links below the gallery's folder, so
    /// the descriptor leads to no other folder. The caller closes it.
    public func openFolder(ofOriginal original: Address) throws(SystemError) -> Int32 {
        guard let path = original.filePathBytes, let folder = folder(around: path) else { throw SystemError(EXDEV) }
        let below = path.dropFirst(folder.count)
        let end = below.lastIndex(of: UInt8(ascii: "/")) ?? below.startIndex
        return try FolderBoundary(bytes: folder).open(bytes: Array("./".utf8) + below[..<end], .none)
    }

    /// Whether an address is the gallery's local folder, or a folder below it.
    public func isFolder(_ address: Address) -> Bool {
        address.filePathBytes.map { folder(around: Self.prefix($0)) != nil } ?? false
    }

    /// Returns the path of the gallery's local folder, with a slash at its end. Returns nil if a path is not in this
    /// folder.
    private func folder(around path: [UInt8]) -> [UInt8]? {
        guard let own = gallery.filePathBytes else { return nil }
        var folder = Self.prefix(own)
        if !path.starts(with: folder), !gallery.isLocalFolder, let parent = gallery.folderAlone.filePathBytes {
            folder = Self.prefix(parent)
        }
        return path.starts(with: folder) ? folder : nil
    }

    /// Returns the prefix that all paths in a folder share.
    private static func prefix(_ folder: [UInt8]) -> [UInt8] {
        folder.last == UInt8(ascii: "/") ? folder : folder + [UInt8(ascii: "/")]
    }

    /// Whether a photo is a file in the gallery's local folder.
    ///
    /// Vitrine does not copy such a photo. It copies a file behind a link, because the link may lead elsewhere later.
    public func isInPlace(_ original: Address) -> Bool {
        guard gallery.scheme == .file, original.scheme == .file else { return false }
        guard let descriptor = try? open(original: original) else { return false }
        close(descriptor)
        return true
    }

    func path(_ name: String) -> String {
        photosFolder + "/" + name
    }

    /// Creates a file for the incoming bytes of a photo's edition.
    public func makePartial(of key: PhotoKey, edition: Int) throws -> PartialFile {
        try PartialFile { partialFolder + "/" + Self.name(for: key, edition: edition) }
    }

    /// Opens the file with those bytes of a photo's edition that have arrived. Returns nil if there is no such file.
    ///
    /// The process that fetches the photo is usually another one, so only the file's name shows the photo. If several
    /// processes fetch it, opens the longest file. The caller closes the descriptor.
    public func openPartial(of key: PhotoKey, edition: Int) -> Int32? {
        var longest: (file: Int32, size: Int64)?
        for name in PrivateFolder.entries(partialFolder) where Self.isName(name, for: key, edition: edition) {
            guard let file = try? Self.open(partialFolder + "/" + name) else { continue }
            let size = OriginalFile(file)?.size ?? 0
            if let longest, longest.size >= size {
                close(file)
                continue
            }
            if let longest { close(longest.file) }
            longest = (file, size)
        }
        return longest?.file
    }

    /// Opens the partial files that ended processes left. When a returned object is released, its file is removed.
    func abandonedPartials() -> [PartialFile] {
        PrivateFolder.entries(partialFolder).compactMap { PartialFile(abandoned: partialFolder + "/" + $0) }
    }

    /// Whether a photo's file is as it was stored. The check reads the whole file.
    ///
    /// For a user's own file, only size and time count. If the process has no free file descriptor, the file counts as
    /// intact.
    public func isIntact(_ photo: StoredPhoto) -> Bool {
        let descriptor: Int32
        do { descriptor = try open(photo) } catch { return [EMFILE, ENFILE].contains(error.code) }
        defer { close(descriptor) }
        if photo.original != nil {
            return OriginalFile(descriptor).map { ($0.size, $0.stamp) == (photo.size, photo.digest) } ?? false
        }
        guard let found = FileDigest.ofFile(descriptor) else { return false }
        return found.size == photo.size && found.digest == photo.digest
    }

    /// Removes a photo's file. Ignores a name that Vitrine did not make, because names may come from the database.
    func remove(_ name: String) {
        guard Self.isName(name) else { return }
        guard unlink(path(name)) != 0, errno != ENOENT else { return }
        log.error(.cache, "cannot remove \(name): \(String(cString: strerror(errno)))")
    }

    /// Removes orphans and abandoned partial files. Returns the number of removed files.
    ///
    /// - Parameter isNamed: whether a database row names the file. During the call this method holds the file's lock,
    ///   so the program that wrote the file has committed the row or ended.
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

    /// Removes a file if it is useless and no process has locked it. This method holds the file's lock meanwhile, so
    /// that no process can start to use the file.
    private func removeIfAbandoned(_ path: String, if isUseless: () throws -> Bool) rethrows -> Bool {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        // Vitrine creates no links here, so any link is useless.
        guard descriptor >= 0 else { return errno == ELOOP && unlink(path) == 0 }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return false }
        return try isUseless() && unlink(path) == 0
    }
}

/// A photo's file in a local gallery, which belongs to the user.
public struct OriginalFile: Hashable, Sendable {
    /// The size in bytes.
    public let size: Int64
    /// A number that changes when the file is written.
    public let stamp: Int64

    /// Reads the status of an open file. Returns nil if the file is not a regular file.
    public init?(_ descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        size = Int64(status.st_size)
        // Any number that differs for another time will do.
        stamp = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
    }
}

/// A file to which a transfer writes a photo. The file is removed with this object, unless `keep` stores the file.
///
/// A transfer writes through ``descriptor``. The file stays locked while this object exists, so that it is not removed
/// as abandoned.
public final class PartialFile: Sendable {
    /// The file's descriptor, open for writing. This object owns the descriptor.
    public let descriptor: Int32
    /// The path of the file while it is partial.
    public let path: String

    /// Creates a file.
    ///
    /// - Parameter newPath: returns a new random path.
    init(at newPath: () -> String) throws(CacheError) {
        while true {
            let path = newPath()
            let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw .file(path) }
            while flock(descriptor, LOCK_EX) != 0 {
                if errno == EINTR { continue }
                let failure = CacheError.file(path)
                unlink(path)
                close(descriptor)
                throw failure
            }
            // Before `flock`, another process may have removed the file as abandoned. It holds the lock while it
            // unlinks, so from here on the file keeps its name.
            var status = stat()
            if fstat(descriptor, &status) == 0, status.st_nlink > 0 {
                self.path = path
                self.descriptor = descriptor
                return
            }
            close(descriptor)
        }
    }

    /// Opens a file that an ended process left. Returns nil if a process still uses the file.
    fileprivate init?(abandoned path: String) {
        let descriptor = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var status = stat()
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, fstat(descriptor, &status) == 0, status.st_nlink > 0,
            status.st_mode & S_IFMT == S_IFREG
        else {
            close(descriptor)
            return nil
        }
        (self.path, self.descriptor) = (path, descriptor)
    }

    deinit {
        // Fails harmlessly if the file was kept.
        unlink(path)
        close(descriptor)
    }

    /// Returns up to `count` bytes from the beginning of the file.
    public func beginning(_ count: Int) throws(CacheError) -> [UInt8] {
        do throws(SystemError) { return try OpenFile.beginning(of: descriptor, count: count) } catch {
            throw .file(path: path, error)
        }
    }

    /// The file's current size in bytes.
    var size: ByteCount {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? ByteCount(status.st_size) : 0
    }

    /// Syncs the file to the disk and moves it to the photos' folder.
    func keep(named name: String, in folder: PhotoFiles) throws(CacheError) -> StoredPhoto {
        FileNote.remove(from: descriptor)
        guard fsync(descriptor) == 0, let digest = FileDigest.ofFile(descriptor) else { throw failure() }
        let parent = open(folder.photosFolder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { throw failure() }
        defer { close(parent) }
        guard rename(path, folder.path(name)) == 0 else { throw failure() }
        // The name is durable once the folder is synced.
        guard fsync(parent) == 0 else {
            let failure = failure()
            folder.remove(name)
            throw failure
        }
        return StoredPhoto(name: name, size: digest.size, digest: digest.digest, edition: 0)
    }

    private func failure() -> CacheError {
        .file(path)
    }
}

/// A file's size and a short hash. A difference shows that the file has changed since it was stored.
///
/// The digest detects faulty disks and partial writes. It does not protect against manipulation.
private struct FileDigest: Equatable {
    let size: Int64
    let digest: Int64

    /// Computes the digest of a whole file. Returns nil if the file cannot be read.
    static func ofFile(_ descriptor: Int32) -> FileDigest? {
        var hash: UInt64 = 0x9E37_79B9_7F4A_7C15
        var offset: Int64 = 0
        var buffer = [UInt64](repeating: 0, count: 16_384)
        while true {
            guard
                let count = try? buffer.withUnsafeMutableBytes({ try OpenFile.read(descriptor, at: offset, into: $0) })
            else { return nil }
            guard count > 0 else { break }
            buffer.withUnsafeMutableBytes { bytes in
                // The last word is padded with zeros. The length is part of the digest.
                for index in count..<min(bytes.count, (count + 7) / 8 * 8) { bytes[index] = 0 }
            }
            for word in buffer.prefix((count + 7) / 8) {
                hash = (hash ^ word) &* 0xFF51_AFD7_ED55_8CCD
                hash ^= hash >> 32
            }
            offset += Int64(count)
        }
        return FileDigest(size: offset, digest: Int64(bitPattern: hash ^ UInt64(offset)))
    }
}

/// A photo's file that an export has copied to a folder of the user.
///
/// The cache may drop the file afterwards. These values show whether a folder has the copy, so that the next export
/// need not fetch the photo again.
public struct ExportedCopy: Hashable, Sendable {
    /// The photo's edition that the file contained.
    public let edition: Int
    /// The ending of the copy's name, such as `jpg`. The text is untrusted.
    public let ending: String
    /// The size in bytes.
    public let size: Int64
    private let digest: Int64

    /// Describes a copy of a file in the cache.
    public init(of photo: StoredPhoto, ending: String) {
        (edition, size, digest) = (photo.edition, photo.size, photo.digest)
        self.ending = ending
    }

    fileprivate init(_ row: Row) {
        (edition, size, digest, ending) = (row.small(0), row.size(1) ?? 0, row.int(2), row.text(3))
    }

    /// Whether an open file is the copy. Reads the whole file if it has the copy's size.
    public func isSame(_ descriptor: Int32) -> Bool {
        OriginalFile(descriptor)?.size == size
            && FileDigest.ofFile(descriptor) == FileDigest(size: size, digest: digest)
    }

    fileprivate func store(of key: PhotoKey, _ connection: Connection) throws {
        // The photo may have left the gallery meanwhile.
        try connection.run(
            """
            INSERT OR REPLACE INTO exported (photo, edition, size, digest, ending)
            SELECT key, ?, ?, ?, ? FROM photo WHERE key = ?
            """, edition, size, digest, ending, key.rawValue)
    }
}

extension CacheReader {
    /// Returns the last copy of a photo that an export has made. Returns nil if there is none.
    public func exportedCopy(of key: PhotoKey) throws -> ExportedCopy? {
        try connection.first(
            "SELECT edition, size, digest, substr(ending, 1, 16) FROM exported WHERE photo = ?", key.rawValue
        ) { ExportedCopy($0) }
    }
}

extension GalleryWriter {
    /// Stores the copies of photos that an export has made. Writes only if a copy differs from the last one.
    public func store(_ copies: [PhotoKey: ExportedCopy]) throws {
        let new: [PhotoKey: ExportedCopy] = try read { connection in
            try copies.filter { try CacheReader(connection).exportedCopy(of: $0.key) != $0.value }
        }
        guard !new.isEmpty else { return }
        try transaction { connection in
            for (key, copy) in new { try copy.store(of: key, connection) }
        }
    }
}

extension Address {
    /// Whether this is the address of an existing folder on this machine.
    public var isLocalFolder: Bool {
        guard let path = filePathBytes else { return false }
        var status = stat()
        let text = (path + [0]).map { CChar(bitPattern: $0) }
        return stat(text, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The list file in a local folder: `gallery.xml` or `index.xml`. The value is nil if the folder has neither file.
    public var listFile: Address? {
        guard isLocalFolder, let path = filePath else { return nil }
        return ["gallery.xml", "index.xml"].first { access(path + "/" + $0, R_OK) == 0 }.map { appending($0) }
    }

    /// Whether this is a local folder without a list file. Reading the folder finds the photos, without a network.
    public var isPlainFolder: Bool { isLocalFolder && listFile == nil }
}
