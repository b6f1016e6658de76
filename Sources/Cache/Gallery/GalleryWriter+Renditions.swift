import Model
import SQLite

extension GalleryWriter {
    /// Stores the thumbnail of a photo's edition. Concurrent calls share a transaction.
    ///
    /// Returns false, and stores nothing, if the gallery's list now has another edition. An older thumbnail stays until
    /// Vitrine has decoded the new one.
    ///
    /// - Parameter taken: the time when the photo was taken, if the thumbnail's bytes contain this time.
    /// - Throws: `CancellationError` if the task is cancelled before the transaction. Nothing is stored then.
    @discardableResult
    public nonisolated func store(
        thumbnail bytes: [UInt8], of key: PhotoKey, edition: Int, validators: Validators = Validators(),
        taken: Timestamp? = nil
    ) async throws -> Bool {
        defer { space.recordWritten(Int64(bytes.count)) }
        return try await shareTransaction(size: bytes.count) { connection in
            guard try Self.hold(.thumbnail, of: key, edition: edition, validators: validators, connection) else {
                return false
            }
            try connection.run(
                """
                INSERT INTO thumbnail (photo, data) VALUES (?, ?)
                ON CONFLICT (photo) DO UPDATE SET unproven = excluded.data
                """, key.rawValue, bytes)
            try Self.setDate(taken, of: key, connection)
            return true
        }
    }

    /// Records that a photo's first bytes contain no thumbnail. This is no failure.
    ///
    /// Returns false, and records nothing, if the gallery's list now has another edition. Vitrine later makes the
    /// thumbnail from the whole photo. It fetches the photo for that purpose only if the photo is small.
    ///
    /// - Parameters:
    ///   - isSmall: whether Vitrine fetches the photo for its thumbnail. Otherwise there is no thumbnail until the user
    ///     opens the photo.
    ///   - taken: the time when the photo was taken, if the bytes contain this time.
    @discardableResult
    public nonisolated func recordNoThumbnail(
        of key: PhotoKey, edition: Int, isSmall: Bool, taken: Timestamp?
    ) async throws -> Bool {
        let code = isSmall ? TroubleCode.inSmallPhoto : TroubleCode.absent
        return try await shareTransaction { connection in
            let isCurrent =
                try connection.run(
                    """
                    UPDATE photo SET thumbnail_trouble = ?, thumbnail_reason = NULL
                    WHERE key = ? AND thumbnail_edition = ?
                    """, code, key.rawValue, edition) > 0
            if isCurrent { try Self.setDate(taken, of: key, connection) }
            return isCurrent
        }
    }

    /// Replaces the date of a photo's file by the time when the photo was taken. The method never replaces a date that
    /// the list states.
    private static func setDate(_ taken: Timestamp?, of key: PhotoKey, _ connection: Connection) throws {
        guard let taken else { return }
        try connection.run(
            "UPDATE photo SET date = ?, date_origin = ? WHERE key = ? AND date_origin IN (?, ?)",
            taken.milliseconds, DateOrigin.taken.rawValue, key.rawValue, DateOrigin.modified.rawValue,
            DateOrigin.unknown.rawValue)
    }

    /// Records that Vitrine has decoded a new thumbnail. Does nothing if another thumbnail has replaced it meanwhile.
    public func accept(_ thumbnail: StoredThumbnail, of key: PhotoKey) throws {
        try transaction {
            try $0.run(
                "UPDATE thumbnail SET data = unproven, unproven = NULL WHERE photo = ? AND unproven = ?",
                key.rawValue, thumbnail.bytes)
        }
    }

    /// Removes a thumbnail that cannot be decoded. Restores an older thumbnail, if any.
    ///
    /// If the thumbnail was the current edition, its state becomes bad, or absent if it came from a photo's first
    /// bytes. The method removes only these exact bytes: two drawings may reject the same thumbnail, and the second
    /// must not remove the thumbnail that came next.
    public func reject(_ thumbnail: StoredThumbnail, of key: PhotoKey, reason: String) throws {
        try transaction { connection in
            // If the bad thumbnail is the older of two, the newer one replaces it.
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
            // The edition of the older thumbnail is unknown, so it gets the negative number of the rejected edition.
            // This number is unique, so no cached drawing of another edition is used for the thumbnail.
            try connection.run(
                """
                UPDATE photo SET thumbnail_trouble = iif(thumbnail_held IS NOT thumbnail_edition, thumbnail_trouble,
                                                         iif(\(Self.isEmbedded), \(TroubleCode.absent), ?)),
                                 thumbnail_reason = iif(thumbnail_held IS NOT thumbnail_edition, thumbnail_reason,
                                                        iif(\(Self.isEmbedded), NULL, ?)),
                                 thumbnail_held = (SELECT -abs(thumbnail_held) FROM thumbnail WHERE photo = key),
                                 thumbnail_etag = NULL, thumbnail_last_modified = NULL
                WHERE key = ?
                """, TroubleCode.undecodable, reason, key.rawValue)
        }
    }

    /// The SQL condition for thumbnails from a photo's first bytes. They have no address, and the photo is not cached.
    private static let isEmbedded =
        "thumbnail_address IS NULL AND revision IS NOT NULL AND photo_held IS NOT photo_edition"

    /// Stores a photo from a partial file: first the file, then its row.
    ///
    /// Returns false, and stores nothing, if the gallery's list now has another edition.
    @discardableResult
    public func store(
        photo partial: PartialFile, of key: PhotoKey, edition: Int, validators: Validators = Validators()
    ) throws -> Bool {
        // No row has this name yet. If Vitrine ends here, the file is an orphan and removed later.
        let stored = try partial.keep(named: PhotoFiles.name(for: key, edition: edition), in: files)
        defer { withExtendedLifetime(partial) {} }  // Keeps the file locked until the row is committed.
        do {
            let (isCurrent, replaced) = try transaction { connection in
                try setFile(stored, of: key, edition: edition, validators: validators, connection)
            }
            if isCurrent { space.recordWritten(stored.size) }
            if let useless = isCurrent ? replaced : stored.name { files.remove(useless) }
            return isCurrent
        } catch {
            // No row names the file, and it may be long until the next start removes orphans.
            files.remove(stored.name)
            throw error
        }
    }

    /// Records that a photo's file lies in the user's folder and needs no copy.
    ///
    /// Returns false, and records nothing, if the gallery has another edition meanwhile.
    @discardableResult
    public nonisolated func store(original file: OriginalFile, of key: PhotoKey, edition: Int) async throws -> Bool {
        try await shareTransaction { connection in
            guard try Self.hold(.original, of: key, edition: edition, validators: Validators(), connection) else {
                return false
            }
            return try connection.run(
                "UPDATE photo SET photo_file = ?, photo_size = ?, photo_digest = ? WHERE key = ?",
                StoredPhoto.inPlace, file.size, file.stamp, key.rawValue) > 0
        }
    }

    /// Sets the file of a photo's row. Returns whether the edition is current, and the previous file.
    private func setFile(
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

    /// Records that the cached picture is current, because the server answered 304 (Not Modified). Concurrent calls
    /// share a transaction.
    ///
    /// Returns false if no picture is cached, or the gallery's list now has another edition.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before the transaction. Nothing is recorded then.
    @discardableResult
    public nonisolated func confirm(_ rendition: Rendition, of key: PhotoKey, edition: Int) async throws -> Bool {
        let columns = (held: rendition.column("held"), edition: rendition.column("edition"))
        return try await shareTransaction { connection in
            if rendition == .original {
                // The same bytes have the same metadata, so it gets the new edition.
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

    /// Records why a rendition cannot be fetched. Concurrent calls share a transaction, because all requests fail at
    /// once when the network fails.
    ///
    /// A cached older edition stays. The method records the trouble even if the task is cancelled. It records a
    /// temporary failure only while the edition is missing, because a retry may have stored the edition before. An
    /// unreadable photo is in the cache, so the method always records that the photo is bad.
    public nonisolated func recordTrouble(
        _ trouble: RenditionState.Trouble, for rendition: Rendition, of key: PhotoKey, edition: Int
    ) async throws {
        let (code, reason) = (TroubleCode.code(trouble), trouble.failure.reason)
        _ = try await shareTransaction(isCancellable: false) {
            try $0.run(
                """
                UPDATE photo SET \(rendition.column("trouble")) = ?, \(rendition.column("reason")) = ?
                WHERE key = ? AND \(rendition.column("edition")) = ?
                      AND (? = \(TroubleCode.bad) OR \(rendition.column("held")) IS NOT \(rendition.column("edition")))
                """, code, reason, key.rawValue, edition, code) > 0
        }
    }

    /// Removes a missing or damaged photo file from its row. Vitrine then fetches the photo again.
    public func dropPhotoFile(_ name: String, of key: PhotoKey) throws {
        try transaction {
            try $0.run(
                "UPDATE photo SET \(Self.withoutFile) WHERE key = ? AND photo_file = ?", key.rawValue, name)
        }
        files.remove(name)
    }

    /// Records which edition of a rendition is cached. Returns false if the photo is gone or has another edition.
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
    /// Stores the metadata of a photo's edition. The time when the photo was taken replaces the time of its file as the
    /// photo's date.
    ///
    /// Returns false, and stores nothing, if this edition is not cached, or if nothing changed. Metadata remains when
    /// the file is removed, until Vitrine has read the metadata of another edition.
    @discardableResult
    public func store(_ metadata: PhotoMetadata, of key: PhotoKey, edition: Int) throws -> Bool {
        var metadata = metadata
        let isTownKnown = findTown(of: &metadata)
        return try transaction { connection in
            let held = try connection.first("SELECT photo_held FROM photo WHERE key = ?", key.rawValue) {
                $0.optionalInt(0)
            }
            guard held == Int64(edition),
                try CacheReader(connection).metadata(of: key)
                    != StoredMetadata(metadata: metadata, edition: edition)
            else { return false }
            try PhotoText.whileChanging(key.rawValue, connection) {
                try insert(metadata, isTownKnown: isTownKnown, of: key, edition: edition, connection)
            }
            try Self.setDate(metadata.takenAt.flatMap { Timestamp(takenAt: $0) }, of: key, connection)
            // Touch the row, so that screens read it again and show the video's length.
            if metadata.videoMilliseconds != nil {
                try connection.run(
                    "UPDATE photo SET video_milliseconds = video_milliseconds WHERE key = ? AND video_milliseconds = 0",
                    key.rawValue)
            }
            return true
        }
    }

    private func insert(
        _ metadata: PhotoMetadata, isTownKnown: Bool, of key: PhotoKey, edition: Int, _ connection: Connection
    ) throws {
        try connection.run(
            """
            INSERT INTO metadata (photo, edition, \(CacheReader.metadataColumns), words, town, town_distance)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (photo) DO UPDATE SET
                edition = excluded.edition, format = excluded.format, width = excluded.width, height = excluded.height,
                orientation = excluded.orientation, taken_at = excluded.taken_at, camera = excluded.camera,
                lens = excluded.lens, exposure = excluded.exposure, aperture = excluded.aperture, iso = excluded.iso,
                focal_length = excluded.focal_length, latitude = excluded.latitude, longitude = excluded.longitude,
                title = excluded.title, description = excluded.description, length = excluded.length,
                codec = excluded.codec, frame_rate = excluded.frame_rate, words = excluded.words,
                town = excluded.town, town_distance = excluded.town_distance
            """, key.rawValue, edition, metadata.format, metadata.width, metadata.height, metadata.orientation,
            metadata.takenAt, metadata.camera, metadata.lens, metadata.exposure, metadata.aperture, metadata.iso,
            metadata.focalLength, metadata.latitude, metadata.longitude, metadata.title, metadata.description,
            metadata.videoMilliseconds, metadata.codec, metadata.frameRate, metadata.words,
            isTownKnown ? metadata.town?.name ?? "" : nil, metadata.town?.distance)
    }
}

/// The towns at photos' coordinates.
extension GalleryWriter {
    /// The number of photos whose towns one transaction stores.
    private static let townsAtOnce = 200

    /// Finds the towns of photos whose metadata an older version stored. Other writes can run between the transactions.
    public func findMissingTowns() async throws {
        guard towns != nil else { return }
        while !Task.isCancelled, try findSomeTowns() { await Task.yield() }
    }

    /// Finds some missing towns. Returns whether there may be more.
    private func findSomeTowns() throws -> Bool {
        let keys = try read { connection in
            try connection.map(Self.missingTowns, Self.townsAtOnce) { PhotoKey($0.int(0)) }
        }
        guard !keys.isEmpty else { return false }
        return try transaction { connection in
            for key in keys {
                guard var metadata = try CacheReader(connection).metadata(of: key)?.metadata else { continue }
                guard findTown(of: &metadata) else { return false }
                func store() throws {
                    try connection.run(
                        "UPDATE metadata SET town = ?, town_distance = ?, words = ? WHERE photo = ?",
                        metadata.town?.name ?? "", metadata.town?.distance, metadata.words, key.rawValue)
                }
                // The index needs no change if no town is near.
                if metadata.town == nil {
                    try store()
                } else {
                    try PhotoText.whileChanging(key.rawValue, connection, store)
                }
            }
            return true
        }
    }

    /// The query of photos with coordinates whose towns are unknown. A test checks its query plan.
    static let missingTowns = """
        SELECT photo FROM metadata WHERE town IS NULL AND latitude NOT NULL AND longitude NOT NULL LIMIT ?
        """

    /// Adds the town at the coordinates to the metadata. Returns false if Vitrine has no usable table of towns.
    private func findTown(of metadata: inout PhotoMetadata) -> Bool {
        guard let towns else { return false }
        guard let latitude = metadata.latitude, let longitude = metadata.longitude else { return true }
        do {
            metadata.town = try towns.town(latitude: latitude, longitude: longitude)
            return true
        } catch {
            // Log the error once, because the table throws the same error for every photo.
            if !hasLoggedTowns { log.error(.cache, "\(error)") }
            hasLoggedTowns = true
            return false
        }
    }
}

extension GalleryWriter {
    /// Removes the files of some photos. The photos' metadata stays, and Vitrine fetches the photos again on demand.
    ///
    /// Photos that stay in the user's folder do not change. Returns the number of removed files.
    @discardableResult
    public func dropPhotos(_ keys: [PhotoKey]) throws -> Int {
        let list = keys.map(\.rawValue).keyList
        let names = try transaction { connection in
            let isMeant = "\(Self.isCopied) AND key IN (SELECT value FROM json_each(?))"
            let names = try connection.map("SELECT photo_file FROM photo WHERE \(isMeant)", list) { $0.text(0) }
            try connection.run("UPDATE photo SET \(Self.withoutFile) WHERE \(isMeant)", list)
            return names
        }
        for name in names { files.remove(name) }
        return names.count
    }

    /// Marks the pictures of some photos as outdated, so that Vitrine fetches them again.
    ///
    /// The pictures remain visible until new ones arrive, or the server confirms that they are current. This method
    /// also clears recorded trouble.
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
    /// Clears recorded failures, so that Vitrine fetches bad pictures again. A refresh by the user calls this method.
    ///
    /// This method removes photos that could not be decoded. It keeps an older photo whose new edition could not be
    /// fetched. Bad renditions get a new edition, so that nothing known about the old bytes applies to the new bytes.
    ///
    /// - Parameter keys: the photos to retry; nil for all.
    public func retry(_ keys: [PhotoKey]? = nil) throws {
        let list = keys?.map(\.rawValue).keyList
        let undecodable = try transaction { connection in
            let isMeant = """
                photo_trouble = ?1 AND photo_file IS NOT NULL AND photo_held = photo_edition
                AND (?2 IS NULL OR key IN (SELECT value FROM json_each(?2)))
                """
            let names = try connection.map(
                "SELECT photo_file FROM photo WHERE \(isMeant)", TroubleCode.bad, list
            ) { $0.text(0) }
            try connection.run("UPDATE photo SET \(Self.withoutFile) WHERE \(isMeant)", TroubleCode.bad, list)
            for rendition in Rendition.allCases { try Self.clearTroubles(of: rendition, list, connection) }
            return names
        }
        for name in undecodable { files.remove(name) }
    }

    /// Clears the recorded failures of pictures that the cache lacks.
    ///
    /// A command calls this method before it fetches pictures. Pictures that could not be decoded stay bad. Otherwise
    /// each run of the command would fetch the same bytes again.
    ///
    /// - Parameter keys: the photos to retry; nil for all.
    public func retryMissing(_ renditions: [Rendition] = Rendition.allCases, of keys: [PhotoKey]? = nil) throws {
        let list = keys?.map(\.rawValue).keyList
        try transaction { connection in
            for rendition in renditions {
                let isMissing = "\(rendition.column("held")) IS NOT \(rendition.column("edition"))"
                let isDecodable = "\(rendition.column("trouble")) <> \(TroubleCode.undecodable)"
                try Self.clearTroubles(of: rendition, list, where: "\(isMissing) AND \(isDecodable)", connection)
            }
            if !renditions.contains(.original) {
                // Vitrine makes a thumbnail without an address from the photo.
                let makesThumbnail = "thumbnail_address IS NULL AND thumbnail_held IS NOT thumbnail_edition"
                try Self.clearTroubles(
                    of: .original, list, where: "photo_held IS NOT photo_edition AND \(makesThumbnail)", connection)
            }
        }
    }

    /// Clears a rendition's failures, and gives bad renditions a new edition.
    ///
    /// - Parameters:
    ///   - list: the keys of the photos as JSON; nil for all photos.
    ///   - condition: the SQL condition for the photos.
    private static func clearTroubles(
        of rendition: Rendition, _ list: String?, where condition: String = "TRUE", _ connection: Connection
    ) throws {
        let (trouble, edition) = (rendition.column("trouble"), rendition.column("edition"))
        try connection.run(
            """
            UPDATE photo SET \(edition) = \(edition) + (\(trouble) IN \(TroubleCode.allBad)), \(trouble) = NULL,
                             \(rendition.column("reason")) = NULL
            WHERE \(trouble) <= \(TroubleCode.bad) AND \(condition)
                  AND (?1 IS NULL OR key IN (SELECT value FROM json_each(?1)))
            """, list)
    }
}
