import Model
import SQLite

/// Queries for thumbnails and photos that could not be fetched or decoded. Partial indices contain only such photos, so
/// other photos cost nothing.
extension CacheReader {
    /// Returns the number of failed thumbnails and photos. Counting stops at a limit.
    public func troubleCount(limit: Int = 1_000) throws -> Int {
        try Rendition.allCases.reduce(0) { count, rendition in
            guard count < limit else { return count }
            let more = try connection.first(
                """
                SELECT count(*) FROM
                    (SELECT 1 FROM photo WHERE \(rendition.column("trouble")) <= \(TroubleCode.bad) LIMIT ?)
                """, limit - count
            ) { Int($0.int(0)) }
            return count + (more ?? 0)
        }
    }

    /// Returns the failed thumbnails and photos, grouped by reason. The most frequent reason is first.
    ///
    /// This visits each failed photo, so do not call it on the main actor.
    ///
    /// - Parameters:
    ///   - limit: the most groups to return.
    ///   - photoLimit: the most photos to return per group.
    public func troubles(limit: Int = 32, photoLimit: Int) throws -> [TroubleGroup] {
        let groups = try Rendition.allCases.flatMap { try troubles(of: $0, limit: limit, photoLimit: photoLimit) }
        return Array(groups.sorted { $0.count > $1.count }.prefix(limit))
    }

    private func troubles(of rendition: Rendition, limit: Int, photoLimit: Int) throws -> [TroubleGroup] {
        let (trouble, reason) = (rendition.column("trouble"), rendition.column("reason"))
        let found = try connection.map(
            """
            SELECT \(trouble), \(reason), count(*) FROM photo WHERE \(trouble) <= \(TroubleCode.bad)
            GROUP BY \(trouble), \(reason) ORDER BY count(*) DESC LIMIT ?
            """, limit
        ) { (code: $0.int(0), reason: $0.optionalText(1), count: Int($0.int(2))) }
        return try found.compactMap { group in
            guard let meaning = TroubleCode.trouble(group.code, reason: group.reason ?? "") else { return nil }
            let photos = try connection.map(
                """
                SELECT \(Self.photoColumns) FROM photo WHERE \(trouble) = ? AND \(reason) IS ? ORDER BY key LIMIT ?
                """, group.code, group.reason, photoLimit, row: Self.photo)
            return TroubleGroup(rendition: rendition, trouble: meaning, count: group.count, photos: photos)
        }
    }
}

/// The photos whose thumbnail or original is missing for the same reason.
public struct TroubleGroup: Hashable, Sendable {
    /// The kind of picture that is missing.
    public let rendition: Rendition
    /// The reason why the rendition is missing.
    public let trouble: RenditionState.Trouble
    /// The number of photos in the group.
    public let count: Int
    /// The first photos of the group, in order of arrival.
    public let photos: [Photo]
}

/// Converts a rendition's trouble to its form in the database: a number and the reason.
///
/// Numbers above ``bad`` are no failures. They tell how to get the thumbnail of a photo whose first bytes contain none.
enum TroubleCode {
    /// A thumbnail that is bad because Vitrine could not decode it. The server would send the same bytes again.
    static let undecodable: Int64 = 0
    static let putOff: Int64 = 1
    static let bad: Int64 = 2
    /// There is no thumbnail until the user opens the photo.
    static let absent: Int64 = 3
    /// The photo is so small that Vitrine fetches it to make the thumbnail.
    static let inSmallPhoto: Int64 = 4

    /// The codes of bad renditions, as an SQL list.
    static let allBad = "(\(undecodable), \(bad))"

    static func trouble(_ code: Int64?, reason: String) -> RenditionState.Trouble? {
        switch code {
        case putOff: .putOff(Failure(reason, remedy: .time))
        case bad, undecodable: .bad(Failure(reason, remedy: .none))
        default: nil
        }
    }

    static func code(_ trouble: RenditionState.Trouble) -> Int64 {
        switch trouble {
        case .putOff: putOff
        case .bad: bad
        }
    }
}

/// The failures that a gallery's cache has recorded.
public struct GalleryFailures: Hashable, Sendable {
    /// The gallery's record, including the failure of its last update.
    public let record: GalleryRecord
    /// The failed thumbnails and photos, grouped by reason.
    public let troubles: [TroubleGroup]
}

extension CacheFolder {
    /// Returns the recorded failures of an open or closed gallery. Returns nil if the gallery has no readable cache.
    ///
    /// Call this method off the main actor. The method leaves no cache open and writes nothing.
    public func failures(of address: Address, photoLimit: Int) -> GalleryFailures? {
        // Many photos may have failed.
        failures(of: address, photoLimit: photoLimit, within: .seconds(10))
    }

    /// Returns the same failures as ``failures(of:photoLimit:)``, or nil if reading them takes too long.
    ///
    /// - Parameter patience: the longest time to read the failures of a closed gallery.
    func failures(of address: Address, photoLimit: Int, within patience: Duration) -> GalleryFailures? {
        try? read(address, orElse: gallery(address), within: patience) {
            try GalleryFailures($0, photoLimit: photoLimit)
        }
    }
}

extension GalleryFailures {
    fileprivate init(_ reader: CacheReader, photoLimit: Int) throws {
        record = try reader.gallery()
        troubles = try reader.troubles(photoLimit: photoLimit)
    }
}
