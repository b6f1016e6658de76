import Cache
import Cells
import FetcherClient
import FetcherWire
import Glibc
import HTTP
import Logging
import Model
import Networking
import Pictures
import Sandbox
import Scheduling
import Secrets
import Session
import Settings
import Terminal
import Towns

/// The composition root, which creates the objects that all commands share.
struct Services {
    /// The parsed command line, whose options override the settings file at every reload.
    let invocation: Invocation
    /// The settings, which the user can change in the browser.
    let live: LiveSettings
    /// The settings at the start of the program.
    let settings: Settings
    /// The mistakes in the settings, as notices, because the screen hides earlier messages.
    let mistakes: [String]
    let locations: Locations
    /// The permissions of the files that Vitrine makes in the user's folders.
    let creationMask: CreationMask
    let storage: Storage
    let installation = Installation()
    /// Starts the fetcher and programs for photos.
    let processes: StartedProcesses
    /// Prints the command's results.
    let output: Output
    /// Finds the towns of photos; nil if the table is not installed.
    let towns: TownTable?
    let log: Log
    let httpConfiguration: HTTPConfiguration
    let credentials: CredentialStore
    /// Stored passwords and the user's access keys.
    private let keeping: CredentialKeeping
    let wishes = Wishes()
    let activity = Activity()
    /// The user's access keys and storage service, from environment and files.
    let accessKeyFiles: AccessKeyFiles

    /// - Parameter processes: the launcher, which must have started before this process got more threads.
    init(
        _ invocation: Invocation, _ creationMask: CreationMask, _ processes: StartedProcesses, _ output: Output
    ) throws {
        (self.creationMask, self.processes, self.output) = (creationMask, processes, output)
        towns = installation.towns.map { TownTable(path: $0) }
        self.invocation = invocation
        locations = Locations()
        storage = Storage(locations, Self.variable)
        live = try LiveSettings(invocation, locations) { [locations] former, new throws(SettingsError) in
            if !new.offline, !new.hasSameConnections(as: former) {
                _ = try Self.httpConfiguration(new, locations) { _ in }
            }
            guard new.logFile != former.logFile else { return }
            do { _ = try Self.logFile(new, isOnScreen: true) } catch { throw .unusable("\(error)") }
        }
        decoder = DecoderClient(path: installation.decoder, from: .server) { [live] in live.settings.requireSandbox }
        let inForce = live.inForce
        (settings, mistakes) = (inForce.settings, inForce.notices)
        for mistake in inForce.mistakes { Output.complain("\(mistake)") }
        httpConfiguration = try Self.httpConfiguration(settings, locations)
        let isOnScreen = if case .browse = invocation.command { true } else { false }
        log = Log(file: try Self.logFile(settings, isOnScreen: isOnScreen))
        Self.apply(settings, to: log)
        for mistake in inForce.mistakes { log.error(.screen, "\(mistake)") }
        accessKeyFiles = AccessKeyFiles(home: locations.home, Self.variable)
        keeping = Self.keeping(locations, accessKeyFiles, log)
        credentials = CredentialStore(keeping: keeping)
    }

    /// Opens the folder that holds all caches.
    ///
    /// A temporary folder replaces the default folder if Vitrine cannot make the default folder. A temporary folder
    /// also replaces a read-only default folder that lacks a named gallery. A folder that the user names must be
    /// usable.
    ///
    /// - Parameter galleries: the galleries to open.
    func openCaches(for galleries: [Address] = []) throws -> CacheFolder {
        if let folder = storage.temporaryFolder { return try openCaches(folder) }
        if let folder = settings.cacheFolder { return try openCaches(folder) }
        do {
            let caches = try openCaches(locations.cache)
            if let error = caches.obstacle, galleries.contains(where: { caches.record(of: $0) == nil }) { throw error }
            return caches
        } catch let error as CacheError where error.isOfFolder {
            let folder = try storage.temporaryCaches(error)
            log.error(.cache, "\(error) Vitrine uses the temporary folder \(folder).")
            let caches = try openCaches(folder)
            // The browser shows the notice on the screen.
            if case .browse = invocation.command { return caches }
            if let notice = storage.takeNotice() { Output.complain(notice) }
            return caches
        }
    }

    private func openCaches(_ folder: String) throws -> CacheFolder {
        try CacheFolder(
            path: folder, ratings: locations.ratingsFolder, towns: towns, limit: settings.cacheLimit, log: log,
            activity: activity, credentials: credentials)
    }

    /// A decoder client that uses a server. The first picture starts the server.
    let decoder: DecoderClient

    /// A decoder client without a server. For a few pictures, starting a server would take longer than decoding.
    var decoderOfFew: DecoderClient {
        DecoderClient(path: installation.decoder) { [live] in live.settings.requireSandbox }
    }

    /// The number of processor cores.
    static var cores: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// The maximum number of pictures to decode at once. Each picture needs up to eight file descriptors.
    static var pictures: Int { min(cores, 1 + Invocation.Command.descriptorsToSpare / 8) }

    /// Creates a client for transfers. The first transfer loads curl.
    ///
    /// - Parameter configuration: the configuration; nil for the configuration at the start of the program.
    func makeClient(_ configuration: HTTPConfiguration? = nil) -> HTTPClient {
        var configuration = configuration ?? httpConfiguration
        configuration.proxyCredentials = ProxyCredentials(credentials)
        return HTTPClient(configuration, log: log)
    }

    /// Creates the client that starts the fetcher and talks to it.
    func makeFetcher(_ caches: CacheFolder, _ launcher: Launcher) -> FetcherClient {
        let parts = FetcherClient.Parts(
            caches: caches, wishes: wishes, activity: activity, log: log,
            proxies: ConfiguredProxies(ConfiguredProxies.variables.compactMap(Self.variable)),
            lookUp: { [keeping] lookUp in
                switch lookUp {
                case .password(let place): [await keeping.lookUp(place)].compactMap { $0 }
                case .accessKeys(let origin): await keeping.accessKeys(origin).map { .accessKey($0) }
                }
            },
            onHistory: { keep(HostHistory(text: $0)) })
        return FetcherClient(path: installation.fetcher, launcher: launcher, parts, FetcherTuning(settings))
    }

    /// The launcher. Throws if the system could not fork it at the start.
    var launcher: Launcher {
        get throws {
            guard let launcher = processes.launcher else { throw Launcher.Failure(code: EAGAIN) }
            return launcher
        }
    }

    /// Returns the settings that a fetcher keeps until it ends.
    ///
    /// - Parameters:
    ///   - mostAttempts: the maximum number of attempts for each transfer; nil for no limit.
    ///   - followsFolders: whether to follow changes in local folders.
    func fetcherSetup(
        _ caches: CacheFolder, _ settings: Settings? = nil, mostAttempts: Int? = nil, followsFolders: Bool = false,
        onTrouble: (String) -> Void = { Output.complain($0) }
    ) throws(SettingsError) -> FetcherSetup {
        let settings = settings ?? self.settings
        // Without a network the files with certificates do not matter, and going offline must not fail.
        let isAsAtStart = settings.offline || settings.hasSameConnections(as: self.settings)
        let configuration =
            isAsAtStart ? httpConfiguration : try Self.httpConfiguration(settings, locations, onTrouble: onTrouble)
        var setup = FetcherSetup(cacheFolder: caches.path, userAgent: configuration.userAgent)
        (setup.ratingsFolder, setup.towns) = (locations.ratingsFolder, installation.towns)
        (setup.certificates, setup.netrc) = (configuration.certificates, configuration.netrc)
        setup.clientCertificate = configuration.clientCertificate.map {
            FetcherSetup.ClientCertificate(file: $0.file, key: $0.key, host: $0.host)
        }
        setup.requiresAllRestrictions = settings.requireSandbox
        setup.history = history.text
        setup.mostAttempts = mostAttempts
        (setup.followsFolders, setup.isOffline) = (followsFolders, settings.offline)
        return setup
    }

    /// Returns the gallery for an argument of the command line. A photo's file names the gallery of its folder.
    func address(_ text: String) throws -> Address {
        let named = try namedAddress(text)
        return try Place(photoFile: named)?.gallery ?? named
    }

    /// Returns the photo that an argument of the command line names; nil if it names no photo's file.
    func photo(_ text: String) throws -> Place? { try Place(photoFile: namedAddress(text)) }

    private func namedAddress(_ text: String) throws -> Address {
        try GalleryArgument.address(text, home: locations.home, buckets: accessKeyFiles.service)
    }

    /// Records galleries that the user named in a command.
    ///
    /// From then on, `vitrine sync` without names updates these galleries, too.
    ///
    /// - Returns: the addresses without repetitions.
    @discardableResult
    func recordNamed(_ addresses: [Address]) -> [Address] {
        let named = GalleryList(addresses).addresses
        // Ignore errors. Without this file, only the next update of all galleries is incomplete.
        try? PlacesFile(locations).note(named)
        return named
    }

    /// Reads the user's list of galleries.
    func rememberedGalleries() throws -> GalleryList {
        try PrivateFile.read(locations.galleriesFile).map { GalleryList(text: $0) } ?? GalleryList()
    }

    /// Returns the mistakes in the user's list of galleries.
    func mistakesInGalleries() throws -> [SettingsFile.Mistake] {
        let path = locations.galleriesFile
        return try PrivateFile.read(path).map { GalleryList.mistakes(in: $0, path: path) } ?? []
    }
}

extension Services {
    /// Completes an address with secrets from the user's list or a cache.
    ///
    /// - Returns: the whole address; nil if neither the list nor a cache has the address.
    func wholeAddress(of gallery: Address, _ caches: CacheFolder) throws -> Address? {
        guard gallery.lacksSecrets else { return gallery }
        let known = try rememberedGalleries().addresses + caches.galleries().compactMap { $0.record?.address.with(nil) }
        return known.first { $0.textWithoutSecrets == gallery.textWithoutSecrets }
    }
}

extension Services {
    /// Carries out the options `--clear-setup` and `--clear-cache`, if the user gave them.
    ///
    /// - Returns: the exit code of the program if caches could not be removed.
    func clear(_ invocation: Invocation) throws -> ExitCode {
        if invocation.clearsSetup {
            let files = [locations.galleriesFile, locations.placesFile, locations.placeFile]
            for path in files where unlink(path) != 0 && errno != ENOENT {
                throw SettingsError.file(path: path, reason: String(cString: strerror(errno)))
            }
        }
        guard invocation.clearsCache else { return .done }
        return CacheCommand.remove(try openCaches().galleries()).code
    }
}

/// Transfers of commands without a screen.
extension Services {
    /// The maximum number of attempts for each transfer. More attempts would make scripts wait for hours.
    static let attempts = 2

    /// Takes the turns of all galleries that no other process updates. Waits until there is one, and shows that.
    ///
    /// The caller must hold no turn.
    func takeTurns(of galleries: [GalleryCache]) async throws -> [(cache: GalleryCache, turn: UpdateTurn)] {
        var hasWaited = false
        defer { if hasWaited { Output.progress("") } }
        return try await GalleryCache.takeTurns(of: galleries) { busy in
            hasWaited = true
            Output.progress("\(busy.address): waiting for another process to end its update")
        }
    }

    /// Waits until Vitrine has fetched or given up each requested list and picture.
    func awaitWishes() async {
        for await snapshot in wishes.snapshots() where snapshot.wishes.isEmpty { break }
    }

    /// Retries galleries for whose servers Vitrine has found other stored credentials.
    ///
    /// - Returns: the retried galleries, for which the caller must wait again.
    func takeUpAnswers(of galleries: [GalleryCache]) async -> [GalleryCache] {
        let answered = activity.takeAnswered()
        let again = galleries.filter { answered.contains($0.id) }
        for gallery in again { await retryMissing(in: gallery) }
        return again
    }

    /// Clears the failures of missing pictures, so that the command requests these pictures again.
    ///
    /// - Parameter keys: the photos to retry; nil for all.
    func retryMissing(
        _ renditions: [Rendition] = Rendition.allCases, of keys: [PhotoKey]? = nil, in gallery: GalleryCache
    ) async {
        do { try await gallery.writer.retryMissing(renditions, of: keys) } catch { log.error(.cache, "\(error)") }
    }
}

/// The network's configuration, from settings and environment.
extension Services {
    /// Returns the value of an environment variable; nil if the variable is unset.
    static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Returns the configuration of all transfers.
    ///
    /// The method throws an error for unreadable files. If it ignored an unreadable netrc file, Vitrine would ask the
    /// user for passwords in that file.
    ///
    /// - Parameter onTrouble: receives a sentence about a default netrc file that Vitrine ignores.
    static func httpConfiguration(
        _ settings: Settings, _ locations: Locations, onTrouble: (String) -> Void = { Output.complain($0) }
    ) throws(SettingsError) -> HTTPConfiguration {
        // As with proxies, an empty variable counts as unset.
        let certificates = settings.caFile ?? variable("CURL_CA_BUNDLE").flatMap { $0.isEmpty ? nil : $0 }
        for file in [settings.caFile, settings.clientCertificate, settings.clientKey] {
            if let file, access(file, R_OK) != 0 {
                throw .file(path: file, reason: String(cString: strerror(errno)))
            }
        }
        var configuration = HTTPConfiguration(
            userAgent: "Vitrine/" + Version.number, certificates: certificates, proxies: ProxyChoice(variable),
            netrc: try netrc(settings, locations, onTrouble),
            clientCertificate: settings.clientCertificate.map {
                ClientCertificate(file: $0, key: settings.clientKey ?? $0, host: settings.clientCertificateHost)
            })
        configuration.warmConnections = min(
            configuration.warmConnections, 1 + Invocation.Command.descriptorsToSpare / 4)
        return configuration
    }

    /// Returns the netrc file of the settings, or else the default netrc file if that exists.
    ///
    /// If other users can read the default file, Vitrine ignores the file with a message.
    private static func netrc(
        _ settings: Settings, _ locations: Locations, _ onTrouble: (String) -> Void
    ) throws(SettingsError) -> String? {
        if let path = settings.netrc {
            try PrivateFile.check(path)
            return path
        }
        let usual = locations.home + "/.netrc"
        guard access(usual, F_OK) == 0 else { return nil }
        do throws(SettingsError) {
            try PrivateFile.check(usual)
            return usual
        } catch {
            onTrouble("\(error) Vitrine ignores the file.")
            return nil
        }
    }

    /// The measurements of hosts from earlier runs; empty if the file is unreadable.
    private var history: HostHistory {
        (try? PrivateFile.read(locations.networkFile)).map { HostHistory(text: $0) } ?? HostHistory()
    }

    /// Saves the measurements of hosts for the next run.
    func keep(_ history: HostHistory) {
        do {
            try PrivateFile.write(history.text, to: locations.networkFile)
        } catch {
            log.error(.network, "\(error)")
        }
    }

    /// The governor of uploads, which limits the number of simultaneous uploads.
    ///
    /// An upload needs up to six descriptors: the connection, the name lookup and the file. The governor ignores earlier
    /// measurements, because they are of downloads, and uploads may be slower.
    var uploadGovernor: any Governor {
        let most = 2 + Invocation.Command.descriptorsToSpare / 6
        return settings.transfers > 0
            ? FixedGovernor(width: min(settings.transfers, most), interval: 0.25) : AdaptiveGovernor(width: most)
    }
}

extension Services {
    /// Creates the functions that store credentials. The functions read no file before a server requires a password.
    private static func keeping(
        _ locations: Locations, _ accessKeyFiles: AccessKeyFiles, _ log: Log
    ) -> CredentialKeeping {
        let secretStore = SecretStore(file: SecretFile(path: locations.passwordsFile), keyring: Keyring()) { trouble in
            log.error(.network, "\(trouble)")
        }
        return CredentialKeeping(
            lookUp: { await secretStore.signIn(for: $0) },
            keep: { signIn, realm, keeping in
                do {
                    try await secretStore.keep(signIn, for: realm, in: keeping)
                    return nil
                } catch {
                    return "\(error)"
                }
            },
            accessKeys: { accessKeyFiles.keys(for: $0) })
    }
}

extension FetcherTuning {
    /// The settings of the fetcher that may change while it runs.
    init(_ settings: Settings) {
        self.init(
            transfers: settings.transfers, delay: settings.debugDelay, failures: settings.debugFailures,
            cacheLimit: settings.cacheLimit)
    }
}

/// The log, from the settings.
extension Services {
    /// Opens the file of the log. Returns nil if the settings name none.
    ///
    /// If standard error is the terminal of the browser, log lines would destroy the screen, so the method throws an
    /// error.
    static func logFile(_ settings: Settings, isOnScreen: Bool) throws -> LogFile? {
        guard settings.logFile == LogFile.standardError else {
            return try settings.logFile.map { try LogFile(path: $0) }
        }
        guard !isOnScreen || isatty(STDERR_FILENO) == 0 else { throw LogError.coversScreen }
        return try LogFile(standardError: ())
    }

    /// Sets the log's levels, and the host whose headers the log shows.
    static func apply(_ settings: Settings, to log: Log) {
        var levels: [LogSubsystem: LogLevel?] = [:]
        for (part, level) in settings.logLevels.parts {
            guard let subsystem = LogSubsystem.allCases.first(where: { $0.name == part.rawValue }) else { continue }
            levels[subsystem] = .some(level?.level)
        }
        log.setLevel(settings.logLevels.general.level, levels)
        log.setExchangeHost(settings.logExchanges)
    }
}

extension Settings.LogLevel {
    fileprivate var level: LogLevel {
        switch self {
        case .error: .error
        case .info: .info
        case .debug: .debug
        }
    }
}

extension Settings {
    /// Returns whether the network settings are equal, so that connections can continue.
    func hasSameConnections(as other: Settings) -> Bool {
        (offline, requireSandbox, caFile, netrc) == (other.offline, other.requireSandbox, other.caFile, other.netrc)
            && (clientCertificate, clientKey, clientCertificateHost)
                == (other.clientCertificate, other.clientKey, other.clientCertificateHost)
    }
}

extension Settings {
    /// The settings that override the terminal's answers.
    var terminalWishes: TerminalWishes {
        TerminalWishes(pixels: plain ? .none : pixels.wish, colours: colours.depth, isASCII: ascii)
    }
}

extension Settings.Pixels {
    fileprivate var wish: TerminalWishes.Pixels {
        switch self {
        case .auto: .asFound
        case .none: .none
        case .sixel: .only(.sixel)
        case .kitty: .only(.kitty)
        case .iterm: .only(.iterm)
        }
    }
}

extension Settings.Colours {
    /// The number of colours that the settings demand; nil to use what the terminal supports.
    var depth: ColourDepth? {
        switch self {
        case .auto: nil
        case .none: ColourDepth.none
        case .sixteen: .sixteen
        case .palette: .palette
        case .full: .full
        }
    }
}

extension Locations {
    /// Determines the paths of the current user.
    init() {
        self.init(fallback: Self.listed ?? "/", Services.variable)
    }

    /// The user's home folder according to the user database, whose look-up may be slow.
    private static var listed: String? {
        getpwuid(getuid()).flatMap { $0.pointee.pw_dir }.map { String(cString: $0) }
    }
}
