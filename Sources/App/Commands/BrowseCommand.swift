import Cache
import Session
import Cells
import Glibc
import Logging
import Model
import Pictures
import UI
import Settings
import Concurrency
import Terminal

/// `vitrine [GALLERY]`: the full screen.
struct BrowseCommand {
    let services: Services

    @MainActor
    func run(_ gallery: String?) async throws -> Int32 {
        try checkFolder(gallery)
        let terminal = try Terminal(TerminalEnvironment(), wishes: services.settings.terminalWishes)
        let places = PlacesFile(services.locations)
        let known = places.read()
        let hasDied = RunMark.takeDeaths(in: services.locations.runningFolder)
        // A gallery that the user names opens all the same. The last gallery may be the reason of the death.
        let startsInGalleries = hasDied && gallery == nil
        let opened = startsInGalleries ? nil : try gallery.map { try services.address($0) } ?? known.last.gallery
        let caches = try services.openCaches(for: [opened].compactMap { $0 }.filter { !$0.lacksSecrets })
        if let notice = services.storage.takeNotice() { services.activity.postNotice(notice) }
        let place = startsInGalleries ? Place() : try startingPlace(gallery, known, caches)
        if hasDied { services.activity.postNotice(Self.notice(startsInGalleries: startsInGalleries)) }
        terminal.followsMouse = services.settings.mouse
        let program = externalProgram
        let developer = PictureRenderer(caches: caches, decoder: services.decoder, log: services.log)
        let remembered = RememberedPlaces(known) { [storage = services.storage] noted in
            do { try places.note(noted) } catch { if storage.keepsState { throw error } }
        }
        let context = try makeContext(caches, developer, terminal, remembered, program)
        context.holdsUpdates = startsInGalleries
        let root = RootScreen(context)
        root.onNeedsDisplay = { terminal.setNeedsFrame() }
        root.onRedraw = { terminal.redraw() }
        root.onSuspend = { terminal.suspend() }
        root.onReload = { [weak root] in if let root { readSettings(root, terminal) } }
        root.onCopy = { terminal.copy($0) }
        terminal.onEvent = { root.handle($0) }
        terminal.onCapabilities = { root.adopt($0) }
        terminal.onFindings = { [log = services.log] in for line in $0.lines { log.debug(.screen, line) } }
        let shown = AsyncStream<Void>.makeStream()
        terminal.onFrame = { size in
            defer { shown.continuation.finish() }
            return root.frame(size)
        }
        // Before a gallery's list, photos or cache are looked at.
        let mark = RunMark(in: services.locations.runningFolder)
        root.start(at: place)
        let working = startWorking(caches, developer, shown.stream)
        let signal = await withCheckedContinuation { continuation in
            // Whatever ends it first: the user, a signal, a terminal that is gone.
            var end: ((Int32) -> Void)? = { continuation.resume(returning: $0) }
            let finish = { (signal: Int32) in
                end?(signal)
                end = nil
            }
            root.onQuit = { finish(0) }
            terminal.onEnd = finish
            terminal.start()
        }
        // The end is in order from here on, whatever a second signal does to the rest.
        mark?.remove()
        terminal.end()
        // Reads are of no use to anybody now. What is being written is whole transactions.
        working.cancel()
        if let failure = await root.finish() { Output.complain(failure) }
        for rest in root.unfinishedExports {
            let credentials = caches.credentials
            Output.advise(
                ExportContinuation(
                    rest: rest, invocation: services.invocation,
                    needsPassword: credentials.signIn(for: rest.gallery, in: rest.gallery) != nil,
                    locations: services.locations
                ).lines())
        }
        await program.sweep()
        return Self.exitCode(signal)
    }

    /// Throws a sentence that helps, if a folder is named that has no list, and had none before.
    private func checkFolder(_ gallery: String?) throws {
        guard let gallery, let folder = GalleryFolder(withoutListAt: try services.address(gallery)) else { return }
        guard try services.openCaches().record(of: services.address(gallery))?.lastSuccess == nil else { return }
        throw folder
    }

    private static func notice(startsInGalleries: Bool) -> String {
        let rest = startsInGalleries ? " Nothing is fetched until you open a gallery." : ""
        return "Vitrine ended unexpectedly the last time.\(rest)"
    }

    /// A gallery that was named is opened, as it was looked at the last time; without one, the place where the user was.
    private func startingPlace(_ gallery: String?, _ places: Places, _ caches: CacheFolder) throws -> Place {
        guard let gallery else { return try placeWithSecrets(places.last, caches) }
        let address = try services.address(gallery)
        var place = places.place(in: address) ?? Place(gallery: address)
        if places.last.gallery?.textWithoutSecrets != address.textWithoutSecrets { place.isPhotoOpen = false }
        return place
    }

    /// A place with the whole address of its gallery, whose secrets the file of places does not hold.
    private func placeWithSecrets(_ place: Place, _ caches: CacheFolder) throws -> Place {
        guard let gallery = place.gallery, gallery.lacksSecrets else { return place }
        guard let whole = try services.wholeAddress(of: gallery, caches) else { return Place() }
        var place = place
        place.gallery = whole
        return place
    }

    @MainActor
    private func makeContext(
        _ caches: CacheFolder, _ developer: PictureRenderer, _ terminal: Terminal, _ places: RememberedPlaces,
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
                    // Where nothing can be kept, that has been said, and the list holds until the program ends.
                    if storage.keepsConfiguration { throw error }
                }
                return written
            })
        return ScreenContext(
            caches: caches, wishes: services.wishes, activity: services.activity,
            pipeline: PicturePipeline(developer: developer, width: Services.pictures), log: services.log,
            settings: services.settings,
            galleries: galleries, places: places, locations: services.locations,
            currentFolder: GalleryArgument.currentFolder,
            capabilities: terminal.capabilities,
            exportFolder: exportFolder, creationMask: services.creationMask, open: { await program.open($0, of: $1) },
            wait: { [clock = BootClock()] in try await clock.sleep(until: clock.now + $0) })
    }

    /// The list of galleries. Mistakes in it become a notice, and the photos open all the same.
    private func readGalleries() -> GalleryList {
        do {
            for mistake in try services.mistakesInGalleries() { services.activity.postNotice("\(mistake)") }
            return try services.rememberedGalleries()
        } catch {
            services.activity.postNotice("\(error)")
            return GalleryList()
        }
    }

    /// Reads the settings again, while the program runs. What is wrong with them is said, and the rest holds.
    @MainActor
    private func readSettings(_ root: RootScreen, _ terminal: Terminal) {
        do {
            let inForce = try SettingsInForce(services.invocation, services.locations)
            for mistake in inForce.mistakes { services.log.error(.screen, "\(mistake)") }
            for notice in inForce.notices { services.activity.postNotice(notice) }
            root.adopt(inForce.settings)
            terminal.followsMouse = inForce.settings.mouse
            terminal.use(inForce.settings.terminalWishes)
        } catch {
            services.activity.postNotice("\(error)")
        }
    }

    /// The folder that photos are saved to, unless the user says another: the desktop's for pictures, if there is one.
    private var exportFolder: String {
        if let chosen = services.settings.exportFolder { return chosen }
        let text = (try? PrivateFile.read(services.locations.userFoldersFile)).flatMap { $0 } ?? ""
        let pictures = UserFolders(text: text, home: services.locations.home).pictures
        guard let pictures, access(pictures, W_OK | X_OK) == 0 else { return GalleryArgument.currentFolder }
        return pictures
    }

    private var externalProgram: ExternalProgram {
        ExternalProgram(
            services.settings, { name in getenv(name).map { String(cString: $0) } }, wishes: services.wishes
        ) { [activity = services.activity] in activity.postNotice($0) }
    }

    /// The network, and what is done beside it.
    ///
    /// - Parameter isShown: ends with the first frame.
    private func startWorking(
        _ caches: CacheFolder, _ developer: PictureRenderer, _ isShown: AsyncStream<Void>
    ) -> Task<Void, Never> {
        let (controller, isOffline) = (services.makeController(caches), services.settings.offline)
        let housekeeping = Housekeeping(services: services, caches: caches)
        return Task.detached(priority: .utility) {
            await withDiscardingTaskGroup { group in
                if !isOffline { group.addTask { await controller.run() } }
                group.addTask { await housekeeping.run(developer, isShown) }
            }
        }
    }

    /// 0 for quitting, and 128 and its number for a signal, as shells have it.
    private static func exitCode(_ signal: Int32) -> Int32 { signal == 0 ? ExitCode.done.rawValue : 128 + signal }
}
