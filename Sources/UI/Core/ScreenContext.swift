import Cache
import Cells
import Commands
import Concurrency
import Logging
import Model
import Pictures
import Session
import Settings

/// The services that all screens share.
///
/// The network is not among these services. Screens put requests for photos and lists into ``wishes``, and read the
/// cache.
@MainActor
public final class ScreenContext {
    /// The caches of all galleries.
    let caches: CacheFolder
    /// The screens' requests for photos, thumbnails and lists.
    let wishes: Wishes
    /// The state of updates and transfers.
    let activity: Activity
    /// The pipeline that renders pictures.
    let pipeline: PicturePipeline
    /// The log that the log screen shows.
    let log: Log
    /// The settings that the user can change while Vitrine runs.
    let live: LiveSettings
    /// The current settings. The root screen calls ``adoptSettings()`` after changes.
    private(set) var settings: Settings {
        willSet { if DrawingStyle(capabilities, newValue) != drawingStyle { formerStyle = drawingStyle } }
    }
    /// The folder to suggest for saving photos, unless the settings name one.
    private let usualExportFolder: String
    /// The user's list of galleries.
    let galleries: RememberedGalleries
    /// The user's last position in each gallery.
    let places: RememberedPlaces
    /// The user's home folder, which `~` stands for in typed paths.
    let home: String
    /// The folder to which typed paths are relative.
    let currentFolder: String
    /// The folder where Vitrine saves logs.
    let stateFolder: String
    /// Opens photos in another program. Returns a sentence for the user on failure.
    let open: @Sendable ([PhotoKey], GalleryCache) async -> String?
    /// The running exports.
    let exports: Exports
    /// The path of the file with typed commands.
    let commandsFile: String
    /// Waits for a duration. Tests replace this function and end the wait themselves.
    let wait: Wait
    /// Returns the frames of a cached video. Tests replace this function.
    var videoFrames: (PictureOrder) -> any VideoFrames
    /// Returns the current time.
    let now: @Sendable () -> Timestamp
    /// The capabilities of the terminal.
    public var capabilities: Capabilities {
        willSet { formerStyle = capabilities.pixels == nil ? drawingStyle : nil }
    }
    /// The previous drawing style. The screens show pictures of this style until new pictures are ready.
    private(set) var formerStyle: DrawingStyle?
    /// Whether automatic updates wait. After a crash, automatic updates wait until the user opens or refreshes a
    /// gallery.
    public var holdsUpdates = false {
        didSet { if oldValue, !holdsUpdates { onUpdatesReleased() } }
    }
    /// The gallery that was open when the last run crashed. The list of galleries shows it, even if it is not in the
    /// user's list.
    public var crashedGallery: Address?
    /// Called when automatic updates may start.
    var onUpdatesReleased: () -> Void = {}
    /// Returns the storage service for `s3://` addresses.
    public var buckets: () -> BucketService = { BucketService() }
    /// The names of albums that screens have listed or opened. Each name becomes the title of the album's gallery,
    /// because the address contains no name.
    var galleryNames: [Address: String] = [:]
    /// The copy of many photos' lines that runs in the background. A newer copy cancels it.
    var backgroundCopy: Task<Void, Never>?
    /// Returns the time of a gallery's next automatic update, if one is scheduled.
    var nextUpdate: (Address) -> Timestamp? = { _ in nil }
    /// Passes changes of the model to the root screen.
    let feed = UpdateFeed()

    /// Creates the context from its services.
    public init(
        caches: CacheFolder, wishes: Wishes, activity: Activity, pipeline: PicturePipeline, log: Log,
        settings: LiveSettings,
        galleries: RememberedGalleries, places: RememberedPlaces? = nil, locations: Locations, currentFolder: String,
        capabilities: Capabilities,
        exportFolder: String, creationMask: CreationMask,
        open: @escaping @Sendable ([PhotoKey], GalleryCache) async -> String?,
        wait: @escaping Wait,
        now: @escaping @Sendable () -> Timestamp = { Timestamp(milliseconds: Log.systemTime()) }
    ) {
        self.caches = caches
        self.wishes = wishes
        self.activity = activity
        self.pipeline = pipeline
        self.log = log
        live = settings
        self.settings = settings.settings
        usualExportFolder = exportFolder
        self.galleries = galleries
        self.places = places ?? RememberedPlaces()
        home = locations.home
        stateFolder = locations.state
        commandsFile = locations.commandsFile
        self.currentFolder = currentFolder
        self.capabilities = capabilities
        self.open = open
        exports = Exports(
            folder: settings.settings.exportFolder ?? exportFolder, mask: creationMask, wishes: wishes,
            retries: RetryWatch(activity, now: now), mayFetch: !settings.settings.offline)
        self.wait = wait
        videoFrames = { pipeline.frames(of: $0) }
        self.now = now
    }

    /// Adopts the settings that the user has changed. Returns the former settings.
    func adoptSettings() -> Settings {
        let before = settings
        settings = live.settings
        exports.mayFetch = !settings.offline
        if settings.exportFolder != before.exportFolder { exports.folder = settings.exportFolder ?? usualExportFolder }
        return before
    }

    /// Whether the settings forbid to fetch from an address. Local folders need no network.
    func isOffline(_ address: Address) -> Bool { settings.offline && !address.isLocal }

    /// Returns the reason why Vitrine does not fetch a missing photo; nil unless Vitrine is offline.
    func offlineFailure(of photo: Photo, in gallery: GalleryID) -> Failure? {
        guard settings.offline, caches.cache(gallery)?.isLocal(photo.key) != true else { return nil }
        return Failure("offline, and this photo is not cached", remedy: .network)
    }

    /// Returns the gallery that the user typed. The path of a photo stands for the gallery of its folder, with the photo.
    ///
    /// The path alone decides, because the disk may not answer.
    func gallery(typed text: String) throws(AddressError) -> (address: Address, photo: Place?) {
        let named = try Address(typed: text, home: home, currentFolder: currentFolder, buckets: buckets())
        let photo = named.scheme == .file ? named.filePath.flatMap { Place(photoPath: $0) } : nil
        return (photo?.gallery ?? named, photo)
    }

    /// Permits new attempts at a gallery's failed requests, because the user retries them.
    ///
    /// Vitrine may then ask declined questions again, look up passwords again, and fetch photos that the user skipped.
    /// The caller clears the failures in the cache, and requests updates again.
    func retry(_ gallery: GalleryID) {
        clearObstacles(of: gallery)
        wishes.retry(gallery)
    }

    /// Requests failed lists and pictures again, because the user retries them.
    ///
    /// - Parameter clearRows: removes the failures from the cache. Otherwise Vitrine would not fetch pictures whose
    ///   failure was not temporary.
    func retry(
        _ gallery: GalleryID, _ subjects: [Wish.Subject], clearRows: @Sendable () async throws -> Void
    ) async throws {
        clearObstacles(of: gallery)
        try await clearRows()
        wishes.ask(for: subjects.filter { $0.photo != nil }, importance: .near)
        wishes.ask(for: subjects.filter { $0.photo == nil }, importance: .list)
        wishes.retry(subjects)
    }

    private func clearObstacles(of gallery: GalleryID) {
        activity.retry(gallery)
        caches.credentials.retry()
    }

    /// The style in which to draw pictures on this terminal.
    var drawingStyle: DrawingStyle { DrawingStyle(capabilities, settings) }

    /// Returns the user's title for a gallery, or else the name of its album or the gallery's location.
    func title(of gallery: Address) -> String {
        galleries.list.title(of: gallery) ?? galleryNames[gallery] ?? GalleryTitle.text(gallery)
    }

    /// The user's key bindings.
    var keys: KeyMap { settings.keys }

    /// Returns the key for a command, or the command's name if it has no key.
    func name(of command: Command, in scopes: [CommandTable.Scope]) -> String {
        keys.key(for: command, in: scopes).map { "\($0)" } ?? ":\(command.name)"
    }

    /// The styles and characters for drawing.
    var theme: Theme { Theme(capabilities, settings) }
}

/// Turns streams of events into changes of the model for the root screen.
///
/// A screen can also subscribe to streams of its own here. Their changes arrive in `modelUpdated`, like all other
/// changes.
@MainActor
final class UpdateFeed {
    /// A task that follows a stream until the subscription is released.
    final class Subscription: Sendable {
        private let task: Task<Void, Never>

        fileprivate init(_ task: Task<Void, Never>) {
            self.task = task
        }

        deinit {
            task.cancel()
        }
    }

    /// Passes a change of the model to the root screen.
    var deliver: (ModelUpdate) -> Void = { _ in }

    /// Follows a stream until the returned subscription is released.
    ///
    /// - Parameter update: returns the change for an element of the stream, or nil to ignore the element.
    func follow<Stream: AsyncSequence & Sendable>(
        _ stream: Stream, _ update: @escaping @MainActor (Stream.Element) -> ModelUpdate?
    ) -> Subscription where Stream.Failure == Never, Stream.Element: Sendable {
        Subscription(
            Task { [weak self] in
                for await element in stream {
                    guard let self else { return }
                    if let update = update(element) { self.deliver(update) }
                }
            })
    }
}

extension ScreenContext {
    /// Requests a photo's thumbnail. Returns the thumbnail if it is already drawn, or else a blurred picture if the
    /// gallery has one.
    ///
    /// - Parameter orders: the requests for pictures on the screen. The method adds a request for the thumbnail.
    func thumbnail(
        of photo: Photo, in gallery: GalleryID, _ size: Size, _ orders: inout [PictureOrder]
    ) -> DrawnPicture? {
        guard !size.isEmpty else { return nil }
        guard photo.thumbnail.held != nil || photo.original.held != nil else { return blurred(photo, size) }
        func order(_ style: DrawingStyle) -> PictureOrder {
            PictureOrder.thumbnail(of: photo, in: gallery, size: size, style: style)
        }
        let wanted = order(drawingStyle)
        orders.append(wanted)
        if let picture = pipeline.picture(wanted) { return picture }
        // A new thumbnail is another order. Until it is drawn, the picture that was drawn from the photo stays.
        let former = PictureOrder.uncachedThumbnail(of: photo, in: gallery, size: size, style: drawingStyle)
        return pipeline.picture(former) ?? formerStyle.flatMap { pipeline.picture(order($0)) } ?? blurred(photo, size)
    }

    /// Returns a blurred picture of a photo. Returns nil if the gallery has none, or if fetching the thumbnail failed.
    private func blurred(_ photo: Photo, _ size: Size) -> DrawnPicture? {
        guard Placeholder.trouble(of: photo) == nil else { return nil }
        return photo.thumbhash.flatMap { BlurredPicture(thumbhash: $0) }
            .map { DrawnPicture(cells: $0.filling(size, drawingStyle)) }
    }
}

extension RootScreen {
    /// Functions of the program that the screens call.
    public struct Host {
        /// Called when the screens need a new frame.
        public var onNeedsDisplay: () -> Void = {}
        /// Called when the user quits.
        public var onQuit: () -> Void = {}
        /// Called when the user suspends the program.
        public var onSuspend: () -> Void = {}
        /// Called when the user requests a redraw of the whole screen.
        public var onRedraw: () -> Void = {}
        /// Called with text for the terminal's clipboard.
        public var onCopy: (String) -> Void = { _ in }
    }
}
