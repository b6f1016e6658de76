import Commands
import Concurrency
import Model

/// Shows photos one after the other. The clock of each photo starts when the photo is visible or has failed.
///
/// The clock does not run while a photo loads, or behind another screen.
@MainActor
final class Slideshow {
    /// Called when the next photo is due.
    var onDue: () -> Void = {}

    /// The longest time for a photo, in seconds, as in the settings.
    private static let mostSeconds = 3_600

    /// Whether the slideshow is running, for the status line.
    private(set) var isRunning = false
    /// The photos to show; empty for all photos of the list.
    private(set) var slides: [PhotoKey] = []
    private let context: ScreenContext
    private var interval: Duration
    private let alarm: Alarm
    /// The step between the indexes of two successive photos, and the length of the list when Vitrine chose the step.
    private var stride = (distance: 1, count: 0)
    /// The visible photo whose clock runs.
    private var seen: PhotoKey?

    init(_ context: ScreenContext) {
        self.context = context
        interval = .seconds(context.settings.slideshow)
        alarm = Alarm(wait: context.wait)
    }

    /// Starts the slideshow, or restarts it with other values.
    ///
    /// - Parameters:
    ///   - slides: the photos to show; empty for the whole list.
    ///   - seconds: the time for each photo, instead of the setting.
    func start(over slides: [PhotoKey] = [], seconds: Int? = nil) {
        stopClock()
        isRunning = true
        self.slides = slides
        interval =
            seconds.map { .seconds(min($0, Self.mostSeconds)) }
            ?? .seconds(context.settings.slideshow)
        stride = (1, 0)
    }

    func stop() {
        isRunning = false
        slides = []
        stopClock()
    }

    /// Returns the next indexes in a loop that shows every photo before it repeats a photo.
    func indexes(after index: Int, of count: Int, limit: Int) -> [Int] {
        guard count > 1 else { return [] }
        if stride.count != count { stride = (context.settings.slideshowShuffled ? Self.randomStride(count) : 1, count) }
        return (1...limit).map { (index + $0 * stride.distance) % count }
    }

    /// Returns the next photos of the slideshow after a photo, and passes over those that are not listed.
    func slides(after key: PhotoKey, limit: Int, where isListed: (PhotoKey) -> Bool) -> [PhotoKey] {
        var index = slides.firstIndex(of: key) ?? slides.count - 1
        var found: [PhotoKey] = []
        for _ in slides.indices {
            guard found.count < limit, let next = indexes(after: index, of: slides.count, limit: 1).first else { break }
            index = next
            if isListed(slides[index]) { found.append(slides[index]) }
        }
        return found
    }

    /// Starts the clock of a visible photo, unless the clock already runs. Called in each frame with the photo.
    func startClock(for key: PhotoKey) {
        guard isRunning, seen != key else { return }
        seen = key
        alarm.set(after: interval) { [weak self] in self?.ring() }
    }

    /// Stops the clock while the photo loads or another screen covers it.
    func stopClock() {
        alarm.cancel()
        seen = nil
    }

    private func ring() {
        seen = nil
        if isRunning { onDue() }
    }

    /// Returns a random distance that has no common factor with the count. Steps of such a distance visit every index
    /// once.
    private static func randomStride(_ count: Int) -> Int {
        var stride = Int.random(in: 1..<count)
        while greatestCommonDivisor(stride, count) > 1 { stride = stride % (count - 1) + 1 }
        return stride
    }

    private static func greatestCommonDivisor(_ one: Int, _ other: Int) -> Int {
        other == 0 ? one : greatestCommonDivisor(other, one % other)
    }
}
