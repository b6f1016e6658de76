import Model
import SQLite

/// What of a gallery could not be had. Partial indices hold these photos and no others, so that a million that are well cost
/// nothing.
extension CacheReader {
    /// How many thumbnails and photos are put off or bad. Counted up to a limit, so that it can be asked for a status line.
    public func troubleCount(limit: Int = 1_000) throws -> Int {
        try Rendition.allCases.reduce(0) { count, rendition in
            guard count < limit else { return count }
            let more = try connection.first(
                "SELECT count(*) FROM (SELECT 1 FROM photo WHERE \(rendition.column("trouble")) IS NOT NULL LIMIT ?)",
                limit - count
            ) { Int($0.int(0)) }
            return count + (more ?? 0)
        }
    }

    /// Thumbnails and photos that are put off or bad, by reason, the most frequent first. Takes as long as there are such
    /// photos: not for the main actor.
    ///
    /// - Parameters:
    ///   - limit: how many reasons.
    ///   - photoLimit: how many photos of each are named.
    public func troubles(limit: Int = 32, photoLimit: Int) throws -> [TroubleGroup] {
        let groups = try Rendition.allCases.flatMap { try troubles(of: $0, limit: limit, photoLimit: photoLimit) }
        return Array(groups.sorted { $0.count > $1.count }.prefix(limit))
    }

    private func troubles(of rendition: Rendition, limit: Int, photoLimit: Int) throws -> [TroubleGroup] {
        let (trouble, reason) = (rendition.column("trouble"), rendition.column("reason"))
        let found = try connection.map(
            """
            SELECT \(trouble), \(reason), count(*) FROM photo WHERE \(trouble) IS NOT NULL
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

/// Photos of a gallery that lack a rendition for one and the same reason.
public struct TroubleGroup: Hashable, Sendable {
    /// What they lack.
    public let rendition: Rendition
    /// What stands in the way.
    public let trouble: RenditionState.Trouble
    /// How many they are.
    public let count: Int
    /// The first of them, in the order in which they came into the cache.
    public let photos: [Photo]
}

/// How a rendition's trouble is stored: a number and the reason.
enum TroubleCode {
    static let putOff: Int64 = 1
    static let bad: Int64 = 2

    static func trouble(_ code: Int64?, reason: String) -> RenditionState.Trouble? {
        switch code {
        case putOff: .putOff(Failure(reason, remedy: .time))
        case bad: .bad(Failure(reason, remedy: .none))
        default: nil
        }
    }

    static func code(_ trouble: RenditionState.Trouble?) -> (code: Int64?, reason: String?) {
        switch trouble {
        case .putOff(let failure): (putOff, failure.reason)
        case .bad(let failure): (bad, failure.reason)
        case nil: (nil, nil)
        }
    }
}

/// What a gallery's cache keeps of what failed.
public struct GalleryFailures: Hashable, Sendable {
    /// What is known of the gallery. Why its last update failed, if it did, stands in there.
    public let record: GalleryRecord
    /// Photos that lack something, by reason.
    public let troubles: [TroubleGroup]
}

extension CacheFolder {
    /// What a gallery's cache keeps of what failed, whether it is open or not; nil if it has none, or it cannot be read.
    ///
    /// For work off the main actor. Nothing is opened for good, and nothing is written.
    public func failures(of address: Address, photoLimit: Int) -> GalleryFailures? {
        if let cache = cache(GalleryID(address)), cache.address == address {
            return try? cache.read { try GalleryFailures($0, photoLimit: photoLimit) }
        }
        guard let gallery = gallery(address), gallery.record != nil else { return nil }
        let connection = try? Connection(path: gallery.folder + "/gallery.sqlite", access: .readOnly, patience: 200)
        guard let connection, (try? Schema.version(of: connection)) == Schema.version else { return nil }
        return try? GalleryFailures(CacheReader(connection), photoLimit: photoLimit)
    }
}

extension GalleryFailures {
    fileprivate init(_ reader: CacheReader, photoLimit: Int) throws {
        record = try reader.gallery()
        troubles = try reader.troubles(photoLimit: photoLimit)
    }
}
