import Model
import SQLite

/// The place from which a gallery's list came. The cache stores the place with the list.
public struct ListSource: Hashable, Sendable {
    /// A folder on a server, or a part of a photo library, such as a month.
    public struct Folder: Hashable, Sendable {
        /// The decoded path below the root, with a slash at its end; empty for the root.
        public var path: [UInt8]
        /// The server's validators; empty if the server states no validators.
        public var validators: Validators

        /// Creates a folder.
        public init(path: [UInt8], validators: Validators) {
            (self.path, self.validators) = (path, validators)
        }
    }

    /// The kind of server.
    public var kind: GalleryKind
    /// The address of the outermost folder or of the server. It may differ from the gallery's address.
    public var root: Address
    /// All folders of the gallery, or all parts of the library, in no particular order. The outermost folder may also
    /// state that the server recognized the user; the source of a list in a file has no other.
    public var folders: [Folder]
    /// The name of the gallery, if the list states one; nil to keep the stored name.
    public var galleryName: String?

    /// Creates a source.
    public init(kind: GalleryKind, root: Address, folders: [Folder] = [], galleryName: String? = nil) {
        (self.kind, self.root, self.folders, self.galleryName) = (kind, root, folders, galleryName)
    }

    /// Replaces the stored source by this source. Call this method in the transaction that stores the list.
    func store(_ connection: Connection) throws {
        try connection.run(
            "UPDATE gallery SET kind = ?, root = ?, album_name = ifnull(?, album_name)", kind.rawValue, root.text,
            galleryName)
        let (old, new) = (Self.validators(try Self.folders(connection)), Self.validators(folders))
        for (path, validators) in old where new[path] != validators {
            try connection.run("DELETE FROM folder WHERE path = ?", path)
        }
        for (path, validators) in new where old[path] != validators {
            try connection.run(
                "INSERT INTO folder (path, etag, last_modified) VALUES (?, ?, ?)", path, validators.etag,
                validators.lastModified)
        }
    }

    /// Removes the stored source. The next update then examines the address again.
    ///
    /// - Parameter withName: whether to remove the gallery's name, too.
    static func remove(_ connection: Connection, withName: Bool = false) throws {
        try connection.run(
            "UPDATE gallery SET kind = NULL, root = NULL, album_name = iif(?, NULL, album_name)", withName ? 1 : 0)
        try connection.run("DELETE FROM folder")
    }

    private static func validators(_ folders: [Folder]) -> [[UInt8]: Validators] {
        Dictionary(folders.map { ($0.path, $0.validators) }) { first, _ in first }
    }

    fileprivate static func folders(_ connection: Connection) throws -> [Folder] {
        try connection.map("SELECT path, etag, last_modified FROM folder") { row in
            Folder(
                path: row.blob(0),
                validators: Validators(etag: row.optionalText(1), lastModified: row.optionalText(2)))
        }
    }
}

extension CacheReader {
    /// Returns the place from which the list came. Returns nil if the gallery has never been updated, and for a list
    /// stored by an older version of Vitrine.
    public func source() throws -> ListSource? {
        let found = try connection.first("SELECT kind, root FROM gallery") { row in
            (kind: row.optionalText(0).flatMap(GalleryKind.init), root: try row.optionalText(1).map { try Address($0) })
        }
        guard let found, let kind = found.kind, let root = found.root else { return nil }
        return ListSource(kind: kind, root: root, folders: try ListSource.folders(connection))
    }

    /// Returns the address of the server's page that plays a video. Returns nil for a photo.
    public func videoPage(of key: PhotoKey) throws -> Address? {
        guard let video = try photo(key), video.videoMilliseconds != nil, let source = try source(),
            let gallery = try connection.first("SELECT address FROM gallery", row: { try $0.address(0) }),
            let page = source.kind.page(of: video.galleryID, on: source.root, in: gallery)
        else { return nil }
        // The fetcher reads strangers' bytes and can write any address. A page is never a file of this machine.
        return page.scheme == .file ? nil : page
    }
}
