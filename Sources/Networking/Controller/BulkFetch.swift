import Cache
import Model
import Session

/// A wish for a picture of every photo, worked off in small parts.
///
/// A gallery may have a million photos.
struct BulkFetch {
    let gallery: GalleryID
    let rendition: Rendition
    let importance: Importance
    /// The subjects taken up and not done, the oldest photo first.
    private(set) var underWay: [Wish.Subject] = []
    /// Photos that failed or were declined. They lack their picture, but this fetch must not take them up again.
    private var excluded: Set<PhotoKey> = []
    private var progress = Progress.after(nil)
    /// How many subjects must be settled or postponed before more can be needed. Until then nothing has to be counted.
    ///
    /// Only settled subjects are reported. Every postponed one leads to a call of ``refill(_:isWaiting:)``, so calls count too.
    private var distance = 0

    /// How far the fetch has come in its gallery.
    private enum Progress {
        /// Up to and including a photo; nil at the start.
        case after(PhotoKey?)
        /// To the end. Photos passed before may lack their picture again.
        case toTheEnd
        /// To the end twice, and no photo lacks a picture. The next search waits for a change, since it reads all photos.
        case nothingFound
    }

    /// The number of subjects under way, without postponed ones. It is more than run and are stored at once on any network.
    private static let width = 512
    /// With so many postponed subjects no more are taken up. The server is failing, and each of them costs memory and time.
    private static let maximumWaiting = 1_024

    init?(_ wish: Wish) {
        guard case .everyPicture(let gallery, let rendition) = wish.subject else { return nil }
        self.gallery = gallery
        self.rendition = rendition
        importance = wish.importance
    }

    var subject: Wish.Subject { .everyPicture(gallery, rendition) }

    /// The wishes for the subjects under way.
    var wishes: [Wish] { underWay.map { Wish($0, importance: importance) } }

    /// Takes up more subjects after half of them were settled or postponed. Returns whether anything is left to do.
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
        // New photos may come before the current position, and the photo at that position may be gone.
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

    /// Allows another search after photos have changed.
    mutating func photosChanged() {
        if case .nothingFound = progress { progress = .toTheEnd }
    }

    /// Takes over a running subject that no other wish needs any more. The fetch would come to it anyway.
    mutating func takeOver(_ subject: Wish.Subject) {
        guard subject.gallery == gallery, case .picture(_, let key, rendition) = subject, !excluded.contains(key)
        else { return }
        underWay.insert(subject, at: 0)
    }

    /// Leaves out a subject that the user declined.
    mutating func exclude(_ subject: Wish.Subject) {
        guard subject.gallery == gallery, case .picture(_, let key, rendition) = subject else { return }
        underWay.removeAll { $0 == subject }
        distance -= 1
        excluded.insert(key)
    }

    /// Removes a settled subject: its picture is stored, or it failed permanently.
    mutating func settle(_ subject: Wish.Subject, _ cache: GalleryCache) throws {
        guard let index = underWay.firstIndex(of: subject), let key = subject.photo else { return }
        underWay.remove(at: index)
        distance -= 1
        if try cache.read({ try $0.wantingSource(of: key, rendition) }) != nil { excluded.insert(key) }
    }
}

/// The bulk fetches of the wishes that stand now.
struct BulkFetches {
    private var fetches: [Wish.Subject: BulkFetch] = [:]

    var isEmpty: Bool { fetches.isEmpty }
    var galleries: Set<GalleryID> { Set(fetches.values.map(\.gallery)) }

    /// Starts and ends fetches so that they match the wishes.
    mutating func adopt(_ wishes: [Wish], declined: Set<Wish.Subject>) {
        var standing: [Wish.Subject: BulkFetch] = [:]
        for new in wishes.lazy.compactMap(BulkFetch.init) { standing[new.subject] = fetches[new.subject] ?? new }
        fetches = standing
        for subject in declined { for fetch in fetches.keys { fetches[fetch]?.exclude(subject) } }
    }

    /// Drops a fetch, so that the next wish for it begins a new one.
    mutating func remove(_ subject: Wish.Subject) { fetches[subject] = nil }

    /// The wishes for individual pictures, without the subjects named.
    func wishes(except named: Set<Wish.Subject>) -> [Wish] {
        fetches.values.flatMap(\.wishes).filter { !named.contains($0.subject) }
    }

    /// Takes over running subjects that no other wish names any more.
    mutating func takeOver(_ running: some Sequence<Wish.Subject>, except named: Set<Wish.Subject>) {
        let known = named.union(fetches.values.flatMap(\.underWay))
        for subject in running where !known.contains(subject) {
            for fetch in fetches.keys { fetches[fetch]?.takeOver(subject) }
        }
    }

    /// Takes up more subjects where needed. Returns whether any were taken up, and the fetches with nothing left to do.
    mutating func refill(
        _ caches: CacheFolder, isWaiting: (Wish.Subject) -> Bool
    ) -> (hasChanged: Bool, done: [Wish.Subject]) {
        var (hasChanged, done) = (false, [Wish.Subject]())
        for (subject, fetch) in fetches {
            guard let cache = caches.cache(fetch.gallery) else { continue }
            if (try? fetches[subject]?.refill(cache, isWaiting: isWaiting)) == false { done.append(subject) }
            hasChanged = hasChanged || fetches[subject]?.underWay != fetch.underWay
        }
        return (hasChanged, done)
    }

    /// Allows another search in a gallery whose photos have changed.
    mutating func photosChanged(in gallery: GalleryID) {
        for fetch in fetches.keys where fetch.gallery == gallery { fetches[fetch]?.photosChanged() }
    }

    /// Removes a settled subject. A settled list starts its gallery's fetches again.
    mutating func settle(_ subject: Wish.Subject, _ cache: GalleryCache) {
        for fetch in fetches.keys {
            if fetch.gallery == subject.gallery, subject == .list(subject.gallery) { fetches[fetch]?.restart() }
            try? fetches[fetch]?.settle(subject, cache)
        }
    }

    /// The wishes for every picture of a gallery.
    func subjects(of gallery: GalleryID) -> Set<Wish.Subject> { Set(fetches.keys.filter { $0.gallery == gallery }) }
}
