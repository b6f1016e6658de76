import Cache
import Session
import Export
import Model
import Settings
import Text
import Scheduling

/// `vitrine export`: copies photos into a folder, and fetches missing ones.
struct ExportCommand {
    let services: Services

    /// - Parameter search: copies only the photos that this search finds.
    func run(_ name: String, to folder: String, _ ids: [String], matching search: String?) async throws -> Int32 {
        let address = try services.address(name)
        let working = Task { try await export(address, to: folder, ids, matching: PhotoFilter(search ?? "")) }
        let interruption = Interruption { working.cancel() }
        let code = try await working.value
        return interruption.exitCode ?? code.rawValue
    }

    private func export(
        _ address: Address, to folder: String, _ ids: [String], matching filter: PhotoFilter
    ) async throws -> ExitCode {
        let caches = try services.openCaches(for: [address])
        let cache = try caches.open(address)
        let mayFetch = !services.settings.offline
        let controller = services.makeController(
            caches, schedule: RetrySchedule(maximumAttempts: Services.attempts))
        let fetching = mayFetch ? Task { await controller.run() } : nil
        let keeping = Task { await Housekeeping(services: services, caches: caches).keepWithinLimit() }
        defer {
            fetching?.cancel()
            keeping.cancel()
        }
        guard try await hasList(of: cache, mayFetch) else { return .someFailed }
        let (keys, unknown) = try Self.keys(ids, filter, cache)
        for id in unknown { Output.complain("\(address) has no photo “\(id)”.") }
        let export = try PhotoExport(
            keys, of: cache, to: folder, mask: services.creationMask, wishes: services.wishes, mayFetch: mayFetch
        ) {
            await !services.takeUpAnswers(of: [cache]).isEmpty
        }
        Self.showProgress(0, of: keys.count)
        let report = try await export.run { Self.show($0, of: keys.count) }
        Output.progress("")
        await cache.writer.close()
        // The fetched photos may exceed the cache's limit.
        await Housekeeping(services: services, caches: caches).clean()
        guard report.failed > 0 || report.left > 0 || !unknown.isEmpty else { return .done }
        let all = CountText.text(keys.count + unknown.count, "photo")
        let rest = report.left > 0 ? " \(report.left) left; run the same command to continue." : ""
        Output.complain("\(report.exported) of \(all) are in the folder \(folder).\(rest)")
        return .someFailed
    }

    /// Fetches a missing list, if allowed. Returns whether the cache then has the list. Prints the reason if the list is
    /// still missing.
    ///
    /// Only `vitrine sync` updates an existing list.
    private func hasList(of cache: GalleryCache, _ mayFetch: Bool) async throws -> Bool {
        let isFetched = { try cache.read { try $0.gallery() }.lastSuccess != nil }
        if try isFetched() { return true }
        guard mayFetch else {
            Output.complain("Vitrine has never fetched \(cache.address).")
            return false
        }
        let turn = try await services.takeTurn(of: cache)
        defer { withExtendedLifetime(turn) {} }
        repeat {
            services.wishes.ask(for: .list(cache.id))
            await services.awaitWishes()
        } while await !services.takeUpAnswers(of: [cache]).isEmpty
        if try isFetched() { return true }
        let record = try cache.read { try $0.gallery() }
        if case .failed(let failure) = services.activity.status(of: cache.id, recorded: record.status).state {
            Output.complain("\(cache.address): \(failure)")
        }
        return false
    }

    /// Returns the keys of the photos with these ids, or of all photos, oldest first, as far as they match a filter. Also
    /// returns the unknown ids.
    private static func keys(
        _ ids: [String], _ filter: PhotoFilter, _ cache: GalleryCache
    ) throws -> (keys: [PhotoKey], unknown: [String]) {
        var (keys, unknown): ([PhotoKey], [String]) = ([], [])
        try cache.read { reader in
            if ids.isEmpty { return try reader.forEachPhoto(matching: filter) { keys.append($0.key) } }
            let found = try reader.photos(matching: filter)
            for id in ids {
                guard let key = try reader.photo(galleryID: id)?.key else {
                    unknown.append(id)
                    continue
                }
                if found?.contains(key) != false { keys.append(key) }
            }
        }
        return (keys, unknown)
    }

    /// Prints the path of an exported photo, or the error.
    private static func show(_ event: PhotoExport.Event, of count: Int) {
        Output.progress("")
        switch event.result {
        case .success(let path): Output.print(path.madeVisible)
        case .failure(let error): Output.complain("\(event.photo?.name ?? "A photo"): \(error)")
        }
        showProgress(event.number, of: count)
    }

    private static func showProgress(_ number: Int, of count: Int) {
        Output.progress("\(number) of \(CountText.text(count, "photo"))")
    }
}
