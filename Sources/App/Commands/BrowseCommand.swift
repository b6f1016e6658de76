import Cache
import Session
import Cells
import FetcherClient
import FetcherWire
import Glibc
import Logging
import Model
import Pictures
import UI
import Settings
import Concurrency
import Terminal
import Text

/// `vitrine [GALLERY]`: the full-screen browser.
struct BrowseCommand {
    let services: Services

    @MainActor
    func run(_ gallery: String?) async throws -> Int32 {
        try checkFolder(gallery)
        let terminal = try Terminal(TerminalEnvironment(), wishes: services.settings.terminalWishes)
        let places = PlacesFile(services.locations)
        let known = places.read()
        let hasDied = RunMark.takeDeaths(in: services.locations.runningFolder)
        // After a crash, open only a named gallery, because the last open gallery may be the cause.
        let startsInGalleries = hasDied && gallery == nil
        let opened = startsInGalleries ? nil : try gallery.map { try services.address($0) } ?? known.last.gallery
        let caches = try services.openCaches(for: [opened].compactMap { $0 }.filter { !$0.lacksSecrets })
        if let notice = services.storage.takeNotice() { services.activity.postNotice(notice) }
        let place = startsInGalleries ? Place() : try startingPlace(gallery, known, caches)
        if hasDied { services.activity.postNotice(Self.notice(startsInGalleries: startsInGalleries)) }
        terminal.followsMouse = services.settings.mouse
        let program = try externalProgram
        let developer = PictureRenderer(
            caches: caches, decoder: services.decoder,
            desktop: DesktopThumbnails(folder: services.locations.thumbnailsFolder), log: services.log)
        let remembered = RememberedPlaces(known) { [storage = services.storage] noted in
            do { try places.record(noted) } catch { if storage.keepsState { throw error } }
        }
        let pipeline = PicturePipeline(renderer: developer, width: Services.pictures)
        let context = try makeContext(caches, pipeline, terminal, remembered, program)
        context.holdsUpdates = startsInGalleries
        if startsInGalleries, let last = known.last.gallery, !last.lacksSecrets { context.crashedGallery = last }
        let root = RootScreen(context)
        root.host.onNeedsDisplay = { terminal.setNeedsFrame() }
        root.host.onRedraw = { terminal.redraw() }
        root.host.onSuspend = { terminal.suspend() }
        root.host.onCopy = { terminal.copy($0) }
        terminal.onEvent = { root.handle($0) }
        terminal.onCapabilities = { root.adopt($0) }
        terminal.onFindings = { [log = services.log] in for line in $0.lines { log.debug(.screen, line) } }
        let shown = AsyncStream<Void>.makeStream()
        terminal.onFrame = { size in
            defer { shown.continuation.finish() }
            return root.frame(size)
        }
        // Mark the run before reading any list, photo or cache, so that the next run notices a crash while reading.
        let mark = RunMark(in: services.locations.runningFolder)
        root.start(at: place)
        let working = try startWorking(caches, developer, shown.stream)
        let following = follow(terminal, caches, program)
        let (pressure, zone) = followSystem(terminal, pipeline)
        let signal = await withCheckedContinuation { continuation in
            // The user, a signal or a closed terminal may end the run. Only the first of them counts.
            var end: ((Int32) -> Void)? = { continuation.resume(returning: $0) }
            let finish = { (signal: Int32) in
                end?(signal)
                end = nil
            }
            root.host.onQuit = { finish(0) }
            terminal.onEnd = finish
            terminal.start()
        }
        // From here on, an end by a second signal does not count as a crash.
        mark?.remove()
        terminal.end()
        withExtendedLifetime((pressure, zone)) {}
        // Cancel all work. No screen needs the results any more, and each write is a whole transaction, so no data are
        // damaged.
        working.cancel()
        following.cancel()
        for cache in caches.openCaches { cache.writer.stopWaiting() }
        if let failure = await root.finish() { Output.complain(failure) }
        for export in root.unfinishedExports {
            await leave(export, inBackground: export.mayContinue ?? (signal == SIGHUP), caches.credentials)
        }
        await program.removeCopies()
        return Self.exitCode(signal)
    }

    /// Continues an export in the background, or prints the command that continues it.
    private func leave(
        _ export: UnfinishedExport, inBackground: Bool, _ credentials: CredentialStore
    ) async {
        let rest = export.rest
        let continuation = ExportContinuation(
            rest: rest, invocation: services.invocation,
            needsPassword: credentials.signIn(for: rest.gallery, in: rest.gallery) != nil, locations: services.locations
        )
        if inBackground {
            let script = continuation.script()
            do {
                try await UnattendedExport(rest, credentials, script: script).start(services)
                if let failure = export.failure { Output.complain(failure) }
                return Output.advise([
                    "Vitrine continues to save the remaining photos to \(rest.folder.madeVisible) in the background. "
                        + "Vitrine shows the result at its next start."
                ])
            } catch {
                Output.complain("\(error)")
                if let script { unlink(script) }
            }
        }
        Output.complain(export.outcome)
        Output.advise(continuation.lines())
    }

    /// Throws an error if the named folder has no photos and no cache.
    private func checkFolder(_ gallery: String?) throws {
        guard let address = try gallery.map({ try services.address($0) }) else { return }
        let isCached = { try services.openCaches().record(of: address)?.lastSuccess != nil }
        if let folder = try EmptyFolder(at: address, isCached: isCached) { throw folder }
    }

    private static func notice(startsInGalleries: Bool) -> String {
        let rest = startsInGalleries ? " Vitrine fetches nothing until you open a gallery." : ""
        return "Vitrine ended unexpectedly last time.\(rest)"
    }

    /// Returns the position at which the browser starts. This is the last position in the named gallery, with the named
    /// picture if there is one, or else the position where the last run ended.
    private func startingPlace(_ gallery: String?, _ places: Places, _ caches: CacheFolder) throws -> Place {
        guard let gallery else { return try placeWithSecrets(places.last, caches) }
        let address = try services.address(gallery)
        var place = places.place(in: address) ?? Place(gallery: address)
        if places.last.gallery?.textWithoutSecrets != address.textWithoutSecrets { place.isPhotoOpen = false }
        return place.showing(photoOf: try services.photo(gallery))
    }

    /// Completes the gallery's address with the secrets that the file of positions omits.
    private func placeWithSecrets(_ place: Place, _ caches: CacheFolder) throws -> Place {
        guard let gallery = place.gallery, gallery.lacksSecrets else { return place }
        guard let whole = try services.wholeAddress(of: gallery, caches) else { return Place() }
        var place = place
        place.gallery = whole
        return place
    }

    @MainActor
    private func makeContext(
        _ caches: CacheFolder, _ pipeline: PicturePipeline, _ terminal: Terminal, _ places: RememberedPlaces,
        _ program: ExternalProgram
    ) throws -> ScreenContext {
        let path = services.locations.galleriesFile
        for mistake in services.mistakes { services.activity.postNotice(mistake) }
        let galleries = RememberedGalleries(
            presets: [services.installation.testGallery].compactMap { $0 }, list: readGalleries(),
            onSave: { [storage = services.storage] list, before in
                var written = list
                do {
                    try PrivateFile.change(path) { text in
                        written = list.merging(GalleryList(text: text ?? ""), since: before)
                        return written.text
                    }
                } catch {
                    // If the home folder is not writable, the list lasts until Vitrine ends. A notice has told the user
                    // so.
                    if storage.keepsConfiguration { throw error }
                }
                return written
            })
        galleries.isKept = { [storage = services.storage] in storage.keepsConfiguration }
        let context = ScreenContext(
            caches: caches, wishes: services.wishes, activity: services.activity,
            pipeline: pipeline, log: services.log,
            settings: services.live,
            galleries: galleries, places: places, locations: services.locations,
            currentFolder: GalleryArgument.currentFolder,
            capabilities: terminal.capabilities,
            exportFolder: exportFolder, creationMask: services.creationMask, open: { await program.open($0, of: $1) },
            wait: { [clock = BootClock()] in try await clock.sleep(until: clock.now + $0) })
        context.buckets = services.accessKeyFiles.service
        return context
    }

    /// Frees memory when the system needs some, and adopts a new time zone.
    @MainActor
    private func followSystem(
        _ terminal: Terminal, _ pipeline: PicturePipeline
    ) -> (MemoryPressure?, TimeZoneWatch?) {
        let log = services.log
        let pressure = MemoryPressure {
            log.debug(.screen, "memory is low: shrinking the picture caches")
            pipeline.shrink()
        }
        let zone = TimeZoneWatch {
            TimeZoneWatch.readAgain()
            Task { @MainActor in terminal.setNeedsFrame() }
        }
        return (pressure, zone)
    }

    /// Reads the list of galleries, and shows mistakes in the list as notices.
    private func readGalleries() -> GalleryList {
        do {
            for mistake in try services.mistakesInGalleries() { services.activity.postNotice("\(mistake)") }
            return try services.rememberedGalleries()
        } catch {
            services.activity.postNotice("\(error)")
            return GalleryList()
        }
    }

    /// Applies changed settings to the parts of the program outside the screens.
    @MainActor
    private func follow(_ terminal: Terminal, _ caches: CacheFolder, _ program: ExternalProgram) -> Task<Void, Never> {
        let (changes, log, activity) = (services.live.changes(), services.log, services.activity)
        return Task { [first = services.settings] in
            var former = first
            for await settings in changes where settings != former {
                terminal.followsMouse = settings.mouse
                terminal.use(settings.terminalWishes)
                caches.space.setLimit(settings.cacheLimit)
                // Apply the log settings only if they changed. The user may have switched levels on the log screen.
                if settings.logLevels != former.logLevels || settings.logExchanges != former.logExchanges {
                    Services.apply(settings, to: log)
                }
                if settings.logFile != former.logFile {
                    // The disk may be slow.
                    await Task.detached {
                        do { log.setFile(try Services.logFile(settings, isOnScreen: true)) } catch {
                            activity.postNotice("\(error)")
                        }
                    }.value
                }
                await program.use(settings)
                former = settings
            }
        }
    }

    /// The folder to suggest for saving photos, unless the settings name one.
    private var exportFolder: String {
        let text = (try? PrivateFile.read(services.locations.userFoldersFile)) ?? ""
        let pictures = UserFolders(text: text, home: services.locations.home).pictures
        guard let pictures, access(pictures, W_OK | X_OK) == 0 else { return GalleryArgument.currentFolder }
        return pictures
    }

    private var externalProgram: ExternalProgram {
        get throws {
            ExternalProgram(
                services.settings, Services.variable, wishes: services.wishes, launcher: try services.launcher
            ) { [activity = services.activity] in activity.postNotice($0) }
        }
    }

    /// Starts the background work: reports of earlier exports, the fetcher, and housekeeping.
    ///
    /// - Parameter isShown: a stream that ends with the first frame.
    private func startWorking(
        _ caches: CacheFolder, _ developer: PictureRenderer, _ isShown: AsyncStream<Void>
    ) throws -> Task<Void, Never> {
        let housekeeping = Housekeeping(services: services, caches: caches)
        let network = NetworkRun(
            services: services, caches: caches, fetcher: services.makeFetcher(caches, try services.launcher))
        return Task.detached(priority: .utility) {
            await withDiscardingTaskGroup { group in
                group.addTask { showReports() }
                group.addTask { await network.run() }
                group.addTask { await housekeeping.run(developer, isShown) }
            }
        }
    }

    /// Shows the results of exports that continued after an earlier run. Waits for the lock of the reports' folder.
    private func showReports() {
        for report in UnattendedReport.take(from: services.locations.reportsFolder) {
            services.activity.postNotice(report)
        }
    }

    /// Returns 0 if the user quit, or else 128 plus the signal's number, as shells do.
    private static func exitCode(_ signal: Int32) -> Int32 { signal == 0 ? ExitCode.done.rawValue : 128 + signal }
}

/// Runs the browser's fetcher, and adapts the fetcher to changed settings.
private struct NetworkRun {
    let services: Services
    let caches: CacheFolder
    /// The client of all fetchers, because a fetcher with other settings continues the transfers.
    let fetcher: FetcherClient

    /// Runs fetchers for the current settings until the task is cancelled.
    func run() async {
        // The settings with which the fetcher at work was started.
        var used = services.settings
        var work = try? start(used)
        var former = used
        for await settings in services.live.changes() {
            // After a failure, a reload tries again. A change of another setting would only repeat the notice.
            let mayTry = settings == former || !settings.hasSameConnections(as: former)
            former = settings
            if mayTry, !settings.hasSameConnections(as: used) {
                do throws(SettingsError) {
                    let setup = try setup(settings)
                    await end(work)
                    work = start(settings, setup)
                    used = settings
                    continue
                } catch {
                    services.activity.postNotice("\(error) Vitrine keeps using the previous connection settings.")
                }
            }
            fetcher.use(FetcherTuning(settings))
        }
        await end(work)
    }

    private func end(_ work: Task<Void, Never>?) async {
        work?.cancel()
        await work?.value
    }

    private func setup(_ settings: Settings) throws(SettingsError) -> FetcherSetup {
        try services.fetcherSetup(caches, settings, followsFolders: true) { services.activity.postNotice($0) }
    }

    private func start(_ settings: Settings) throws(SettingsError) -> Task<Void, Never> {
        start(settings, try setup(settings))
    }

    private func start(_ settings: Settings, _ setup: FetcherSetup) -> Task<Void, Never> {
        fetcher.use(FetcherTuning(settings))
        return Task.detached(priority: .utility) { [fetcher] in await fetcher.run(setup) }
    }
}
