import Cache
import Model

/// The photos that a stopped export has not reached, as arguments of `vitrine export`.
///
/// The command with these ids goes on where the export stopped, and calls files as it would have.
public struct ExportRest: Equatable, Sendable {
    /// The gallery that the photos are of.
    public let gallery: Address
    /// The folder that they go to.
    public let folder: String
    /// The photos' ids in the gallery; empty for all photos.
    public let ids: [String]

    /// Works it out, or returns nil if the gallery has none of the photos any more.
    ///
    /// - Parameters:
    ///   - keys: all photos of the export, in its order.
    ///   - left: those that it has not come to.
    init?(_ keys: [PhotoKey], left: Set<PhotoKey>, of cache: GalleryCache, folder: String) throws {
        let (photos, isWhole) = try cache.read { reader in
            let photos = try keys.compactMap { try reader.photo($0) }
            return (photos, try Self.isWholeGallery(photos, reader))
        }
        guard photos.contains(where: { left.contains($0.key) }) else { return nil }
        (gallery, self.folder) = (cache.address, folder)
        if isWhole {
            ids = []
        } else {
            // Photos of one title are numbered in the order of the command. So where one of them is there and another is left,
            // all are named; what is there is not copied again.
            let rest = photos.filter { left.contains($0.key) }
            let there = Set(photos.lazy.filter { !left.contains($0.key) }.map(Self.title))
            ids = (rest.contains { there.contains(Self.title($0)) } ? photos : rest).map(\.galleryID)
        }
    }

    /// Whether the command without ids means these photos, and calls their files the same.
    private static func isWholeGallery(_ photos: [Photo], _ reader: CacheReader) throws -> Bool {
        guard try reader.gallery().photoCount == photos.count else { return false }
        var order: [PhotoKey] = []
        try reader.forEachPhoto { order.append($0.key) }
        let keys = photos.map(\.key)
        return keys == order || Set(keys) == Set(order) && Set(photos.map(title)).count == photos.count
    }

    /// The names of files that may collide, without an ending, which depends on the file.
    private static func title(_ photo: Photo) -> String {
        let name = ExportName(photo, nil).folded
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return name }
        return String(name[..<dot])
    }
}
