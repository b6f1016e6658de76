import Model
import SQLite

/// The albums, people, tags and favourites on a gallery's server.
public struct AlbumList: Equatable, Sendable {
    /// The albums, in the order of the server.
    public var albums: [Album]
    /// The time of the last successful update; nil before the first.
    public var lastSuccess: Timestamp?
    /// The reason why albums are missing or old; nil if the last update received all albums.
    public var trouble: String?

    /// Creates a list.
    public init(albums: [Album] = [], lastSuccess: Timestamp? = nil, trouble: String? = nil) {
        self.albums = albums
        self.lastSuccess = lastSuccess
        self.trouble = trouble
    }

    /// Removes the stored list.
    static func remove(_ connection: Connection) throws {
        try removeAlbums(connection)
        try connection.run("UPDATE gallery SET albums_updated = NULL, albums_trouble = NULL")
    }

    fileprivate static func removeAlbums(_ connection: Connection) throws {
        // Without a condition, SQLite would not report the change to Vitrine.
        try connection.run("DELETE FROM album WHERE position >= 0")
    }

    fileprivate static func albums(_ connection: Connection) throws -> [Album] {
        try connection.map("SELECT kind, address, name, photo_count, cover FROM album ORDER BY position") { row in
            Album(
                Album.Kind(rawValue: row.text(0)) ?? .album, at: try row.address(1).with(nil), name: row.text(2),
                count: row.optionalCount(3), cover: row.optionalText(4))
        }
    }
}

extension CacheReader {
    /// Returns the albums of the gallery's server.
    ///
    /// The fetcher reads strangers' bytes and can write any address, so the caller decides which albums may be shown.
    ///
    /// - Parameter isOwn: whether an address is on the gallery's server; see ``GalleryCache/isNamedByUser(_:)``.
    public func albums(where isOwn: (Address) -> Bool) throws -> AlbumList {
        // Read in one transaction, so that both queries see the same state.
        try connection.transaction(writes: false) {
            let facts = try connection.first("SELECT albums_updated, albums_trouble FROM gallery") { row in
                (row.time(0), row.optionalText(1))
            }
            let albums = try AlbumList.albums(connection).filter { isOwn($0.address) }
            return AlbumList(albums: albums, lastSuccess: facts?.0, trouble: facts?.1)
        }
    }
}

extension GalleryCache {
    /// Returns the albums of the gallery's server.
    public func albums() throws -> AlbumList { try read { try $0.albums(where: isNamedByUser) } }
}

extension CacheReader {
    /// Replaces the cover of each album, a photo's revision, by the photo's id.
    ///
    /// An album gets no cover if no photo of the gallery has its revision. The query reads all photos.
    public func resolvingCovers(of albums: [Album]) throws -> [Album] {
        let revisions = Set(albums.compactMap(\.cover))
        guard !revisions.isEmpty else { return albums }
        var ids: [String: String] = [:]
        try connection.forEach("SELECT revision, id FROM photo WHERE revision IS NOT NULL") { row in
            let revision = row.text(0)
            if revisions.contains(revision) { ids[revision] = row.text(1) }
        }
        return albums.map { album in
            var album = album
            album.cover = album.cover.flatMap { ids[$0] }
            return album
        }
    }
}

extension CacheReader {
    /// Returns the gallery's name as its server states it. Returns nil if the name is unknown.
    public func galleryName() throws -> String? {
        try connection.first("SELECT album_name FROM gallery") { $0.optionalText(0) } ?? nil
    }
}

extension GalleryWriter {
    /// Replaces all albums in one transaction. If no album has changed, the albums are not written again.
    ///
    /// - Parameter trouble: the reason why the list lacks albums; nil if it lacks none.
    public func replaceAlbums(_ albums: [Album], trouble: String? = nil, at time: Timestamp) throws {
        try transaction { connection in
            try connection.run(
                "UPDATE gallery SET albums_updated = ?, albums_trouble = ?", time.milliseconds, trouble)
            guard try AlbumList.albums(connection) != albums else { return }
            try AlbumList.removeAlbums(connection)
            for (position, album) in albums.enumerated() {
                try connection.run(
                    """
                    INSERT INTO album (position, kind, address, name, photo_count, cover) VALUES (?, ?, ?, ?, ?, ?)
                    """, position, album.kind.rawValue, album.address.text, album.name, album.count, album.cover)
            }
        }
    }

    /// Records that an update of the albums failed. The albums stay.
    public func recordAlbumTrouble(_ trouble: String) throws {
        try transaction { try $0.run("UPDATE gallery SET albums_trouble = ?", trouble) }
    }
}
