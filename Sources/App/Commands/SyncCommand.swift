import Cache
import Model
import Pictures
import Session
import Settings
import Synchronization
import Text

/// `vitrine sync`: fills caches without a screen.
struct SyncCommand {
    let services: Services
    /// Whether to fetch the albums of the galleries' servers, too.
    let fetchesAlbums: Bool

    func run(_ scope: Invocation.SyncScope, _ names: [String]) async throws -> ExitCode {
        let caches = try services.openCaches(for: names.map { try services.address($0) })
        let addresses = try addresses(names, caches)
        guard !addresses.isEmpty else {
            Output.complain("There are no known galleries. Give the address of a gallery.")
            return .usage
        }
        var code = ExitCode.done
        let opened = open(addresses, caches, &code)
        for gallery in opened where gallery.wasSetAside {
            Output.complain("Vitrine set aside the damaged cache of \(gallery.address) and is filling a new one.")
        }
        var left = fetchable(opened, &code)
        for gallery in left { hold(gallery, scope) }
        var isCutShort = false
        // A gallery that another process updates, perhaps for hours, does not keep the other galleries waiting.
        while !left.isEmpty {
            let turns = try await services.takeTurns(of: left)
            defer { withExtendedLifetime(turns) {} }
            left.removeAll { gallery in turns.contains { $0.cache === gallery } }
            let galleries = swept(turns.map { $0.cache }, &code)
            if !galleries.isEmpty, try await update(galleries, scope, caches, &code) { isCutShort = true }
        }
        if isCutShort {
            Output.complain("The caches have reached the limit set by “cache-limit”, so some pictures are missing.")
        }
        for notice in services.activity.takeNotices() where code != .done { Output.complain(notice) }
        return code
    }

    /// Updates galleries, and prints the results. Needs the turns of the galleries.
    ///
    /// - Returns: whether pictures are missing because the caches have reached their limit.
    private func update(
        _ galleries: [GalleryCache], _ scope: Invocation.SyncScope, _ caches: CacheFolder, _ code: inout ExitCode
    ) async throws -> Bool {
        let before = galleries.map { gallery in (try? gallery.read { try $0.gallery() })?.lastSuccess }
        let housekeeping = Housekeeping(services: services, caches: caches)
        for gallery in galleries where !scope.renditions.isEmpty {
            // An earlier run may have failed for a reason that the user has removed, such as a wrong password.
            await services.retryMissing(scope.renditions, in: gallery)
        }
        // Make space before fetching.
        if scope != .list { await housekeeping.clean(forBulkFetches: true) }
        let setup = try services.fetcherSetup(caches, mostAttempts: Services.attempts)
        let fetcher = services.makeFetcher(caches, try services.launcher)
        let working = Task { await fetcher.run(setup) }
        let watching = Task { await watch(galleries) }
        let keeping = Task { await housekeeping.keepWithinLimit(isCounted: scope != .list) }
        var left = galleries
        repeat {
            for gallery in left { ask(for: gallery, scope) }
            await services.awaitWishes()
            left = await services.takeUpAnswers(of: galleries)
        } while !left.isEmpty
        if fetchesAlbums {
            // The albums come last, because only a fetched list shows the kind of server.
            for gallery in galleries { services.wishes.ask(for: .albums(gallery.id)) }
            await services.awaitWishes()
        }
        let wasShort = caches.space.isShort
        working.cancel()
        watching.cancel()
        keeping.cancel()
        await keeping.value
        // Wait for the fetcher to end, because it has the galleries open, too.
        await working.value
        // Wait, or the progress line would reappear after it is cleared.
        await watching.value
        Output.progress("")
        if scope != .list { for gallery in galleries { await completePhotos(in: gallery, caches) } }
        for gallery in galleries { await gallery.writer.close() }
        // Clean before the report: a fast server may have exceeded the limit.
        await housekeeping.clean()
        let isShort = wasShort || caches.space.isShort
        var isIncomplete = false
        for (gallery, before) in zip(galleries, before) {
            do {
                guard try !report(gallery, scope, after: before, isShort: isShort) else { continue }
                isIncomplete = true
                code.add(.someFailed)
            } catch {
                Self.report(error, of: gallery.address, &code)
            }
        }
        return isIncomplete && scope != .list && isShort
    }

    private func ask(for gallery: GalleryCache, _ scope: Invocation.SyncScope) {
        services.wishes.ask(for: .list(gallery.id))
        if scope != .list { services.wishes.ask(for: .everyPicture(gallery.id, .thumbnail), importance: .near) }
        if scope == .photos { services.wishes.ask(for: .everyPicture(gallery.id, .original), importance: .rest) }
    }

    /// Keeps the pictures that this command fetches, until the program ends. Otherwise they would make space for each
    /// other.
    private func hold(_ gallery: GalleryCache, _ scope: Invocation.SyncScope) {
        for rendition in scope.renditions { services.wishes.hold(.everyPicture(gallery.id, rendition)) }
    }

    /// Returns the addresses of the named galleries, or of all known galleries, without repetitions.
    ///
    /// The fetcher can write any address into the caches, and gets access to each gallery that Vitrine opens. So only
    /// the user's own files decide which galleries are known. A cache only adds the secrets that these files omit.
    private func addresses(_ names: [String], _ caches: CacheFolder) throws -> [Address] {
        guard names.isEmpty else { return services.recordNamed(try names.map { try services.address($0) }) }
        let opened = PlacesFile(services.locations).read()
        // If all updates of a gallery failed, its address may be mistyped, and each run would fail.
        let records = caches.galleries().compactMap(\.record).filter { $0.hasList || $0.failure == nil }
        let cached = records.filter { !$0.isEmptied }.map { $0.address.with(nil) }
        let known = try services.rememberedGalleries().addresses + cached.filter(opened.knows)
        for address in cached where !known.contains(address) {
            Output.complain("\(address) is not updated. To include it from now on, run once: vitrine sync ADDRESS")
        }
        return GalleryList(known).addresses
    }

    /// Opens the galleries' caches. Reports those that are unusable, and returns the others.
    private func open(_ addresses: [Address], _ caches: CacheFolder, _ code: inout ExitCode) -> [GalleryCache] {
        var galleries: [GalleryCache] = []
        for address in addresses {
            do { galleries.append(try caches.open(address)) } catch { Self.report(error, of: address, &code) }
        }
        return galleries
    }

    /// Removes leftover files. If a cache fails, reports it, and returns only the others.
    private func swept(_ galleries: [GalleryCache], _ code: inout ExitCode) -> [GalleryCache] {
        var swept: [GalleryCache] = []
        for gallery in galleries {
            do {
                try gallery.sweep()
                swept.append(gallery)
            } catch {
                Self.report(error, of: gallery.address, &code)
            }
        }
        return swept
    }

    /// Returns the galleries that Vitrine may fetch. Offline, these are the local folders.
    private func fetchable(_ galleries: [GalleryCache], _ code: inout ExitCode) -> [GalleryCache] {
        guard services.settings.offline else { return galleries }
        return galleries.filter { gallery in
            if gallery.address.isPlainFolder { return true }
            Output.complain(
                "\(gallery.address) is not updated: it may need a network, and the setting “offline” is on.")
            code.add(.someFailed)
            return false
        }
    }

    /// Reports an error that concerns only one gallery.
    private static func report(_ error: any Error, of gallery: Address, _ code: inout ExitCode) {
        Output.complain("\(gallery): \(error)")
        code.add(ExitCode(error))
    }

    private func watch(_ galleries: [GalleryCache]) async {
        for await _ in services.activity.changes() {
            let texts = galleries.compactMap { gallery -> String? in
                guard let record = try? gallery.read({ try $0.gallery() }) else { return nil }
                guard
                    case .updating(let phase) = services.activity.status(of: gallery.id, recorded: record.status).state
                else {
                    return nil
                }
                return "\(gallery.address): \(Self.text(phase))"
            }
            Output.progress(texts.first ?? "fetching pictures…")
        }
    }

    private static func text(_ phase: SyncPhase) -> String {
        switch phase {
        case .getting(let progress, let entries):
            ByteText.text(progress.done.int64, of: progress.total?.int64)
                + (entries > 0 ? ", " + CountText.text(entries, "photo") : "")
        case .waiting(let failure, _): "\(failure); retrying"
        case .parsing(let entries): CountText.text(entries, "photo")
        case .committing: "storing"
        }
    }

    /// Stores the metadata of photos, and makes missing thumbnails. Shows the progress.
    private func completePhotos(in gallery: GalleryCache, _ caches: CacheFolder) async {
        // Each renderer works on one photo after the other.
        let developers = (0..<Services.pictures).map { _ in
            PictureRenderer(
                caches: caches, decoder: services.decoder,
                desktop: DesktopThumbnails(folder: services.locations.thumbnailsFolder), log: services.log)
        }
        let keys = (try? developers.first?.incomplete(in: gallery)) ?? []
        let left = Mutex(keys[...])
        let next = { @Sendable in left.withLock { left in left.popFirst().map { ($0, keys.count - left.count) } } }
        await withDiscardingTaskGroup { group in
            for developer in developers.prefix(keys.count) {
                group.addTask {
                    while let (key, number) = next() {
                        Output.progress(
                            "\(gallery.address): \(number) of \(CountText.text(keys.count, "photo"))")
                        do {
                            try await developer.complete(key, in: gallery)
                        } catch {
                            services.log.error(.cache, "\(error)")
                        }
                    }
                }
            }
        }
        Output.progress("")
        do { try await gallery.writer.findMissingTowns() } catch { services.log.error(.cache, "\(error)") }
    }

    /// Prints the result of a gallery's update. Returns whether the update succeeded.
    ///
    /// - Parameter before: the time of the last success before the update. If the record now has another time, the list
    ///   is up to date, although a program may have recorded a failure since.
    private func report(
        _ gallery: GalleryCache, _ scope: Invocation.SyncScope, after before: Timestamp?, isShort: Bool
    ) throws -> Bool {
        let record = try gallery.read { try $0.gallery() }
        // Counting reads every row, which would slow down updates without changes.
        let counts = scope == .list ? (thumbnails: 0, photos: 0, failed: 0) : try gallery.read { try $0.counts() }
        var parts = [CountText.text(record.photoCount, "photo", nil, .plain)]
        if scope != .list { parts.append(CountText.text(counts.thumbnails, "thumbnail", nil, .plain)) }
        if scope == .photos { parts.append(CountText.text(counts.photos, "photo", nil, .plain) + " cached") }
        let albums = fetchesAlbums ? try gallery.albums() : AlbumList()
        if albums.lastSuccess != nil { parts.append(CountText.text(albums.albums.count, "album", nil, .plain)) }
        if record.skipped > 0 { parts.append("\(record.skipped) skipped") }
        if scope != .list, counts.failed > 0 { parts.append("\(counts.failed) failed") }
        let isUpdated = record.lastSuccess != nil && record.lastSuccess != before
        if case .failed(let failure) = services.activity.status(of: gallery.id, recorded: record.status).state,
            !isUpdated
        {
            Output.complain("\(gallery.address): \(failure)")
            return false
        }
        services.output.print("\(gallery.address.description.madeVisible)\t\(parts.joined(separator: ", "))")
        if let trouble = albums.trouble {
            Output.complain("\(gallery.address): \(trouble)")
            return false
        }
        guard scope != .list else { return true }
        let isStorageShort = isShort || services.activity.hasStorageTrouble
        let isLacking = try isLacking(gallery, scope, isStorageShort: isStorageShort)
        if isLacking, !isStorageShort {
            Output.complain("\(gallery.address): some pictures are missing; run “vitrine sync” again.")
        }
        return counts.failed == 0 && !isLacking
    }

    /// Returns whether the cache lacks pictures that a later sync may get.
    ///
    /// Without some libraries, the decoder cannot make some thumbnails. So thumbnails that Vitrine must make count as
    /// missing only if the disk or the cache limit may be the reason.
    private func isLacking(_ gallery: GalleryCache, _ scope: Invocation.SyncScope, isStorageShort: Bool) throws -> Bool
    {
        try gallery.read { reader in
            let isWanting = { (rendition: Rendition, known: Set<PhotoKey>) in
                try !reader.wanting(rendition, limit: 1, except: known).isEmpty
            }
            if scope == .photos, try isWanting(.original, []) { return true }
            guard try isWanting(.thumbnail, []) else { return false }
            return try isStorageShort || isWanting(.thumbnail, Set(reader.thumbnailsToMake()))
        }
    }
}

extension Invocation.SyncScope {
    /// The kinds of pictures to fetch.
    fileprivate var renditions: [Rendition] {
        switch self {
        case .list: []
        case .thumbnails: [.thumbnail]
        case .photos: Rendition.allCases
        }
    }
}
