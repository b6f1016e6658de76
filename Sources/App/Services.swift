import Cache
import Session
import Glibc
import HTTP
import Logging
import Model
import Networking
import Pictures
import Settings
import Scheduling

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
