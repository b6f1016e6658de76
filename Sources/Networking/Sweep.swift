import Cache
import Model

/// A wish for a picture of every photo, worked off a few at a time: a gallery may have a million.
struct Sweep {
    let gallery: GalleryID
    let rendition: Rendition
    let importance: Importance
    /// What was taken up and is not done, the oldest photo first.
    private(set) var underWay: [Wish.Subject] = []
    /// Photos that were given up: they still want their picture, but not from this sweep.
    private var givenUp: Set<PhotoKey> = []

    /// How many may be under way. More than run at once on any network, so that none of its places stays empty.
    private static let width = 128

    init?(_ wish: Wish) {
        guard case .everyPicture(let gallery, let rendition) = wish.subject else { return nil }
        self.gallery = gallery
        self.rendition = rendition
        importance = wish.importance
    }

    var subject: Wish.Subject { .everyPicture(gallery, rendition) }

    /// The wishes that the sweep has at the moment.
    var wishes: [Wish] { underWay.map { Wish($0, importance: importance) } }

    /// Takes up more, when half of what was taken up is done. Returns whether anything is left to do.
    mutating func refill(_ cache: GalleryCache) throws -> Bool {
        guard underWay.count <= Self.width / 2 else { return true }
        let known = givenUp.union(underWay.compactMap(Self.key))
        let keys = try cache.read { try $0.wanting(rendition, limit: Self.width - underWay.count, except: known) }
        underWay += keys.map { .picture(gallery, $0, rendition) }
        return !underWay.isEmpty
    }

    /// Notes that something is settled: it is there, or it was given up.
    mutating func noteSettled(_ subject: Wish.Subject, _ cache: GalleryCache) throws {
        guard let place = underWay.firstIndex(of: subject), let key = Self.key(subject) else { return }
        underWay.remove(at: place)
        if let photo = try cache.read({ try $0.photo(key) }), photo[rendition].isWanting { givenUp.insert(key) }
    }

    private static func key(_ subject: Wish.Subject) -> PhotoKey? {
        if case .picture(_, let key, _) = subject { key } else { nil }
    }
}
