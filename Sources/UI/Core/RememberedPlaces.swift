import Concurrency
import Model
import Settings

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
        places.note(place)
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
