import Model

/// What a frame takes from the list. As long as that is the same, the next one would be too.
extension PhotoScreen {
    /// Where the photo stands in the list, and those beside it, which are drawn ahead.
    struct Sight: Equatable {
        let photo: Photo?
        let index: Int?
        let count: Int
        let beside: [Photo]
    }

    /// What a frame would take now.
    var currentSight: Sight {
        let place = results.index(of: key)
        let before = place.flatMap { results.key(at: $0 - travel) }
        let beside = (upcoming + [before].compactMap { $0 }).compactMap { try? results.photo($0) }
        return Sight(photo: photo, index: place, count: results.count, beside: beside)
    }
}
