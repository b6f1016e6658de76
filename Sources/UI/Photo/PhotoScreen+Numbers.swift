import Commands

/// Numbers that are typed before commands: so many photos on, or so many seconds for each.
extension PhotoScreen {
    /// Obeys a command with a number. Returns nil for one that it means nothing special to.
    func perform(_ command: Command, number: Int) -> Bool? {
        let isWhole = view.zoom == .fit
        switch command {
        case .first, .last:
            guard panel.goTo(line: number - 1) else { return nil }
            return true
        case .slideshow: startSlideshow(seconds: number)
        // One photo is fetched, and not all on the way there.
        case .left where isWhole, .previousPhoto: step(by: -number)
        case .right where isWhole, .nextPhoto: step(by: number)
        default: return nil
        }
        if command.movesPhoto { stopMoving() }
        return true
    }

    /// Shows the photo at a place of the list, or the nearest there is.
    func goToPhoto(at place: Int) -> Bool {
        guard let next = results.key(at: max(0, min(place, results.count - 1))) else { return false }
        if next != key { show(next) }
        return true
    }
}
