import Cache
import Cells
import Commands
import Concurrency
import Logging
import Model
import Pictures
import Session
import Settings

/// What screens work with, made where the program is put together and handed from each screen to the next.
///
/// There is no network in it. What a screen would like to have it says to ``wishes``; what there is it finds in the cache.
@MainActor
public final class ScreenContext {
    /// Where everything that is shown comes from.
    let caches: CacheFolder
    /// What the screens would like to be there.
    let wishes: Wishes
    /// What is going on.
    let activity: Activity
    /// Where pictures are drawn.
    let pipeline: PicturePipeline
    /// What happened.
    let log: Log
    /// What the user has set. It may be set anew while the program runs.
    var settings: Settings {
        willSet { if DrawingStyle(capabilities, newValue) != drawingStyle { formerStyle = drawingStyle } }
    }
    /// The galleries that the user remembers.
    let galleries: RememberedGalleries
    /// Where the user was in each gallery.
    let places: RememberedPlaces
    /// The user's home folder, and the one that the program was started in: what a typed path is relative to.
    let home: String
    let currentFolder: String
    /// Where the log is saved.
    let stateFolder: String
    /// Has photos opened by another program. Returns a sentence if that cannot be done.
    let open: @Sendable ([PhotoKey], GalleryCache) async -> String?
    /// What is being saved.
    let exports: Exports
    /// Where commands are kept that were typed by their names.
    let commandsFile: String
    /// Waits for a time to pass. The system's clock does it; in a test, the test.
    let wait: Wait
    /// What time it is, by the same clock.
    let now: @Sendable () -> Timestamp
    /// What the terminal can show.
    public var capabilities: Capabilities {
        willSet { formerStyle = capabilities.pixels == nil ? drawingStyle : nil }
    }
    /// How pictures were drawn before more was known of the terminal: they are shown until there are others.
    private(set) var formerStyle: DrawingStyle?
    /// Whether no update begins by itself yet. Vitrine died the last time, and waits for the user to open or refresh a gallery.
    public var holdsUpdates = false {
        didSet { if oldValue, !holdsUpdates { onUpdatesReleased() } }
    }
    /// Called when updates may begin by themselves again.
    var onUpdatesReleased: () -> Void = {}
    /// When a gallery is updated next by itself; nil if it is not.
    var nextUpdate: (Address) -> Timestamp? = { _ in nil }
    /// Where changes come in.
    let feed = UpdateFeed()

    /// Puts everything together.
    public init(
        caches: CacheFolder, wishes: Wishes, activity: Activity, pipeline: PicturePipeline, log: Log,
        settings: Settings,
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
        self.settings = settings
        self.galleries = galleries
        self.places = places ?? RememberedPlaces()
        home = locations.home
        stateFolder = locations.state
        commandsFile = locations.commandsFile
        self.currentFolder = currentFolder
        self.capabilities = capabilities
        self.open = open
        exports = Exports(folder: exportFolder, mask: creationMask, wishes: wishes, mayFetch: !settings.offline)
        self.wait = wait
        self.now = now
    }

    /// Lets a whole gallery be tried again, at the user's request.
    ///
    /// The caller clears the failures of its rows and asks for what it needs.
    func retry(_ gallery: GalleryID) {
        clearObstacles(of: gallery)
        wishes.retry(gallery)
    }

    /// Tries some subjects of a gallery again, at the user's request.
    ///
    /// - Parameter clearRows: clears their failures in the cache. A subject that counts as failed would not be fetched.
    func retry(
        _ gallery: GalleryID, _ subjects: [Wish.Subject], clearRows: @Sendable () async throws -> Void
    ) async throws {
        clearObstacles(of: gallery)
        try await clearRows()
        for subject in subjects { wishes.ask(for: subject, importance: subject.photo == nil ? .list : .visible) }
        wishes.retry(subjects)
    }

    private func clearObstacles(of gallery: GalleryID) {
        activity.retry(gallery)
        caches.credentials.retry()
    }

    /// How pictures are drawn.
    var drawingStyle: DrawingStyle { DrawingStyle(capabilities, settings) }

    /// What a gallery is called: by its user, or else by the place where it lies.
    func title(of gallery: Address) -> String { galleries.list.title(of: gallery) ?? GalleryTitle.text(gallery) }

    /// What the keys mean.
    var keys: KeyMap { settings.keys }

    /// What a command is called to somebody who is to give it: by its key, or as it is typed.
    func name(of command: Command, in scopes: [CommandTable.Scope]) -> String {
        keys.key(for: command, in: scopes).map { "\($0)" } ?? ":\(command.name)"
    }

    /// How text looks.
    var theme: Theme { Theme(capabilities, settings) }
}

/// Where changes come in from below, whatever announces them, to be handed down from the root.
///
/// A screen names what it wants to hear of; it does not hear of it here, but in `modelUpdated`, like every other screen.
/// So there is one way by which screens learn of anything.
@MainActor
final class UpdateFeed {
    /// Follows something for as long as it is kept.
    final class Subscription: Sendable {
        private let task: Task<Void, Never>

        fileprivate init(_ task: Task<Void, Never>) {
            self.task = task
        }

        deinit {
            task.cancel()
        }
    }

    /// Hands an update to the root.
    var deliver: (ModelUpdate) -> Void = { _ in }

    /// Follows a stream.
    ///
    /// - Parameter update: makes an update of each element, or nil if it is of no interest.
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
