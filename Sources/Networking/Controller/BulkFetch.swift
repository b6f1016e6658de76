import Cache
import Model
import Scheduling
import Session

/// Fulfils a wish for a picture of every photo in a gallery. Fetches a few hundred pictures at a time.
///
/// A gallery may have a million photos, so this type never holds requests for all of them.
struct BulkFetch {
    let gallery: GalleryID
    let rendition: Rendition
    let importance: Importance
    /// The pictures in progress, including postponed ones. Usually the picture requested first comes first.
    private(set) var underWay: [Wish.Subject] = []
    /// The photos that failed or that the user declined. The cache still lacks their pictures, but this fetch must not
    /// start them again.
    private var excluded: Set<PhotoKey> = []
    private var progress = Progress.after(nil)
    /// The number of pictures to settle or postpone before new ones start. Until then, the fetch need not count its
    /// pictures.
    ///
    /// The controller reports only settled pictures. But each postponed picture leads to a call of
    /// ``refill(_:isWaiting:)``, so each call reduces the number, too.
    private var distance = 0

    /// The progress of a bulk fetch through its gallery.
    private enum Progress {
        /// The fetch has passed all photos up to this one; nil at the start.
        case after(PhotoKey?)
        /// The fetch has passed all photos once. Photos at the beginning may lack their picture again.
        case toTheEnd
        /// The fetch has passed all photos twice, and no photo lacks a picture. The fetch searches again only after a
        /// change, because a search reads all photos.
        case nothingFound
    }

    /// The maximum number of pictures in progress, without postponed ones. This number exceeds the number of pictures
    /// that any network can fetch and store at once.
    private static let width = 512
    /// The number of postponed pictures at which the fetch starts no others. So many failures show that the server is
    /// failing, and each postponed picture costs memory and time.
    private static let maximumWaiting = 1_024

    init?(_ wish: Wish) {
        guard case .everyPicture(let gallery, let rendition) = wish.subject else { return nil }
        self.gallery = gallery
        self.rendition = rendition
        importance = wish.importance
    }

    var subject: Wish.Subject { .everyPicture(gallery, rendition) }

    /// A wish for each picture that this bulk fetch is fetching.
    var wishes: [Wish] { underWay.map { Wish($0, importance: importance) } }

    /// Starts more pictures after half of them were settled or postponed. Returns false if nothing is left to do.
    mutating func refill(_ cache: GalleryCache, isWaiting: (Wish.Subject) -> Bool) throws -> Bool {
        switch progress {
        case .toTheEnd where !underWay.isEmpty: return true
        case .nothingFound: return !underWay.isEmpty
        case .toTheEnd, .after: break
        }
        distance -= 1
        guard distance <= 0 || underWay.isEmpty else { return true }
        let waiting = underWay.count(where: isWaiting)
        let active = underWay.count - waiting
        distance = active - Self.width / 2
        guard active <= Self.width / 2, waiting < Self.maximumWaiting else { return true }
        if case .after(let last) = progress { try takeUp(Self.width - active, after: last, cache) }
        // New photos may come before the current position, and the photo at that position may be gone. So search from
        // the beginning again.
        if underWay.isEmpty { try takeUp(Self.width, after: nil, cache) }
        if underWay.isEmpty { progress = .nothingFound }
        return !underWay.isEmpty
    }

    private mutating func takeUp(_ count: Int, after last: PhotoKey?, _ cache: GalleryCache) throws {
        let known = excluded.union(underWay.compactMap(\.photo))
        let keys = try cache.read { try $0.wanting(rendition, limit: count, after: last, except: known) }
        progress = keys.count < count ? .toTheEnd : .after(keys.last)
        underWay += keys.map { .picture(gallery, $0, rendition) }
    }

    /// Starts again at the gallery's beginning after its list was fetched.
    mutating func restart() { (progress, distance) = (.after(nil), 0) }

    /// Starts again, and leaves out no photo any more.
    mutating func retry() {
        excluded = []
        restart()
    }

    /// Allows another search after photos have changed.
    mutating func photosChanged() {
        if case .nothingFound = progress { progress = .toTheEnd }
    }

    /// Adds a picture whose running transfer no other wish needs. This fetch would have to fetch the picture later
    /// anyway.
    mutating func takeOver(_ subject: Wish.Subject) {
        guard subject.gallery == gallery, case .picture(_, let key, rendition) = subject, !excluded.contains(key)
        else { return }
        underWay.insert(subject, at: 0)
    }

    /// Excludes a picture that the user declined.
    mutating func exclude(_ subject: Wish.Subject) {
        guard subject.gallery == gallery, case .picture(_, let key, rendition) = subject else { return }
        underWay.removeAll { $0 == subject }
        distance -= 1
        excluded.insert(key)
    }

    /// Removes a picture that is stored, or whose request failed permanently. If the cache cannot be read, the picture
    /// counts as failed.
    ///
    /// - Parameter done: the request that ended; nil for none. If the photo has changed since, the fetch may start it
    ///   again.
    mutating func settle(_ subject: Wish.Subject, after done: RequestIdentity? = nil, _ cache: GalleryCache) {
        guard let index = underWay.firstIndex(of: subject), let key = subject.photo else { return }
        underWay.remove(at: index)
        distance -= 1
        let source = Result { try cache.read { try $0.wantingSource(of: key, rendition) } }
        if case .success(let wanting) = source {
            guard let wanting else { return }
            if let done, done.subject == subject, done.edition != wanting.state.edition { return }
        }
        excluded.insert(key)
    }
}

/// All bulk fetches that the current wishes need.
struct BulkFetches {
    /// The fetches: first thumbnails, then photos, both in the order of wishes.
    ///
    /// The user may have requested the photos first, but they come after all other downloads.
    private var fetches: [BulkFetch] = []
    /// The fetches that could not read the cache. Each has its number of attempts and the time of the next one.
    private var pauses: [Wish.Subject: (attempts: Int, end: Duration)] = [:]

    /// The result of a refill.
    struct Refill {
        /// Whether the set of pictures in progress has changed.
        var hasChanged = false
        /// The fetches that have nothing left to do, or that were given up.
        var done: [Wish.Subject] = []
        /// The errors of reading the cache. An error is final if its fetch was given up.
        var failures: [(error: any Error, isFinal: Bool)] = []
    }

    /// The time when the first pause ends; nil without a pause.
    var firstDue: Duration? { pauses.values.map(\.end).min() }
    var isEmpty: Bool { fetches.isEmpty }
    var galleries: Set<GalleryID> { Set(fetches.map(\.gallery)) }

    /// Starts and ends fetches so that they match the wishes.
    mutating func adopt(_ wishes: [Wish], declined: Set<Wish.Subject>) {
        let standing = wishes.compactMap(BulkFetch.init).map { new in
            fetches.first { $0.subject == new.subject } ?? new
        }
        fetches = Rendition.allCases.flatMap { rendition in standing.filter { $0.rendition == rendition } }
        let subjects = Set(fetches.map(\.subject))
        pauses = pauses.filter { subjects.contains($0.key) }
        for subject in declined { for index in fetches.indices { fetches[index].exclude(subject) } }
    }

    /// Removes a fetch, so that the next wish for it begins a new one.
    mutating func remove(_ subject: Wish.Subject) {
        fetches.removeAll { $0.subject == subject }
        pauses[subject] = nil
    }

    /// Restarts a fetch, which then leaves out no photo any more.
    mutating func retry(_ subject: Wish.Subject) {
        for index in fetches.indices where fetches[index].subject == subject { fetches[index].retry() }
    }

    /// Ends all pauses, so that the next refill retries the fetches.
    mutating func endPauses() { pauses = [:] }

    /// Returns the wishes for individual pictures, except those in `named`.
    func wishes(except named: Set<Wish.Subject>) -> [Wish] {
        fetches.flatMap(\.wishes).filter { !named.contains($0.subject) }
    }

    /// Adds pictures of running transfers to the fetches that would need them. Leaves out the pictures in `named`,
    /// because other wishes still need them.
    mutating func takeOver(_ running: some Sequence<Wish.Subject>, except named: Set<Wish.Subject>) {
        let known = named.union(fetches.flatMap(\.underWay))
        for subject in running where !known.contains(subject) {
            for index in fetches.indices { fetches[index].takeOver(subject) }
        }
    }

    /// Starts more pictures where needed. If the cache cannot be read, a later call tries again after a pause.
    mutating func refill(
        _ caches: CacheFolder, _ schedule: RetrySchedule, at now: Duration, isWaiting: (Wish.Subject) -> Bool
    ) -> Refill {
        var refill = Refill()
        for (index, fetch) in fetches.enumerated() {
            let subject = fetch.subject
            let pause = pauses[subject]
            guard let cache = caches.cache(fetch.gallery), pause.map({ $0.end <= now }) ?? true else { continue }
            do {
                if try !fetches[index].refill(cache, isWaiting: isWaiting) { refill.done.append(subject) }
                pauses[subject] = nil
            } catch {
                let attempts = 1 + (pause?.attempts ?? 0)
                let delay = schedule.delay(afterAttempts: attempts, retryAfter: nil)
                refill.failures.append((error, delay == nil))
                if delay == nil { refill.done.append(subject) }
                // A wish that was given up stays until its gallery's list has arrived, so it needs a pause, too.
                pauses[subject] = (attempts, now + (delay ?? .seconds(1)))
            }
            refill.hasChanged = refill.hasChanged || fetches[index].underWay != fetch.underWay
        }
        return refill
    }

    /// Allows another search in a gallery whose photos have changed.
    mutating func photosChanged(in gallery: GalleryID) {
        for index in fetches.indices where fetches[index].gallery == gallery { fetches[index].photosChanged() }
    }

    /// Removes a settled subject from all fetches. If the subject is a list, restarts the fetches of its gallery.
    mutating func settle(_ subject: Wish.Subject, after done: RequestIdentity?, _ cache: GalleryCache) {
        for index in fetches.indices {
            if fetches[index].gallery == subject.gallery, subject == .list(subject.gallery) {
                fetches[index].restart()
                pauses[fetches[index].subject] = nil
            }
            fetches[index].settle(subject, after: done, cache)
        }
    }

    /// Returns the subjects of all bulk fetches of a gallery.
    func subjects(of gallery: GalleryID) -> Set<Wish.Subject> {
        Set(fetches.lazy.filter { $0.gallery == gallery }.map(\.subject))
    }
}
