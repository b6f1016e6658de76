import Model
import SQLite

extension GalleryWriter {
    /// Stores a thumbnail that was fetched for an edition.
    ///
    /// Returns false, and stores nothing, if the gallery speaks of another edition by now: stale bytes are never
    /// committed. Where an older thumbnail is held it stays until somebody has decoded the new one. Many that come at once
    /// share a transaction.
    ///
    /// - Throws: `CancellationError`, having stored nothing, if the task is cancelled before its transaction has begun.
    @discardableResult
    public nonisolated func store(
        thumbnail bytes: [UInt8], of key: PhotoKey, edition: Int, validators: Validators = Validators()
    ) async throws -> Bool {
        defer { space.recordWritten(Int64(bytes.count)) }
        return try await together(size: bytes.count) { connection in
            guard try Self.hold(.thumbnail, of: key, edition: edition, validators: validators, connection) else {
                return false
            }
            try connection.run(
                """
                INSERT INTO thumbnail (photo, data) VALUES (?, ?)
                ON CONFLICT (photo) DO UPDATE SET unproven = excluded.data
                """, key.rawValue, bytes)
            return true
        }
    }

    /// Makes these unproven bytes the thumbnail: they could be decoded. Does nothing if others have come meanwhile.
    public func accept(_ thumbnail: StoredThumbnail, of key: PhotoKey) throws {
        try transaction {
            try $0.run(
                "UPDATE thumbnail SET data = unproven, unproven = NULL WHERE photo = ? AND unproven = ?",
                key.rawValue, thumbnail.bytes)
        }
    }

    /// Drops bytes that could not be decoded, and marks the photo's thumbnail as bad if they are what the gallery speaks
    /// of. Where an older one was held, it is shown again.
    ///
    /// These very bytes and no others: two who draw a thumbnail at once both find that it is none, and by the time the
    /// second says so the row holds the older one again, or the next.
    public func reject(_ thumbnail: StoredThumbnail, of key: PhotoKey, reason: String) throws {
        try transaction { connection in
            // What newer bytes would have fallen back to is no thumbnail: then there is nothing to fall back to.
            let hadNewer = try connection.run(
                "UPDATE thumbnail SET data = unproven, unproven = NULL WHERE photo = ? AND data = ? AND unproven <> ?2",
                key.rawValue, thumbnail.bytes)
            guard hadNewer == 0 else { return }
            let removed =
                try connection.run(
                    "DELETE FROM thumbnail WHERE photo = ? AND data = ?", key.rawValue, thumbnail.bytes)
                + connection.run(
                    "UPDATE thumbnail SET unproven = NULL WHERE photo = ? AND unproven = ?", key.rawValue,
                    thumbnail.bytes)
            guard removed > 0 else { return }
            // Of an older one only this is known, that it is of another edition. Minus the rejected edition is the number
            // of none, and so nothing that was drawn under that number is taken for it.
            try connection.run(
                """
                UPDATE photo SET thumbnail_trouble = iif(thumbnail_held IS thumbnail_edition, ?, thumbnail_trouble),
                                 thumbnail_reason = iif(thumbnail_held IS thumbnail_edition, ?, thumbnail_reason),
                                 thumbnail_held = (SELECT -abs(thumbnail_held) FROM thumbnail WHERE photo = key),
                                 thumbnail_etag = NULL, thumbnail_last_modified = NULL
                WHERE key = ?
                """, TroubleCode.bad, reason, key.rawValue)
        }
    }

    /// Stores a photo whose bytes are in a partial file: file first, row second.
    ///
    /// Returns false, and stores nothing, if the gallery speaks of another edition by now.
    @discardableResult
    public func store(
        photo partial: PartialFile, of key: PhotoKey, edition: Int, validators: Validators = Validators()
    ) throws -> Bool {
        // On the disk, under a name that no row has yet. If we die here it is an orphan, and swept.
        let stored = try partial.keep(named: PhotoFiles.name(for: key, edition: edition), in: files)
        defer { withExtendedLifetime(partial) {} }  // and with it the lock, until the row is there
        do {
            let (isCurrent, replaced) = try transaction { connection in
                try name(stored, of: key, edition: edition, validators: validators, connection)
            }
            if isCurrent { space.recordWritten(stored.size) }
            if let useless = isCurrent ? replaced : stored.name { files.remove(useless) }
            return isCurrent
        } catch {
            // Nothing names it, and the next start, which would sweep it, may be far.
            files.remove(stored.name)
            throw error
        }
    }

    /// Makes a photo's row name a file. Returns whether it does, and the file that it named before.
    private func name(
        _ stored: StoredPhoto, of key: PhotoKey, edition: Int, validators: Validators, _ connection: Connection
    ) throws -> (isCurrent: Bool, replaced: String?) {
        let replaced = try connection.first("SELECT photo_file FROM photo WHERE key = ?", key.rawValue) {
            $0.optionalText(0)
        }
        guard try Self.hold(.original, of: key, edition: edition, validators: validators, connection) else {
            return (false, nil)
        }
        try connection.run(
            "UPDATE photo SET photo_file = ?, photo_size = ?, photo_digest = ? WHERE key = ?",
            stored.name, stored.size, stored.digest, key.rawValue)
        return (true, replaced ?? nil)
    }

    /// Notes that what is held is what the gallery speaks of: the server answered 304.
    ///
    /// Returns false if nothing is held, or the gallery speaks of another edition by now. Many that come at once share a
    /// transaction.
    ///
    /// - Throws: `CancellationError`, having noted nothing, if the task is cancelled before its transaction has begun.
    @discardableResult
    public nonisolated func confirm(_ rendition: Rendition, of key: PhotoKey, edition: Int) async throws -> Bool {
        let columns = (held: rendition.column("held"), edition: rendition.column("edition"))
        return try await together { connection in
            if rendition == .original {
                // The same bytes say the same, under whichever number.
                try connection.run(
                    """
                    UPDATE metadata SET edition = ?1 WHERE photo = ?2
                    AND edition = (SELECT photo_held FROM photo WHERE key = ?2 AND photo_edition = ?1)
                    """, edition, key.rawValue)
            }
            return try connection.run(
                """
                UPDATE photo SET \(columns.held) = ?, \(rendition.column("trouble")) = NULL,
                                 \(rendition.column("reason")) = NULL
                WHERE key = ? AND \(columns.edition) = ? AND \(columns.held) IS NOT NULL
                """, edition, key.rawValue, edition) > 0
        }
    }

    /// Notes what stands in the way of a rendition. An older one that is held stays. Many that come at once share a
    /// transaction: on a dead link everything fails together.
    ///
    /// What has failed has failed, whether or not somebody still waits for it: it is noted for a task that is cancelled too.
    public nonisolated func recordTrouble(
        _ trouble: RenditionState.Trouble, for rendition: Rendition, of key: PhotoKey, edition: Int
    ) async throws {
        let (code, reason) = TroubleCode.code(trouble)
        _ = try await together(isCancellable: false) {
            try $0.run(
                """
                UPDATE photo SET \(rendition.column("trouble")) = ?, \(rendition.column("reason")) = ?
                WHERE key = ? AND \(rendition.column("edition")) = ?
                """, code, reason, key.rawValue, edition) > 0
        }
    }

    /// Forgets a photo's file that turned out to be missing or broken, so that it is fetched again.
    public func dropPhotoFile(_ name: String, of key: PhotoKey) throws {
        try transaction {
            try $0.run(
                "UPDATE photo SET \(Self.withoutFile) WHERE key = ? AND photo_file = ?", key.rawValue, name)
        }
        files.remove(name)
    }

    /// Notes that an edition is held; false if the photo is gone or wants another.
    private static func hold(
        _ rendition: Rendition, of key: PhotoKey, edition: Int, validators: Validators, _ connection: Connection
    ) throws -> Bool {
        try connection.run(
            """
            UPDATE photo SET \(rendition.column("held")) = ?, \(rendition.column("trouble")) = NULL,
                             \(rendition.column("reason")) = NULL, \(rendition.column("etag")) = ?,
                             \(rendition.column("last_modified")) = ?
            WHERE key = ? AND \(rendition.column("edition")) = ?
            """, edition, validators.etag, validators.lastModified, key.rawValue, edition) > 0
    }
}

extension GalleryWriter {
    /// Keeps what a photo of this edition says of itself.
    ///
    /// Returns false, and keeps nothing, if another edition is held by now, or none, or if it is all known already. It stays
    /// when the photo's file goes to make room, until another edition is here and has been read.
    @discardableResult
    public func store(_ metadata: PhotoMetadata, of key: PhotoKey, edition: Int) throws -> Bool {
        try transaction { connection in
            let held = try connection.first("SELECT photo_held FROM photo WHERE key = ?", key.rawValue) {
                $0.optionalInt(0)
            }
            guard held == Int64(edition),
                try CacheReader(connection).metadata(of: key)
                    != StoredMetadata(metadata: metadata, edition: edition)
            else { return false }
            try PhotoText.whileChanging(key.rawValue, connection) {
                try insert(metadata, of: key, edition: edition, connection)
            }
            return true
        }
    }

    private func insert(
        _ metadata: PhotoMetadata, of key: PhotoKey, edition: Int, _ connection: Connection
    ) throws {
        try connection.run(
            """
            INSERT INTO metadata (photo, edition, \(CacheReader.metadataColumns), words)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (photo) DO UPDATE SET
                edition = excluded.edition, format = excluded.format, width = excluded.width, height = excluded.height,
                orientation = excluded.orientation, taken_at = excluded.taken_at, camera = excluded.camera,
                lens = excluded.lens, exposure = excluded.exposure, aperture = excluded.aperture, iso = excluded.iso,
                focal_length = excluded.focal_length, latitude = excluded.latitude, longitude = excluded.longitude,
                title = excluded.title, description = excluded.description, words = excluded.words
            """, key.rawValue, edition, metadata.format, metadata.width, metadata.height, metadata.orientation,
            metadata.takenAt, metadata.camera, metadata.lens, metadata.exposure, metadata.aperture, metadata.iso,
            metadata.focalLength, metadata.latitude, metadata.longitude, metadata.title, metadata.description,
            metadata.words)
    }
}

extension GalleryWriter {
    /// Drops the files of some photos, whatever the gallery says of them. What they said of themselves stays, and they are
    /// fetched again when they are wanted.
    ///
    /// Returns how many were here.
    @discardableResult
    public func dropPhotos(_ keys: [PhotoKey]) throws -> Int {
        let list = keys.map(\.rawValue).keyList
        let names = try transaction { connection in
            let isMeant = "photo_file IS NOT NULL AND key IN (SELECT value FROM json_each(?))"
            let names = try connection.map("SELECT photo_file FROM photo WHERE \(isMeant)", list) { $0.text(0) }
            try connection.run("UPDATE photo SET \(Self.withoutFile) WHERE \(isMeant)", list)
            return names
        }
        for name in names { files.remove(name) }
        return names.count
    }

    /// Takes what is here of some photos for out of date, although the gallery says nothing of the kind: the user does.
    ///
    /// It stays, and is shown, until what is fetched takes its place; or the server says that it is right after all, of which
    /// it is asked as of any other edition. What stood in the way is forgotten.
    public func refetch(_ keys: [PhotoKey]) throws {
        let list = keys.map(\.rawValue).keyList
        try transaction { connection in
            for rendition in Rendition.allCases {
                let edition = rendition.column("edition")
                try connection.run(
                    """
                    UPDATE photo SET \(edition) = \(edition) + 1, \(rendition.column("trouble")) = NULL,
                                     \(rendition.column("reason")) = NULL
                    WHERE key IN (SELECT value FROM json_each(?))
                    """, list)
            }
        }
    }
}

extension GalleryWriter {
    /// Gives everything that was marked bad another chance. What the user asks for with a refresh.
    ///
    /// A photo that came and could not be decoded is dropped, to be fetched again: the server may have mended it. What was
    /// bad is wanted as a new edition, so that nothing that is known of the old bytes is held against the new ones.
    ///
    /// - Parameter keys: the photos to retry; nil for all.
    public func retry(_ keys: [PhotoKey]? = nil) throws {
        let list = keys?.map(\.rawValue).keyList
        let undecodable = try transaction { connection in
            let isMeant =
                "photo_trouble = ?1 AND photo_file IS NOT NULL AND (?2 IS NULL OR key IN (SELECT value FROM json_each(?2)))"
            let names = try connection.map(
                "SELECT photo_file FROM photo WHERE \(isMeant)", TroubleCode.bad, list
            ) { $0.text(0) }
            try connection.run("UPDATE photo SET \(Self.withoutFile) WHERE \(isMeant)", TroubleCode.bad, list)
            for rendition in Rendition.allCases {
                let (trouble, edition) = (rendition.column("trouble"), rendition.column("edition"))
                try connection.run(
                    """
                    UPDATE photo SET \(edition) = \(edition) + (\(trouble) = \(TroubleCode.bad)), \(trouble) = NULL,
                                     \(rendition.column("reason")) = NULL
                    WHERE \(trouble) IS NOT NULL
                          AND (?1 IS NULL OR key IN (SELECT value FROM json_each(?1)))
                    """, list)
            }
            return names
        }
        for name in undecodable { files.remove(name) }
    }
}
