import Concurrency
import Logging
import Model
import Settings

/// The galleries to choose from: built-in ones and the user's list.
///
/// Several Vitrines can edit the list. Each merges its changes into the file, and adopts those of the others.
@MainActor
public final class RememberedGalleries {
    /// The built-in galleries.
    let presets: [Address]
    /// The user's list.
    private(set) var list: GalleryList {
        didSet { if list != oldValue { onChange() } }
    }
    /// Called when the list changed.
    var onChange: @MainActor () -> Void = {}
    /// The reason why the list could not be written.
    private(set) var failure: String?
    private let onSave: @Sendable (_ list: GalleryList, _ before: GalleryList) async throws -> GalleryList
    /// The last write. Each waits for the previous one, so that the newest list wins.
    private var saving: Task<Void, Never>?
    /// The list before the first failed write. The next write includes all changes since.
    private var unwritten: GalleryList?

    /// Starts with the list that was read.
    ///
    /// - Parameter onSave: writes the list off the main actor, given the list before the changes. Returns the list on the
    ///   disk, which may include changes of other processes.
    public init(
        presets: [Address], list: GalleryList,
        onSave: @escaping @Sendable (_ list: GalleryList, _ before: GalleryList) async throws -> GalleryList
    ) {
        self.presets = presets
        self.list = list
        self.onSave = onSave
    }

    /// Adopts and writes a list.
    ///
    /// - Parameters:
    ///   - before: the list that was edited, if it is not the current one.
    ///   - onEnd: called after the write, with the reason if it failed.
    func save(
        _ changed: GalleryList, since before: GalleryList? = nil,
        onEnd: @escaping @MainActor (_ failure: String?) -> Void
    ) {
        let current = list
        let list = before.map { changed.merging(current, since: $0) } ?? changed
        guard list != current || failure != nil else { return onEnd(nil) }
        self.list = list
        saving = Task { [onSave, previous = saving] in
            await previous?.value
            let before = unwritten ?? current
            do {
                let written = try await onSave(list, before)
                unwritten = nil
                failure = nil
                // Adopt other processes' changes. The user may have changed more meanwhile.
                self.list = self.list.merging(written, since: list)
            } catch {
                unwritten = before
                failure = "\(error)"
            }
            onEnd(failure)
        }
    }

    /// Returns when all writes have ended.
    func settled() async {
        await saving?.value
    }
}

/// The last place in each gallery, saved within a second after a change.
@MainActor
public final class RememberedPlaces {
    /// Returns the current place.
    var current: () -> Place = { Place() }
    private var places: Places
    /// Places that the user left since the last write.
    private var left: [Place] = []
    /// The reason why the places could not be written.
    private(set) var failure: String?
    private let onSave: (@Sendable ([Place]) async throws -> Void)?
    /// The last write. Each waits for the previous one.
    private var saving: Task<Void, Never>?
    /// Set from the first change to the write, so that a crash loses one second at most.
    private var alarm: Alarm?

    private static let delay = Duration.seconds(1)

    /// Starts with the places that were read.
    ///
    /// - Parameter onSave: writes places off the main actor, the latest last; nil saves nothing.
    public init(_ places: Places = Places(), onSave: (@Sendable ([Place]) async throws -> Void)? = nil) {
        self.places = places
        self.onSave = onSave
    }

    /// Returns the last place in a gallery, with its photo closed.
    func place(in gallery: Address) -> Place {
        var place = places.place(in: gallery) ?? Place(gallery: gallery)
        place.isPhotoOpen = false
        return place
    }

    /// Sets the place where the user left a gallery.
    func setLeft(_ place: Place) {
        places.record(place)
        if onSave != nil { left.append(place) }
    }

    /// Saves the current place after a delay.
    func scheduleSave(_ wait: @escaping Wait) {
        let alarm = alarm ?? Alarm(wait: wait)
        self.alarm = alarm
        guard onSave != nil, !alarm.isSet else { return }
        alarm.set(after: Self.delay) { [weak self] in self?.save() }
    }

    /// Writes pending changes, and returns afterwards.
    func settled() async {
        if alarm?.isSet == true || !left.isEmpty { save() }
        await saving?.value
    }

    private func save() {
        alarm?.cancel()
        guard let onSave else { return }
        let changed = left + [current()]
        left = []
        saving = Task { [previous = saving] in
            await previous?.value
            do {
                try await onSave(changed)
                failure = nil
            } catch {
                failure = "\(error)"
            }
        }
    }
}

/// The history of typed commands. Its file is read and written off the main actor.
@MainActor
final class RememberedCommands {
    /// The commands so far, for the prompt.
    private(set) var history = CommandHistory()
    private let path: String
    private let log: Log
    /// The last read or write. Each waits for the previous one, so that the newest line stays last.
    private var work: Task<Void, Never>?

    init(_ context: ScreenContext) {
        path = context.commandsFile
        log = context.log
        work = Task { [weak self, path] in
            let kept = await Task.detached { (try? PrivateFile.read(path)).map { CommandHistory(text: $0) } }.value
            guard let self, var history = kept else { return }
            // Lines typed meanwhile are newer.
            for line in self.history.lines { history.add(line) }
            self.history = history
        }
    }

    /// Adds a line.
    func add(_ line: String) {
        let before = history
        history.add(line)
        guard history != before else { return }
        work = Task.detached { [previous = work, path, log] in
            await previous?.value
            do {
                // Another process may have added lines.
                try PrivateFile.change(path) { text in
                    var history = CommandHistory(text: text ?? "")
                    history.add(line)
                    return history.text
                }
            } catch {
                log.error(.screen, "\(error)")
            }
        }
    }

    /// Returns when the file has all lines.
    func settled() async { await work?.value }
}
