import Cache
import Model
import Text

/// `vitrine list`: prints the cached photos of a gallery.
struct ListCommand {
    let services: Services

    func run(_ name: String, json: Bool) throws -> ExitCode {
        let address = try services.address(name)
        let caches = try services.openCaches()
        guard caches.record(of: address) != nil else {
            Output.complain("Vitrine has never fetched \(address). Run “vitrine sync” to fetch the gallery.")
            return .someFailed
        }
        let cache = try caches.open(address)
        try cache.read { reader in
            if json { return try printJSON(reader) }
            try reader.forEachPhoto { photo in
                let fields = [photo.galleryID, photo.date.iso8601, photo.name, state(photo)]
                Output.print(fields.map(\.madeVisible).joined(separator: "\t"))
            }
        }
        return .done
    }

    /// Prints one photo at a time, so that even a long list needs little memory.
    private func printJSON(_ reader: CacheReader) throws {
        Output.print("[")
        var last: String?
        let kind = try reader.gallery().kind
        try reader.forEachPhoto { photo in
            if let last { Output.print(last + ",") }
            last = PhotoFacts(photo).json(in: kind).text
        }
        if let last { Output.print(last) }
        Output.print("]")
    }

    private func state(_ photo: Photo) -> String { PhotoFacts(photo).state }
}

/// The state of a photo, for the output of commands.
struct PhotoFacts {
    let photo: Photo

    init(_ photo: Photo) {
        self.photo = photo
    }

    /// The cached part: `photo`, `thumbnail` or `nothing`. After a failure, a colon and the reason follow.
    var state: String {
        let held = photo.original.held != nil ? "photo" : photo.thumbnail.held != nil ? "thumbnail" : "nothing"
        return [held, trouble].compactMap { $0 }.joined(separator: ": ")
    }

    private var trouble: String? {
        for state in [photo.original, photo.thumbnail] {
            switch state.trouble {
            case .bad(let failure), .putOff(let failure): return failure.reason
            case nil: continue
            }
        }
        return nil
    }

    /// Returns the facts as a JSON object. Only a photo whose id is a path has a folder.
    func json(in kind: GalleryKind?) -> JSONText {
        let folder = photo.folder.map { [("folder", JSONText.string($0.text))] } ?? []
        return .object(
            [
                ("id", .string(photo.galleryID)), ("date", .string(photo.date == .unknown ? nil : photo.date.iso8601)),
                ("name", .string(photo.name)),
                ("thumbnail", .flag(photo.thumbnail.held != nil)), ("photo", .flag(photo.original.held != nil)),
                ("trouble", .string(trouble)), ("kind", .string(kind?.rawValue)),
            ] + folder)
    }
}
