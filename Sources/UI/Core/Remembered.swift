import Concurrency
import Logging
import Model
import Settings

/// The galleries there are to choose from: those that come with Vitrine, and those that the user remembers.
///
/// Another Vitrine may have the same list open. Each adds to what is on the disk what its user has changed, and takes over
/// what others have.
@MainActor
public final class RememberedGalleries {
    /// Those that come with Vitrine.
    let presets: [Address]
    /// Those that the user remembers.
    private(set) var list: GalleryList {
        didSet { if list != oldValue { onChange() } }
    }
    /// Called when the list is another.
    var onChange: @MainActor () -> Void = {}
    /// Why the list is not on the disk, if it could not be written.
    private(set) var failure: String?
    private let onSave: @Sendable (_ list: GalleryList, _ before: GalleryList) async throws -> GalleryList
    /// The last list that is being written. Each waits for the one before, so that no older one can come out on top.
    private var saving: Task<Void, Never>?
    /// The list that those began with which could not be written, if that is so: all that has changed since is to be.
    private var unwritten: GalleryList?

    /// Begins with what was read.
    ///
    /// - Parameter onSave: writes the list, off the main actor; it is given the list that the changes were made to as well, and
    ///   returns the one that is on the disk then, which may hold what others have changed.
    public init(
        presets: [Address], list: GalleryList,
        onSave: @escaping @Sendable (_ list: GalleryList, _ before: GalleryList) async throws -> GalleryList
    ) {
        self.presets = presets
        self.list = list
        self.onSave = onSave
    }

    /// Keeps a list from now on.
    ///
    /// - Parameters:
    ///   - before: the list that it was made of, if that is not the one that is kept now.
    ///   - onEnd: called when it has been written, or with the reason if it could not be.
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
                // Others' changes are ours now, beside what the user has changed meanwhile.
                self.list = self.list.merging(written, since: list)
            } catch {
                unwritten = before
                failure = "\(error)"
            }
            onEnd(failure)
        }
    }

    /// Returns when nothing is being written any more.
    func settled() async {
        await saving?.value
    }
}

/// Where the user was in each gallery. It is on the disk a second after it has changed, whatever ends the program then.
@MainActor
public final class RememberedPlaces {
    /// Where the user is now.
    var current: () -> Place = { Place() }
    private var places: Places
    /// Galleries that were left since the last write.
    private var left: [Place] = []
    /// Why the places are not on the disk, if they could not be written.
    private(set) var failure: String?
    private let onSave: (@Sendable ([Place]) async throws -> Void)?
    /// The last write. Each waits for the one before.
    private var saving: Task<Void, Never>?
    /// Runs from a change to the write: however much changes in between, no more than this time is lost.
    private var alarm: Alarm?

    private static let delay = Duration.seconds(1)

    /// Begins with what was read.
    ///
    /// - Parameter onSave: writes where the user was, the latest last, off the main actor; nil if nobody does.
    public init(_ places: Places = Places(), onSave: (@Sendable ([Place]) async throws -> Void)? = nil) {
        self.places = places
        self.onSave = onSave
    }

    /// Where the user was in a gallery: it is looked at in the same way again, but with none of its photos open.
    func place(in gallery: Address) -> Place {
        var place = places.place(in: gallery) ?? Place(gallery: gallery)
        place.isPhotoOpen = false
        return place
    }

    /// The user leaves a gallery.
    func noteLeaving(_ place: Place) {
        places.record(place)
        if onSave != nil { left.append(place) }
    }

    /// The user is somewhere else now.
    func noteChange(_ wait: @escaping Wait) {
        let alarm = alarm ?? Alarm(wait: wait)
        self.alarm = alarm
        guard onSave != nil, !alarm.isSet else { return }
        alarm.set(after: Self.delay) { [weak self] in self?.save() }
    }

    /// Writes what has not been written, and returns when it has been.
    func settled() async {
        if alarm?.isSet == true || !left.isEmpty { save() }
        await saving?.value
    }

    private func save() {
        alarm?.cancel()
        guard let onSave else { return }
        let noted = left + [current()]
        left = []
        saving = Task { [previous = saving] in
            await previous?.value
            do {
                try await onSave(noted)
                failure = nil
            } catch {
                failure = "\(error)"
            }
        }
    }
}

/// Commands that were typed by their names, in this run and in earlier ones. Their file is read and written off the main
/// actor.
@MainActor
final class RememberedCommands {
    private(set) var history = CommandHistory()
    private let path: String
    private let log: Log
    /// The last that was begun to be done to the file. One follows the other, so that the newest line is the one that stays.
    private var work: Task<Void, Never>?

    init(_ context: ScreenContext) {
        path = context.commandsFile
        log = context.log
        work = Task { [weak self, path] in
            let kept = await Task.detached { (try? PrivateFile.read(path)).map { CommandHistory(text: $0) } }.value
            guard let self, var history = kept else { return }
            // What was typed meanwhile is newer.
            for line in self.history.lines { history.add(line) }
            self.history = history
        }
    }

    /// Takes in a line that was typed.
    func note(_ line: String) {
        let before = history
        history.add(line)
        guard history != before else { return }
        work = Task.detached { [previous = work, path, log] in
            await previous?.value
            do {
                // Another program may have written lines of its own.
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

    /// Returns when the file has what was typed.
    func settled() async { await work?.value }
}
