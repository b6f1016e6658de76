import Glibc
import Model
import SQLite

/// How much room a gallery's cache takes, and what for.
extension ClosedGalleryCache {
    /// Bytes of the database and its log: the list, what photos say of themselves, and the thumbnails.
    public var databaseSize: Int64 {
        files { $0.hasPrefix("gallery.sqlite") && !$0.hasPrefix(Self.setAsidePrefix) }.reduce(0) { $0 + $1.size }
    }

    /// Bytes of the thumbnails, which are in the database. Looks through all of them.
    public var thumbnailsSize: Int64 {
        ask("SELECT total(length(data)) + total(length(unproven)) FROM thumbnail").map { Int64($0) } ?? 0
    }

    /// Bytes of the photos, those on their way included.
    public var photosSize: Int64 {
        ["photos", "partial"].reduce(0) { sum, name in
            PrivateFolder.entries("\(folder)/\(name)").reduce(sum) { $0 + Self.size("\(folder)/\(name)/\($1)") }
        }
    }

    /// Bytes of databases that were set aside.
    public var setAsideSize: Int64 { setAside.reduce(0) { $0 + $1.size } }

    var setAside: [CacheInventory.SetAside] {
        files { $0.hasPrefix(Self.setAsidePrefix) }.map { name, size in
            // The name says when.
            let digits = name.dropFirst(Self.setAsidePrefix.count).prefix { $0.isASCII && $0.isNumber }
            return CacheInventory.SetAside(
                name: name, size: size,
                time: Int64(digits).map(Timestamp.init(milliseconds:)) ?? Self.time("\(folder)/\(name)"))
        }
    }

    /// When something was last committed to it.
    var touched: Timestamp { max(Self.time(folder + "/lock"), Self.time(folder + "/gallery.sqlite")) }

    /// Whether there are thumbnails in the database, or room that nobody uses and that is a quarter of it.
    var canShrink: Bool {
        ask("SELECT EXISTS (SELECT 1 FROM thumbnail)") ?? 0 > 0
            || ask("SELECT freelist_count * 4 > page_count FROM pragma_freelist_count, pragma_page_count") ?? 0 > 0
    }

    private static let setAsidePrefix = "gallery.sqlite.damaged-"

    private func files(_ isMeant: (String) -> Bool) -> [(name: String, size: Int64)] {
        PrivateFolder.entries(folder).filter(isMeant).map { ($0, Self.size("\(folder)/\($0)")) }
    }

    /// A number that the database knows; nil if it cannot be read.
    private func ask(_ question: String) -> Double? {
        guard record != nil else { return nil }
        return try? Connection(path: folder + "/gallery.sqlite", access: .readOnly, patience: 200)
            .first(question) { $0.optionalDouble(0) ?? 0 }
    }

    static func size(_ path: String) -> Int64 {
        var status = stat()
        return lstat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    static func time(_ path: String) -> Timestamp {
        var status = stat()
        guard lstat(path, &status) == 0 else { return Timestamp(milliseconds: 0) }
        return Timestamp(milliseconds: Int64(status.st_mtim.tv_sec) * 1_000 + Int64(status.st_mtim.tv_nsec) / 1_000_000)
    }
}
