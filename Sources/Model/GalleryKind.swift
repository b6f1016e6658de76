/// The kind of source to which a gallery's address leads. The cache stores the raw value, and Vitrine shows the raw
/// value to users and programs.
public enum GalleryKind: String, Hashable, Sendable {
    /// An XML file that lists the photos.
    case list
    /// A folder of this machine.
    case folder
    /// A web server that lists folders.
    case web
    /// A WebDAV server.
    case webDAV = "webdav"
    /// A Nextcloud or ownCloud server.
    case nextcloud
    /// An Immich server.
    case immich
    /// A PhotoPrism server.
    case photoPrism = "photoprism"
    /// A Piwigo server.
    case piwigo
    /// A feed of a photo site, a blog or a social network.
    case feed
    /// A bucket of a storage service.
    case s3

    /// Returns the address of the server's page for a photo or video. Returns nil if this kind has no such pages.
    ///
    /// - Parameters:
    ///   - id: the id in the gallery's list.
    ///   - root: the address of the server.
    ///   - gallery: the gallery's address, which may be a shared link.
    public func page(of id: String, on root: Address, in gallery: Address) -> Address? {
        let id = PercentEncoding.encodeAll(id.utf8, except: "")
        switch self {
        case .immich:
            let share = gallery.path.prefixMatch(of: /\/(?:share|s)\/[^\/]+/)?.0
            return try? root.resolving("\(share.map { "\($0.dropFirst())/" } ?? "")photos/\(id)")
        // The server shows visitors of a shared link only the link's own page.
        case .photoPrism where gallery.path.hasPrefix(root.asFolder.path + "s/"): return gallery
        case .photoPrism: return try? root.resolving("library/browse?q=uid:\(id)")
        case .piwigo: return try? root.resolving("picture.php?/\(id)")
        case .list, .folder, .web, .webDAV, .nextcloud, .feed, .s3: return nil
        }
    }

    /// Determines the kind of a gallery if the cache stores none. Returns nil if the kind is unknown, because Vitrine
    /// never fetched the gallery.
    ///
    /// - Parameter hasPaths: whether the photos' ids are paths; nil if the gallery has no photos.
    public init?(_ address: Address, hasPaths: Bool?) {
        switch (hasPaths, address.filePath) {
        case (true?, _?): self = .folder
        case (true?, nil): self = .web
        case (false?, _): self = .list
        case (nil, let path?) where path.hasSuffix(".xml"): self = .list
        case (nil, _): return nil
        }
    }
}
