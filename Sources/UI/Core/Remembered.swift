import Concurrency
import Logging
import Model
import Settings

/// The galleries to choose from: the built-in galleries and the user's list.
///
/// Several Vitrine processes can edit the list. Each process merges its changes into the file, and adopts the changes
/// of the other processes.
@MainActor
public final class RememberedGalleries {
    /// The built-in galleries, even if the user has removed them.
    let builtIn: [Address]
    /// The built-in galleries, unless the user has removed them.
    var presets: [Address] { list.hidesBuiltIn ? [] : builtIn }
    /// The user's list.
    private(set) var list: GalleryList {
        didSet { if list != oldValue { onChange() } }
    }
    /// The built-in galleries and those of the user's list.
    var addresses: [Address] { presets + list.addresses }
    /// Called when the user's list has changed.
    var onChange: @MainActor () -> Void = {}
    /// Returns whether a saved list outlives this run. The program sets this closure if the user's folder may be
    /// read-only.
    public var isKept: @MainActor () -> Bool = { true }
    /// The reason why Vitrine could not write the list, if the last write failed.
    private(set) var failure: String?
    private let onSave: @Sendable (_ list: GalleryList, _ before: GalleryList) async throws -> GalleryList
    /// The task of the last write. Each write waits for the previous write, so that the newest list wins.
    private var saving: Task<Void, Never>?
    /// The list before the first failed write. The next write includes all changes since this list.
    private var unwritten: GalleryList?

    /// Creates the object with the built-in galleries and the list from the file.
    ///
    /// - Parameter onSave: writes the list off the main actor, given the list before the changes. Returns the list on
    ///   the disk, which may include changes of other processes.
    public init(
        presets: [Address], list: GalleryList,
        onSave: @escaping @Sendable (_ list: GalleryList, _ before: GalleryList) async throws -> GalleryList
    ) {
        builtIn = presets
        self.list = list
        self.onSave = onSave
    }

    /// Makes a list the current list, and writes the list to the file.
    ///
    /// - Parameters:
    ///   - before: the list before the user's changes; nil if that is the current list.
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

    /// Returns when no write is running.
    func settled() async {
        await saving?.value
    }
}

/// The user's last position in each gallery, saved within a second after a change.
@MainActor
public final class RememberedPlaces {
    /// Returns the user's current position.
    var current: () -> Place = { Place() }
    private var places: Places
    /// The positions at which the user left galleries since the last write.
    private var left: [Place] = []
    /// The reason why Vitrine could not write the positions, if the last write failed.
    private(set) var failure: String?
    private let onSave: (@Sendable ([Place]) async throws -> Void)?
    /// The task of the last write. Each write waits for the previous write.
    private var saving: Task<Void, Never>?
    /// The alarm that starts a write one second after the first change. A crash loses only changes of that second.
    private var alarm: Alarm?

    private static let delay = Duration.seconds(1)

    /// Creates the object with the positions from the file.
    ///
    /// - Parameter onSave: writes positions off the main actor, the latest position last; nil to write nothing.
    public init(_ places: Places = Places(), onSave: (@Sendable ([Place]) async throws -> Void)? = nil) {
        self.places = places
        self.onSave = onSave
    }

    /// Returns the last position in a gallery, without an open photo.
    func place(in gallery: Address) -> Place {
        var place = places.place(in: gallery) ?? Place(gallery: gallery)
        place.isPhotoOpen = false
        return place
    }

    /// Records the position at which the user left a gallery.
    func setLeft(_ place: Place) {
        places.record(place)
        if onSave != nil { left.append(place) }
    }

    /// Saves the current position after a delay.
    func scheduleSave(_ wait: @escaping Wait) {
        let alarm = alarm ?? Alarm(wait: wait)
        self.alarm = alarm
        guard onSave != nil, !alarm.isSet else { return }
        alarm.set(after: Self.delay) { [weak self] in self?.save() }
    }

    /// Writes pending changes, and returns after the write.
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

/// The history of typed commands. The file is read and written off the main actor.
@MainActor
final class RememberedCommands {
    /// The lines typed so far, for the command prompt.
    private(set) var history = CommandHistory()
    private let path: String
    private let log: Log
    /// The task of the last read or write. Each task waits for the previous one, so that the newest line stays last.
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

    /// Adds a line to the history.
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

    /// Returns when the file contains all lines.
    func settled() async { await work?.value }
}
