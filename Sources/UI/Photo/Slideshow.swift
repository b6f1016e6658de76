import Commands
import Concurrency
import Model

/// Photos one after the other, each for as long as the user has set, counted from when it is seen.
///
/// There is a clock as long as a photo is seen for that time, and none else: not while one is still on its way, and not
/// behind another screen.
@MainActor
final class Slideshow {
    /// Called when a photo has been seen for long enough.
    var onDue: () -> Void = {}

    /// The longest time for one photo, in seconds, as in the settings.
    private static let mostSeconds = 3_600

    private(set) var isRunning = false
    /// What is shown, if it is not the whole list.
    private(set) var slides: [PhotoKey] = []
    /// For how long a photo is shown, unless the user says something else for this once.
    private let usualInterval: Duration
    private var interval: Duration
    private let isShuffled: Bool
    private let alarm: Alarm
    /// How far apart in the list two photos are that are shown one after the other.
    private var stride = (places: 1, count: 0)
    /// The photo whose time runs.
    private var seen: PhotoKey?

    init(_ context: ScreenContext) {
        usualInterval = .seconds(context.settings.slideshow)
        interval = usualInterval
        isShuffled = context.settings.slideshowShuffled
        alarm = Alarm(wait: context.wait)
    }

    /// Begins, or begins anew with another time for each photo.
    ///
    /// - Parameter slides: what is shown; none for all of the list.
    func start(over slides: [PhotoKey] = [], seconds: Int? = nil) {
        noteWaiting()
        isRunning = true
        self.slides = slides
        interval = seconds.map { .seconds(min($0, Self.mostSeconds)) } ?? usualInterval
        stride = (1, 0)
    }

    func stop() {
        isRunning = false
        slides = []
        noteWaiting()
    }

    /// The places in a list that are shown after one. Behind the last it goes on with the first, and each has its turn before
    /// the first one comes again.
    func places(after place: Int, of count: Int, limit: Int) -> [Int] {
        guard count > 1 else { return [] }
        if stride.count != count { stride = (isShuffled ? Self.randomStride(count) : 1, count) }
        return (1...limit).map { (place + $0 * stride.places) % count }
    }

    /// The slides that are shown after one.
    func slides(after key: PhotoKey, limit: Int) -> [PhotoKey] {
        let place = slides.firstIndex(of: key) ?? slides.count - 1
        return places(after: place, of: slides.count, limit: limit).map { slides[$0] }
    }

    /// A photo is seen. Said at every frame; its time begins with the first.
    func noteSeen(_ key: PhotoKey) {
        guard isRunning, seen != key else { return }
        seen = key
        alarm.set(after: interval) { [weak self] in self?.ring() }
    }

    /// What is to be seen is not there yet, or nobody looks.
    func noteWaiting() {
        alarm.cancel()
        seen = nil
    }

    private func ring() {
        seen = nil
        if isRunning { onDue() }
    }

    /// Jumps of a length that has no factor in common with that of the list come by every place once, without a list of where
    /// they have been.
    private static func randomStride(_ count: Int) -> Int {
        var stride = Int.random(in: 1..<count)
        while greatestCommonDivisor(stride, count) > 1 { stride = stride % (count - 1) + 1 }
        return stride
    }

    private static func greatestCommonDivisor(_ one: Int, _ other: Int) -> Int {
        other == 0 ? one : greatestCommonDivisor(other, one % other)
    }
}
