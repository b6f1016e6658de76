import Cache
import Model
import Settings
import Text

/// `vitrine cache`: looks after what is kept.
struct CacheCommand {
    let house: House

    func run(_ action: Invocation.CacheAction, _ target: Invocation.CacheTarget) async throws -> ExitCode {
        let caches = try house.openCaches()
        let galleries = try selected(target, caches)
        if case .gallery(let name) = target, galleries.isEmpty {
            Output.complain("\(try house.address(name)) has no cache.")
            return .someFailed
        }
        switch action {
        case .info: return info(galleries)
        case .clear:
            for gallery in galleries { try gallery.remove() }
            Output.print("\(galleries.count) caches removed")
            return .done
        case .check: return try await check(galleries, caches)
        }
    }

    private func selected(_ target: Invocation.CacheTarget, _ caches: CacheFolder) throws -> [CachedGallery] {
        switch target {
        case .all: return caches.galleries()
        case .gallery(let name):
            let address = try house.address(name)
            return caches.galleries().filter { $0.record.address == address }
        }
    }

    private func info(_ galleries: [CachedGallery]) -> ExitCode {
        var total: Int64 = 0
        for gallery in galleries {
            let (database, photos) = (gallery.databaseSize, gallery.photosSize)
            total += database + photos
            let fields = [
                gallery.record.address.text, "\(gallery.record.photoCount) photos",
                "lists and thumbnails \(Self.size(database))", "photos \(Self.size(photos))",
                "updated " + (gallery.record.lastSuccess?.iso8601 ?? "never"),
            ]
            Output.print(fields.map(\.madeVisible).joined(separator: "\t"))
        }
        Output.print("\(galleries.count) galleries\t\(Self.size(total))")
        return .done
    }

    private func check(_ galleries: [CachedGallery], _ caches: CacheFolder) async throws -> ExitCode {
        var code = ExitCode.done
        for gallery in galleries {
            let check = try await caches.open(gallery.record.address).check()
            var findings = check.complaints
            if check.brokenFiles > 0 { findings.append("\(check.brokenFiles) photos were broken, to be fetched again") }
            if check.orphans > 0 { findings.append("\(check.orphans) files of nothing removed") }
            let verdict = findings.isEmpty ? "good, \(check.goodFiles) photos" : findings.joined(separator: "; ")
            Output.print("\(gallery.record.address.text.madeVisible)\t\(verdict.madeVisible)")
            if !check.complaints.isEmpty { code = .someFailed }
        }
        return code
    }

    private static func size(_ bytes: Int64) -> String {
        bytes < 1_000_000 ? "\((bytes + 999) / 1_000) KB" : "\(bytes / 1_000_000).\(bytes / 100_000 % 10) MB"
    }
}
