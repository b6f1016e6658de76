import Cache
import Cells
import Glibc
import HTTP
import Logging
import Model
import Networking
import Pictures
import Scheduling
import Secrets
import Session
import Settings
import Terminal
import Text

/// Everything that commands have in common, put together once. The only place that knows all rooms.
struct Services {
    /// What the command line says: it comes after the settings file, whenever that is read.
    let invocation: Invocation
    /// What held when the program started.
    let settings: Settings
    /// What is wrong with the settings file, for the screen: what was said before it is covered by it.
    let mistakes: [String]
    let locations: Locations
    /// The permissions of files in the user's folders.
    let creationMask: CreationMask
    let storage: Storage
    let installation = Installation()
    let log: Log
    let logFile: LogFile?
    let httpConfiguration: HTTPConfiguration
    let credentials: CredentialStore
    let wishes = Wishes()
    let activity = Activity()
    /// Says when the machine comes to be on another network.
    let networkWatch = NetworkWatch()

    init(_ invocation: Invocation, _ creationMask: CreationMask) throws {
        self.creationMask = creationMask
        decoder = DecoderClient(path: installation.decoder, from: .server)
        self.invocation = invocation
        locations = Locations()
        storage = Storage(locations) { name in getenv(name).map { String(cString: $0) } }
        let inForce = try SettingsInForce(invocation, locations)
        (settings, mistakes) = (inForce.settings, inForce.notices)
        for mistake in inForce.mistakes { Output.complain("\(mistake)") }
        httpConfiguration = try Self.httpConfiguration(settings, locations)
        let path = settings.logFile
        logFile = try path.map { try LogFile(path: $0) }
        let level: LogLevel =
            switch settings.logLevel {
            case .error: .error
            case .info: .info
            case .debug: .debug
            }
        log = Log(level: level, file: logFile)
        for mistake in inForce.mistakes { log.error(.screen, "\(mistake)") }
        credentials = Self.credentials(locations, log)
    }

    /// Opens the folder of caches. Where the usual one cannot be made, a temporary one takes its place; and also where the usual
    /// one cannot be written to and lacks a gallery that is named. A folder that the user has named has to be usable.
    ///
    /// - Parameter galleries: those that are going to be opened.
    func openCaches(for galleries: [Address] = []) throws -> CacheFolder {
        if let folder = storage.temporaryFolder { return try openCaches(folder) }
        if let folder = settings.cacheFolder { return try openCaches(folder) }
        do {
            let caches = try openCaches(locations.cache)
            if galleries.contains(where: { caches.record(of: $0) == nil }), let error = caches.obstacle { throw error }
            return caches
        } catch let error as CacheError where error.isOfFolder {
            let folder = try storage.temporaryCaches(error)
            log.error(.cache, "\(error) Until Vitrine ends, caches lie in \(folder).")
            let caches = try openCaches(folder)
            // The screen shows it where there is one.
            if case .browse = invocation.command { return caches }
            if let notice = storage.takeNotice() { Output.complain(notice) }
            return caches
        }
    }

    private func openCaches(_ folder: String) throws -> CacheFolder {
        try CacheFolder(
            path: folder, limit: settings.cacheLimit, log: log, activity: activity, credentials: credentials)
    }

    /// Decodes many pictures. Its server is started with the first one.
    let decoder: DecoderClient

    /// Decodes a picture or two, for which a server is more than what it saves.
    var decoderOfFew: DecoderClient { DecoderClient(path: installation.decoder) }

    /// How many cores there are to work on.
    static var cores: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// How many pictures are decoded at once. Each takes up to eight descriptors.
    static var pictures: Int { min(cores, 1 + Invocation.Command.descriptorsToSpare / 8) }

    func makeController(_ caches: CacheFolder, schedule: RetrySchedule = RetrySchedule()) -> NetworkController {
        var configuration = httpConfiguration
        configuration.proxyCredentials = ProxyCredentials(credentials)
        return NetworkController(
            wishes: wishes, context: RequestContext(caches: caches, activity: activity, log: log),
            client: HTTPClient(configuration, log: log), governor: governor,
            schedule: schedule, network: networkWatch.changes, disturbance: disturbance,
            onHistory: { keep($0) })
    }

    /// A gallery as it was named.
    func address(_ text: String) throws -> Address {
        try GalleryArgument.address(text, home: locations.home)
    }

    /// The galleries that the user remembers.
    func rememberedGalleries() throws -> GalleryList {
        try PrivateFile.read(locations.galleriesFile).map { GalleryList(text: $0) } ?? GalleryList()
    }

    /// What in the list of them is wrong, and is passed over.
    func mistakesInGalleries() throws -> [SettingsFile.Mistake] {
        let path = locations.galleriesFile
        return try PrivateFile.read(path).map { GalleryList.mistakes(in: $0, path: path) } ?? []
    }
}

extension Services {
    /// The whole address of a gallery that a file holds without the secrets in it. The list of galleries has it, or else the
    /// gallery's cache; nil if neither does.
    func wholeAddress(of gallery: Address, _ caches: CacheFolder) throws -> Address? {
        guard gallery.lacksSecrets else { return gallery }
        let known = try rememberedGalleries().addresses + caches.galleries().compactMap { $0.record?.address }
        return known.first { $0.textWithoutSecrets == gallery.textWithoutSecrets }
    }
}

extension Services {
    /// Forgets what the command line says is to be forgotten, before anything else happens.
    func clear(_ invocation: Invocation) throws {
        if invocation.clearsSetup {
            let files = [locations.galleriesFile, locations.placesFile, locations.placeFile]
            for path in files where unlink(path) != 0 && errno != ENOENT {
                throw SettingsError.file(path: path, reason: String(cString: strerror(errno)))
            }
        }
        if invocation.clearsCache {
            for gallery in try openCaches().galleries() { try gallery.remove() }
        }
    }
}

/// What commands without a screen do alike when they have something fetched.
extension Services {
    /// How often something is tried. Nobody is there to wait an hour.
    static let attempts = 2

    /// Of two updates of one gallery the second waits for the first, and says so.
    func takeTurn(of gallery: GalleryCache) async throws -> UpdateTurn {
        try await gallery.takeTurn {
            Output.progress("\(gallery.address): waiting for another update".truncated(toWidth: 78))
        }
    }

    /// Waits until nothing is wished for any more: it has come true, or never will.
    func awaitWishes() async {
        for await snapshot in wishes.snapshots() where snapshot.wishes.isEmpty { break }
    }

    /// Where a server wanted to know who asks, and a password has been found that was kept, it may be asked once more. Returns
    /// the galleries that this is true of.
    func takeUpAnswers(of galleries: [GalleryCache]) async -> [GalleryCache] {
        let answered = activity.takeAnswered()
        let again = galleries.filter { answered.contains($0.id) }
        for gallery in again {
            do { try await gallery.writer.retry() } catch { log.error(.cache, "\(error)") }
        }
        return again
    }
}

/// What the user has said of the network: in the settings, and in the environment.
extension Services {
    /// What holds for every transfer. Files that are named are looked at now: who wants to be known by one would
    /// otherwise be asked for a password in its place, and wonder.
    static func httpConfiguration(_ settings: Settings, _ locations: Locations) throws(SettingsError)
        -> HTTPConfiguration
    {
        let variable = { (name: String) in getenv(name).map { String(cString: $0) } }
        let certificates = settings.caFile ?? variable("CURL_CA_BUNDLE")
        for file in [settings.caFile, settings.clientCertificate, settings.clientKey] {
            if let file, access(file, R_OK) != 0 {
                throw .file(path: file, reason: String(cString: strerror(errno)))
            }
        }
        var configuration = HTTPConfiguration(
            userAgent: "Vitrine/" + Version.number, certificates: certificates, proxies: ProxyChoice(variable),
            netrc: try netrc(settings, locations),
            clientCertificate: settings.clientCertificate.map {
                ClientCertificate(file: $0, key: settings.clientKey ?? $0, host: settings.clientCertificateHost)
            })
        configuration.warmConnections = min(
            configuration.warmConnections, 1 + Invocation.Command.descriptorsToSpare / 4)
        return configuration
    }

    /// The one that the settings name, or the usual one if it is there. Passwords that others can read are none: the usual
    /// one is then left alone, as it may be there for other programs.
    private static func netrc(_ settings: Settings, _ locations: Locations) throws(SettingsError) -> String? {
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
            Output.complain("\(error) It is not used.")
            return nil
        }
    }

    /// How the network is made worse on purpose.
    var disturbance: Disturbance {
        Disturbance(delay: .milliseconds(settings.debugDelay), failingEvery: settings.debugFailures)
    }

    /// What was found out about hosts in earlier runs. Without it, or where it cannot be read, all is found out anew.
    private var history: HostHistory {
        (try? PrivateFile.read(locations.networkFile)).flatMap { $0 }.map { HostHistory(text: $0) } ?? HostHistory()
    }

    /// Keeps it for the next one.
    func keep(_ history: HostHistory) {
        do {
            try PrivateFile.write(history.text, to: locations.networkFile)
        } catch {
            log.error(.network, "\(error)")
        }
    }

    /// How many transfers run at once. Each takes up to six descriptors: a connection, what its name is looked up with, and
    /// the file that it fills.
    var governor: any Governor {
        let most = 2 + Invocation.Command.descriptorsToSpare / 6
        return settings.transfers > 0
            ? FixedGovernor(width: min(settings.transfers, most), pace: 0.25)
            : AdaptiveGovernor(history: history, width: most)
    }
}

extension Services {
    /// Who asks for what, with what the user wants kept between runs. Nothing is read before a server wants to know.
    static func credentials(_ locations: Locations, _ log: Log) -> CredentialStore {
        let secretStore = SecretStore(file: SecretFile(path: locations.passwordsFile), keyring: Keyring()) { trouble in
            log.error(.network, "\(trouble)")
        }
        return CredentialStore(
            keeping: CredentialKeeping(
                lookUp: { await secretStore.signIn(for: $0) },
                keep: { signIn, place, keeping in
                    do {
                        try await secretStore.keep(signIn, for: place, in: keeping)
                        return nil
                    } catch {
                        return "\(error)"
                    }
                }))
    }
}

extension Settings {
    /// What the user insists on, whatever is found out about the terminal.
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
    /// The depth that the user insists on.
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
    /// Where this process's user has his files.
    init() {
        self.init(fallback: Self.listed ?? "/") { name in getenv(name).map { String(cString: $0) } }
    }

    /// His home folder as the system's list of users has it, which may lie on another machine.
    private static var listed: String? {
        getpwuid(getuid()).flatMap { $0.pointee.pw_dir }.map { String(cString: $0) }
    }
}
