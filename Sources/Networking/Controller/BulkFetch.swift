import Cache
import Model

/// A wish for a picture of every photo, worked off a few at a time: a gallery may have a million.
struct BulkFetch {
    let gallery: GalleryID
    let rendition: Rendition
    let importance: Importance
    /// What was taken up and is not done, the oldest photo first.
    private(set) var underWay: [Wish.Subject] = []
    /// Photos that were given up: they still want their picture, but not from this sweep.
    private var givenUp: Set<PhotoKey> = []

    /// How far the gallery has been gone through.
    private var progress = Progress.after(nil)
    /// How many more have to be settled or put off, at least, before more are taken up: till then nobody need be looked at.
    /// What is settled is told; what is put off is not, but each time something is, it is asked whether more is to be taken
    /// up, and so the askings are counted.
    private var distance = 0

    private enum Progress {
        /// Up to and with that photo; nil before the first.
        case after(PhotoKey?)
        /// All of it, though what was passed may want its picture again.
        case toTheEnd
        /// All of it once more, and nothing wanted a picture. To look for that takes as long as there are photos, so it is not
        /// done again before something has changed.
        case nothingFound
    }

    /// How many may be under way, without those that were put off. More than run at once on any network and are being stored
    /// beside them, so that none of its places stays empty.
    private static let width = 512
    /// How many that were put off may be waiting for their next attempt before no more are taken up: a server that fails
    /// so often has nothing for now, and each of them takes room and is looked at time and again.
    private static let maximumWaiting = 1_024

    init?(_ wish: Wish) {
        guard case .everyPicture(let gallery, let rendition) = wish.subject else { return nil }
        self.gallery = gallery
        self.rendition = rendition
        importance = wish.importance
    }

    var subject: Wish.Subject { .everyPicture(gallery, rendition) }

    /// The wishes that the sweep has at the moment.
    var wishes: [Wish] { underWay.map { Wish($0, importance: importance) } }

    /// Takes up more, when half of what was taken up is done or was put off. Returns whether anything is left to do.
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
        // Photos that came meanwhile may lie before the place, and the place itself may be gone.
        if underWay.isEmpty { try takeUp(Self.width, after: nil, cache) }
        if underWay.isEmpty { progress = .nothingFound }
        return !underWay.isEmpty
    }

    private mutating func takeUp(_ count: Int, after last: PhotoKey?, _ cache: GalleryCache) throws {
        let known = givenUp.union(underWay.compactMap(Self.key))
        let keys = try cache.read { try $0.wanting(rendition, limit: count, after: last, except: known) }
        progress = keys.count < count ? .toTheEnd : .after(keys.last)
        underWay += keys.map { .picture(gallery, $0, rendition) }
    }

    /// Goes through the gallery from its beginning, after its list was fetched.
    mutating func noteList(of gallery: GalleryID) {
        guard gallery == self.gallery else { return }
        (progress, distance) = (.after(nil), 0)
    }

    /// Photos have changed, and what wanted nothing may want its picture now.
    mutating func noteChange() {
        if case .nothingFound = progress { progress = .toTheEnd }
    }

    /// Goes on with something that runs, and that nobody else wants any more. The sweep would come to it anyway.
    mutating func takeOver(_ subject: Wish.Subject) {
        guard subject.gallery == gallery, case .picture(_, let key, rendition) = subject, !givenUp.contains(key)
        else { return }
        underWay.insert(subject, at: 0)
    }

    /// Notes that something is not wanted, whoever sweeps.
    mutating func leaveOut(_ subject: Wish.Subject) {
        guard subject.gallery == gallery, case .picture(_, let key, rendition) = subject else { return }
        underWay.removeAll { $0 == subject }
        distance -= 1
        givenUp.insert(key)
    }

    /// Notes that something is settled: it is there, or it was given up.
    mutating func noteSettled(_ subject: Wish.Subject, _ cache: GalleryCache) throws {
        guard let place = underWay.firstIndex(of: subject), let key = Self.key(subject) else { return }
        underWay.remove(at: place)
        distance -= 1
        if try cache.read({ try $0.wantingSource(of: key, rendition) }) != nil { givenUp.insert(key) }
    }

    private static func key(_ subject: Wish.Subject) -> PhotoKey? {
        if case .picture(_, let key, _) = subject { key } else { nil }
    }
}
