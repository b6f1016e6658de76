import Cache
import Model
import Settings
import Text

/// `vitrine cache`: shows, verifies or clears caches.
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
        case .check:
            return await CacheCheckCommand(caches: caches, output: services.output).run(galleries, try known(target))
        }
    }

    private func selected(_ target: Invocation.CacheTarget, _ caches: CacheFolder) throws -> [ClosedGalleryCache] {
        switch target {
        case .all: caches.galleries()
        case .gallery(let name): [caches.gallery(try services.address(name))].compactMap { $0 }
        }
    }

    /// Returns the addresses that a cache without its own record may belong to.
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
            // The list's size includes everything in the database except thumbnails, even free pages.
            let thumbnails = min(gallery.thumbnailsSize, database)
            total += database + photos + setAside
            var fields = [
                gallery.record?.address.description ?? gallery.folder,
                gallery.record.map { CountText.text($0.photoCount, "photo", nil, .plain) } ?? "unknown gallery",
                "list \(ByteText.text(database - thumbnails, .plain))",
                "thumbnails \(ByteText.text(thumbnails, .plain))",
                "photos \(ByteText.text(photos, .plain))",
            ]
            if setAside > 0 { fields.append("set aside \(ByteText.text(setAside, .plain))") }
            if gallery.record?.isKept == true { fields.append("kept") }
            fields.append("updated " + (gallery.record?.lastSuccess?.iso8601 ?? "never"))
            services.output.print(fields.map(\.madeVisible).joined(separator: "\t"))
            if let trouble = gallery.trouble { Output.complain("\(trouble)") }
        }
        services.output.print(
            CountText.text(galleries.count, "gallery", "galleries", .plain) + "\t" + ByteText.text(total, .plain))
        return galleries.allSatisfy { $0.trouble == nil } ? .done : .someFailed
    }

    /// Removes only the photo files. Other processes may use the cache meanwhile, and learn of the change.
    private func clearPhotos(
        _ galleries: [ClosedGalleryCache], _ caches: CacheFolder, _ known: [Address]
    ) async throws -> ExitCode {
        var code = ExitCode.done
        var removed = 0
        for gallery in galleries {
            do {
                guard let address = gallery.record?.address ?? known.first(where: { gallery.isOf($0) }) else {
                    // The cache is empty or unreadable.
                    if let trouble = gallery.trouble { throw trouble }
                    continue
                }
                let cache = try caches.open(address)
                removed += try await cache.writer.clear(photosOnly: true)
                try cache.sweep()
            } catch {
                Output.complain("\(error)")
                code.add(ExitCode(error))
            }
        }
        services.output.print(CountText.text(removed, "photo", nil, .plain) + " removed")
        return code
    }

    private func clear(_ galleries: [ClosedGalleryCache]) -> ExitCode {
        let (code, removed) = Self.remove(galleries)
        services.output.print(CountText.text(removed, "cache", nil, .plain) + " removed")
        return code
    }

    /// Removes caches. After a failure, prints the reason and continues with the next cache.
    ///
    /// - Returns: the exit code, and the number of removed caches.
    static func remove(_ galleries: [ClosedGalleryCache]) -> (code: ExitCode, count: Int) {
        var code = ExitCode.done
        var count = 0
        for gallery in galleries {
            do throws(CacheError) {
                try gallery.remove()
                count += 1
            } catch {
                Output.complain("\(error)")
                code.add(ExitCode(error))
            }
        }
        return (code, count)
    }
}

/// `vitrine cache check`: verifies and repairs caches.
struct CacheCheckCommand {
    let caches: CacheFolder
    let output: Output

    /// Checks caches and prints the results.
    ///
    /// - Parameter known: addresses that a cache without its own record may belong to.
    func run(_ galleries: [ClosedGalleryCache], _ known: [Address]) async -> ExitCode {
        var code = ExitCode.done
        for gallery in galleries {
            let address = gallery.record?.address ?? known.first { gallery.isOf($0) }
            let (verdict, result) = await verdict(gallery, address)
            output.print("\((address?.description ?? gallery.folder).madeVisible)\t\(verdict.madeVisible)")
            code.add(result)
        }
        return code
    }

    private func verdict(_ gallery: ClosedGalleryCache, _ address: Address?) async -> (text: String, code: ExitCode) {
        guard let address else {
            guard let trouble = gallery.trouble else { return ("good, empty", .done) }
            return ("\(trouble)", ExitCode(trouble))
        }
        do {
            let cache = try caches.open(address)
            let check = try await cache.check()
            var findings = check.complaints
            if !findings.isEmpty { findings.append("Vitrine replaces the damaged database at the next opening") }
            if cache.wasSetAside {
                findings.append("damaged and set aside; run “vitrine sync” to fill a new cache")
            }
            let isWell = findings.isEmpty
            if check.isIndexRepaired { findings.append("rebuilt the damaged search index") }
            if check.brokenFiles > 0 {
                findings.append(CountText.text(check.brokenFiles, "broken photo", nil, .plain) + " to fetch again")
            }
            if check.brokenRows > 0 {
                findings.append(CountText.text(check.brokenRows, "row", nil, .plain) + " repaired")
            }
            if check.orphans > 0 {
                findings.append(CountText.text(check.orphans, "unused file", nil, .plain) + " removed")
            }
            if findings.isEmpty { findings.append("good, " + CountText.text(check.goodFiles, "photo", nil, .plain)) }
            return (findings.joined(separator: "; "), isWell ? .done : .someFailed)
        } catch {
            return ("\(error)", ExitCode(error))
        }
    }
}
