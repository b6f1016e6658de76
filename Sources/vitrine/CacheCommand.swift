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
            Output.print(CountText.text(galleries.count, "cache") + " removed")
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
                gallery.record.address.text, CountText.text(gallery.record.photoCount, "photo"),
                "lists and thumbnails \(ByteText.text(database))", "photos \(ByteText.text(photos))",
                "updated " + (gallery.record.lastSuccess?.iso8601 ?? "never"),
            ]
            Output.print(fields.map(\.madeVisible).joined(separator: "\t"))
        }
        Output.print(CountText.text(galleries.count, "gallery", "galleries") + "\t" + ByteText.text(total))
        return .done
    }

    private func check(_ galleries: [CachedGallery], _ caches: CacheFolder) async throws -> ExitCode {
        var code = ExitCode.done
        for gallery in galleries {
            let check = try await caches.open(gallery.record.address).check()
            var findings = check.complaints
            if check.brokenFiles > 0 {
                findings.append("broken, to be fetched again: " + CountText.text(check.brokenFiles, "photo"))
            }
            if check.orphans > 0 { findings.append(CountText.text(check.orphans, "file") + " of nothing removed") }
            let verdict =
                findings.isEmpty
                ? "good, " + CountText.text(check.goodFiles, "photo") : findings.joined(separator: "; ")
            Output.print("\(gallery.record.address.text.madeVisible)\t\(verdict.madeVisible)")
            if !check.complaints.isEmpty { code = .someFailed }
        }
        return code
    }
}
