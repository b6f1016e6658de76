import Cache
import Model
import Text

/// `vitrine list --albums`: prints the cached albums of a gallery's server.
struct AlbumsCommand {
    let services: Services

    func run(_ name: String, json: Bool) throws -> ExitCode {
        let address = try services.address(name)
        let caches = try services.openCaches()
        let list =
            caches.record(of: address) == nil ? AlbumList() : try caches.open(address).read { try $0.albums() }
        if let kind = caches.record(of: address)?.kind, !kind.canListAlbums {
            Output.complain("Vitrine lists albums of Immich, Nextcloud, PhotoPrism and Piwigo only.")
            return .someFailed
        }
        guard list.lastSuccess != nil else {
            Output.complain(
                "Vitrine has never fetched the albums of \(address). Run “vitrine sync --albums” to fetch them.")
            return .someFailed
        }
        if json {
            Output.print(JSONText.array(list.albums.map(Self.json)).text)
        } else {
            for album in list.albums { Output.print(Self.fields(album).map(\.madeVisible).joined(separator: "\t")) }
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
