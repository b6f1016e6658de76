import Model

/// The bookkeeping of ``Wishes``. What changes it returns whether there is something else to be heard of it.
struct WishList {
    /// By wisher, in the order in which they came.
    private var stated: [(wisher: Wishes.Wisher, wishes: [Wish])] = []
    /// Asked for, and neither fulfilled nor stopped; each asking has a number.
    private var asked: [(wish: Wish, number: Int)] = []
    /// What the user does not want now, and how important it was when he said so.
    private(set) var declined: [Wish.Subject: Importance] = [:]
    private(set) var isPaused = false
    private var nextNumber = 0
    private var nextWisher = 0

    mutating func makeWisher() -> Wishes.Wisher {
        nextWisher += 1
        return Wishes.Wisher(number: nextWisher)
    }

    mutating func state(_ wishes: [Wish], by wisher: Wishes.Wisher) -> Bool {
        let place = stated.firstIndex { $0.wisher == wisher }
        let before = place.map { stated[$0].wishes } ?? []
        guard wishes != before else { return false }
        if let place { stated.remove(at: place) }
        if !wishes.isEmpty { stated.append((wisher, wishes)) }
        if !declined.isEmpty { adaptDeclined(from: before, to: wishes) }
        return true
    }

    /// Nobody states it any more: when somebody does again, that is another wish. Or it is wanted more than it was.
    private mutating func adaptDeclined(from before: [Wish], to now: [Wish]) {
        for wish in now {
            if let importance = declined[wish.subject], wish.importance > importance { declined[wish.subject] = nil }
        }
        for wish in before where declined[wish.subject] != nil && importance(of: wish.subject) == nil {
            declined[wish.subject] = nil
        }
    }

    /// Returns false if it stands already. Whoever asks for what was declined wants it after all.
    mutating func ask(for subject: Wish.Subject, importance: Importance) -> Bool {
        accept(subject)
        guard !isStanding(subject) else { return false }
        asked.append((Wish(subject, importance: importance), nextNumber))
        nextNumber += 1
        return true
    }

    mutating func stop(_ subject: Wish.Subject) -> Bool {
        let count = asked.count
        asked.removeAll { $0.wish.subject == subject }
        return asked.count != count
    }

    func isStanding(_ subject: Wish.Subject) -> Bool {
        asked.contains { $0.wish.subject == subject }
    }

    mutating func decline(_ subject: Wish.Subject) -> Bool {
        let wasStopped = stop(subject)
        let importance = importance(of: subject)
        // A picture need not be stated: it may be one of every picture.
        guard importance != nil || subject.isPicture else { return wasStopped }
        return declined.updateValue(importance ?? .rest, forKey: subject) == nil || wasStopped
    }

    mutating func accept(_ subject: Wish.Subject) {
        declined[subject] = nil
    }

    mutating func reconsider(_ gallery: GalleryID) -> Bool {
        let count = declined.count
        declined = declined.filter { $0.key.gallery != gallery }
        return declined.count != count
    }

    mutating func setPaused(_ isPaused: Bool) -> Bool {
        defer { self.isPaused = isPaused }
        return self.isPaused != isPaused
    }

    /// How important something is to whoever states it; nil if nobody does.
    private func importance(of subject: Wish.Subject) -> Importance? {
        stated.lazy.flatMap(\.wishes).filter { $0.subject == subject }.map(\.importance).max()
    }

    var snapshot: Wishes.Snapshot {
        var places: [Wish.Subject: Int] = [:]
        var wishes: [Wish] = []
        for wish in [asked.map(\.wish), stated.flatMap(\.wishes)].joined() where declined[wish.subject] == nil {
            if let place = places[wish.subject] {
                wishes[place].importance = max(wishes[place].importance, wish.importance)
            } else {
                places[wish.subject] = wishes.count
                wishes.append(wish)
            }
        }
        let numbers = asked.map { ($0.wish.subject, $0.number) }
        return Wishes.Snapshot(
            wishes: wishes, asked: Dictionary(uniqueKeysWithValues: numbers), declined: Set(declined.keys),
            isPaused: isPaused)
    }
}

extension Wish.Subject {
    fileprivate var isPicture: Bool {
        if case .picture = self { true } else { false }
    }
}
