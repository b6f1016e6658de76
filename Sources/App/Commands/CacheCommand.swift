import Cache
import Model
import Settings
import Text

/// `vitrine cache`: looks after what is kept.
struct CacheCommand {
    let services: Services

    func run(_ action: Invocation.CacheAction, _ target: Invocation.CacheTarget) async throws -> ExitCode {
        let caches = try services.openCaches()
        let galleries = try selected(target, caches)
        if case .gallery(let name) = target, galleries.isEmpty {
            Output.complain("\(try services.address(name)) has no cache.")
            return .someFailed
        }
        switch action {
        case .info: return info(galleries)
        case .clear: return clear(galleries)
        case .clearPhotos: return try await clearPhotos(galleries, caches, try known(target))
        case .check: return await CacheCheckCommand(caches: caches).run(galleries, try known(target))
        }
    }

    private func selected(_ target: Invocation.CacheTarget, _ caches: CacheFolder) throws -> [ClosedGalleryCache] {
        switch target {
        case .all: caches.galleries()
        case .gallery(let name): [caches.gallery(try services.address(name))].compactMap { $0 }
        }
    }

    /// Addresses that a cache may belong to which does not say so itself.
    private func known(_ target: Invocation.CacheTarget) throws -> [Address] {
        switch target {
        case .all: try services.rememberedGalleries().addresses
        case .gallery(let name): [try services.address(name)]
        }
    }

    private func info(_ galleries: [ClosedGalleryCache]) -> ExitCode {
        var total: Int64 = 0
        for gallery in galleries {
            let (database, photos, setAside) = (gallery.databaseSize, gallery.photosSize, gallery.setAsideSize)
            // What is not known to be a thumbnail counts as list, such as room in the file that nothing takes at the moment.
            let thumbnails = min(gallery.thumbnailsSize, database)
            total += database + photos + setAside
            var fields = [
                gallery.record?.address.description ?? gallery.folder,
                gallery.record.map { CountText.text($0.photoCount, "photo", nil, .plain) } ?? "nothing is known of it",
                "list \(ByteText.text(database - thumbnails, .plain))",
                "thumbnails \(ByteText.text(thumbnails, .plain))",
                "photos \(ByteText.text(photos, .plain))",
            ]
            if setAside > 0 { fields.append("set aside \(ByteText.text(setAside, .plain))") }
            if gallery.record?.isKept == true { fields.append("kept") }
            fields.append("updated " + (gallery.record?.lastSuccess?.iso8601 ?? "never"))
            Output.print(fields.map(\.madeVisible).joined(separator: "\t"))
            if let trouble = gallery.trouble { Output.complain("\(trouble)") }
        }
        Output.print(
            CountText.text(galleries.count, "gallery", "galleries", .plain) + "\t" + ByteText.text(total, .plain))
        return galleries.allSatisfy { $0.trouble == nil } ? .done : .someFailed
    }

    /// Photos' files alone. Nobody need be alone with a cache for that: whoever has it open is told.
    private func clearPhotos(
        _ galleries: [ClosedGalleryCache], _ caches: CacheFolder, _ known: [Address]
    ) async throws -> ExitCode {
        var code = ExitCode.done
        var removed = 0
        for gallery in galleries {
            do {
                guard let address = gallery.record?.address ?? known.first(where: { gallery.isOf($0) }) else {
                    // Nothing is in it yet; or else it says why it cannot be read.
                    if let trouble = gallery.trouble { throw trouble }
                    continue
                }
                let cache = try caches.open(address)
                removed += try await cache.writer.clear(photosOnly: true)
                try cache.sweep()
            } catch {
                Output.complain("\(error)")
                if case CacheError.locked = error { code = .locked } else if code == .done { code = .someFailed }
            }
        }
        Output.print(CountText.text(removed, "photo") + " removed")
        return code
    }

    /// One that cannot be removed is no reason to keep the others.
    private func clear(_ galleries: [ClosedGalleryCache]) -> ExitCode {
        var code = ExitCode.done
        var removed = 0
        for gallery in galleries {
            do throws(CacheError) {
                try gallery.remove()
                removed += 1
            } catch {
                Output.complain("\(error)")
                if case .locked = error { code = .locked } else if code == .done { code = .someFailed }
            }
        }
        Output.print(CountText.text(removed, "cache") + " removed")
        return code
    }
}

/// `vitrine cache check`: verifies caches, and mends what can be mended.
struct CacheCheckCommand {
    let caches: CacheFolder

    /// - Parameter known: addresses that those may belong to which do not say so themselves.
    func run(_ galleries: [ClosedGalleryCache], _ known: [Address]) async -> ExitCode {
        var code = ExitCode.done
        for gallery in galleries {
            let address = gallery.record?.address ?? known.first { gallery.isOf($0) }
            let (verdict, isWell) = await verdict(gallery, address)
            Output.print("\((address?.description ?? gallery.folder).madeVisible)\t\(verdict.madeVisible)")
            if !isWell { code = .someFailed }
        }
        return code
    }

    private func verdict(_ gallery: ClosedGalleryCache, _ address: Address?) async -> (text: String, isWell: Bool) {
        guard let address else {
            return (gallery.trouble.map { "\($0)" } ?? "good, nothing in it yet", gallery.trouble == nil)
        }
        do {
            let cache = try caches.open(address)
            let check = try await cache.check()
            var findings = check.complaints
            if cache.wasSetAside {
                findings.append("was damaged; it is set aside, and “vitrine sync” fills a fresh one")
            }
            let isWell = findings.isEmpty
            if check.isIndexRepaired { findings.append("rebuilt the damaged search index") }
            if check.brokenFiles > 0 {
                findings.append("broken, to be fetched again: " + CountText.text(check.brokenFiles, "photo"))
            }
            if check.brokenRows > 0 { findings.append(CountText.text(check.brokenRows, "row") + " put right") }
            if check.orphans > 0 { findings.append(CountText.text(check.orphans, "file") + " of nothing removed") }
            if findings.isEmpty { findings.append("good, " + CountText.text(check.goodFiles, "photo")) }
            return (findings.joined(separator: "; "), isWell)
        } catch {
            return ("\(error)", false)
        }
    }
}
