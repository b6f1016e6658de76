import Cache
import Model
import Text

/// `vitrine list`: prints the cached photos of a gallery.
struct ListCommand {
    let services: Services

    /// - Parameter search: the search that photos must match; nil for all photos.
    func run(_ name: String, json: Bool, matching search: String?) async throws -> ExitCode {
        let address = try services.address(name)
        let filter = PhotoFilter(search ?? "")
        let caches = try services.openCaches()
        guard caches.record(of: address)?.hasList == true else {
            Output.complain("Vitrine has never fetched \(address). Run “vitrine sync” to fetch the gallery.")
            return .someFailed
        }
        let cache = try caches.open(address)
        await cache.writer.adoptRatings()
        try cache.read { reader in
            if json { return try printJSON(reader, filter) }
            try reader.forEachPhoto(matching: filter) { photo in
                let facts = PhotoFacts(photo)
                let fields = [photo.galleryID, facts.date ?? "", photo.name, facts.state]
                services.output.print(fields.map(\.madeVisible).joined(separator: "\t"))
            }
        }
        return .done
    }

    /// Prints one photo at a time, so that even a long list needs little memory.
    private func printJSON(_ reader: CacheReader, _ filter: PhotoFilter) throws {
        services.output.print("[")
        var last: String?
        let kind = try reader.gallery().kind
        // Most galleries have no towns. Their photos then need no query for a town.
        let hasTowns = try reader.hasTowns()
        try reader.forEachPhoto(matching: filter) { photo in
            if let last { services.output.print(last + ",") }
            let metadata = photo.isVideo ? try reader.metadata(of: photo.key)?.metadata : nil
            let town = hasTowns ? try metadata?.town ?? reader.town(of: photo.key) : nil
            last = PhotoFacts(photo).json(in: kind, town: town, metadata).text
        }
        if let last { services.output.print(last) }
        services.output.print("]")
    }
}

/// The state of a photo, for the output of commands.
struct PhotoFacts {
    let photo: Photo

    init(_ photo: Photo) {
        self.photo = photo
    }

    /// The date in the form of gallery files; nil if unknown.
    var date: String? { photo.date == .unknown ? nil : photo.date.iso8601 }

    /// The cached part: `photo`, `thumbnail` or `nothing`. After a failure, a colon and the reason follow.
    var state: String {
        let held = photo.original.held != nil ? "photo" : photo.thumbnail.held != nil ? "thumbnail" : "nothing"
        return [held, trouble].compactMap { $0 }.joined(separator: ": ")
    }

    private var trouble: String? { (photo.original.trouble ?? photo.thumbnail.trouble)?.failure.reason }

    /// Returns the facts as a JSON object. Only a photo whose id is a path has a folder.
    ///
    /// - Parameter metadata: the metadata of a video, if known.
    func json(in kind: GalleryKind?, town: Town?, _ metadata: PhotoMetadata? = nil) -> JSONText {
        let optional: [(String, JSONText?)] = [
            ("folder", photo.folder.map { .string($0.text) }),
            ("rating", photo.rating == .none ? nil : .number(photo.rating.value)),
            ("town", town.map { .string($0.name) }), ("townDistance", town.map { .number($0.distance) }),
            ("video", photo.videoMilliseconds.map { .decimal(Double($0) / 1_000) }),
            ("width", metadata.map { .number($0.width) }), ("height", metadata.map { .number($0.height) }),
            ("codec", metadata?.codec.map { .string($0) }), ("frameRate", metadata?.frameRate.map { .decimal($0) }),
        ]
        return .object(
            [
                ("id", .string(photo.galleryID)), ("date", .string(date)),
                ("name", .string(photo.name)),
                ("thumbnail", .flag(photo.thumbnail.held != nil)), ("photo", .flag(photo.original.held != nil)),
                ("trouble", .string(trouble)), ("kind", .string(kind?.rawValue)),
            ] + optional.compactMap { name, value in value.map { (name, $0) } })
    }
}

/// `vitrine list --albums`: prints the cached albums of a gallery's server.
struct AlbumsCommand {
    let services: Services

    func run(_ name: String, json: Bool) throws -> ExitCode {
        let address = try services.address(name)
        let caches = try services.openCaches()
        let list = caches.record(of: address) == nil ? AlbumList() : try caches.open(address).albums()
        if let kind = caches.record(of: address)?.kind, !kind.canListAlbums {
            Output.complain("Vitrine lists albums only of Immich, Nextcloud, PhotoPrism and Piwigo servers.")
            return .someFailed
        }
        guard list.lastSuccess != nil else {
            Output.complain(
                "Vitrine has never fetched the albums of \(address). Run “vitrine sync --albums” to fetch them.")
            return .someFailed
        }
        if json {
            services.output.print(JSONText.array(list.albums.map(Self.json)).text)
        } else {
            for album in list.albums {
                services.output.print(Self.fields(album).map(\.madeVisible).joined(separator: "\t"))
            }
        }
        return .done
    }

    private static func fields(_ album: Album) -> [String] {
        [album.address.description, album.kind.rawValue, album.name, album.count.map { String($0) } ?? ""]
    }

    private static func json(_ album: Album) -> JSONText {
        let facts: [(String, JSONText?)] = [
            ("address", .string(album.address.description)), ("kind", .string(album.kind.rawValue)),
            ("name", .string(album.name)), ("count", album.count.map { .number($0) }),
            ("cover", album.cover.map { .string($0) }),
        ]
        return .object(facts.compactMap { name, fact in fact.map { (name, $0) } })
    }
}
