import Cells
import Commands
import Model
import Text

/// What stands where there is nothing to show: why that is so, and what to do next, with the keys that do it.
struct EmptyText {
    /// What is the matter.
    let title: String
    /// What there is to be done.
    var advice: [String] = []
    /// Whether the title says why an update failed.
    private(set) var saysFailure = false

    /// For a gallery of which no photo is shown.
    ///
    /// - Parameters:
    ///   - isAwaited: whether its list was asked for and has not come.
    ///   - isFiltered: whether there may be photos, and none is found.
    init(
        _ status: SyncStatus, isAwaited: Bool, isOffline: Bool, isFiltered: Bool, scopes: [CommandTable.Scope],
        _ keys: KeyMap
    ) {
        func key(_ command: Command) -> String { Self.key(command, scopes, keys) }
        if isFiltered {
            self.init(
                title: "Nothing is found",
                advice: ["\(key(.filter)) looks for something else.", "\(key(.back)) shows all photos again."])
            return
        }
        let again = isOffline ? "Vitrine is offline: it fetches nothing." : "\(key(.refresh)) tries again."
        switch (status.state, status.lastSuccess) {
        case (.updating(.waiting(let failure, _)), nil):
            self.init(
                title: "The update failed: \(failure)",
                advice: ["It is tried again by itself, and with \(key(.refresh)) at once. \(key(.stop)) gives up."])
            saysFailure = true
        case (.failed(let failure), nil):
            self.init(title: "The update failed: \(failure)", advice: [again])
            saysFailure = true
        case (.failed, _): self.init(title: "No photos", advice: ["So it was before the update that failed.", again])
        case (.updating, nil):
            self.init(title: "Fetching the list of photos…", advice: ["\(key(.stop)) stops that."])
        case (.notUpdated, _) where isAwaited: self.init(title: "Fetching the list of photos…")
        case (.cancelled, nil): self.init(title: "The update was stopped", advice: [again])
        case (_, nil) where isOffline:
            self.init(
                title: "Nothing of this gallery is here", advice: [again, "Started without --offline, it does."])
        case (_, nil):
            self.init(
                title: "This gallery was not updated yet", advice: ["\(key(.refresh)) fetches the list of photos."])
        case (.updating, _): self.init(title: "No photos")
        case (_, _):
            self.init(
                title: "No photos", advice: isOffline ? [again] : ["\(key(.refresh)) looks whether there are any."])
        }
    }

    /// For the screen of the galleries, as long as there is none.
    init(galleriesIn scopes: [CommandTable.Scope], _ keys: KeyMap) {
        self.init(title: "No galleries yet: press \(Self.key(.add, scopes, keys)) to add one.")
    }

    /// Below the one gallery that comes with Vitrine, as long as nobody has looked at it.
    init(firstRunIn scopes: [CommandTable.Scope], _ keys: KeyMap) {
        self.init(
            title: "This gallery comes with Vitrine: \(Self.key(.open, scopes, keys)) shows it.",
            advice: [
                "\(Self.key(.add, scopes, keys)) adds one of yours: an address, a file or a folder.",
                "\(Self.key(.help, scopes, keys)) lists the keys.",
            ])
    }

    init(title: String, advice: [String] = []) {
        (self.title, self.advice) = (title, advice)
    }

    private static func key(_ command: Command, _ scopes: [CommandTable.Scope], _ keys: KeyMap) -> String {
        keys.key(for: command, in: scopes)?.description ?? "?"
    }

    /// Draws it in the middle, as many lines as there is room for, the first ones first.
    func draw(in surface: inout Surface, _ frame: Rect, _ theme: Theme) {
        var room = frame
        _ = room.takeLeft(1)
        _ = room.takeRight(1)
        let lines = lines(width: room.size.columns, theme).prefix(room.size.rows)
        var rest = room.centred(Size(columns: room.size.columns, rows: lines.count))
        for line in lines {
            let place = rest.takeTop(1).centred(Size(columns: line.text.displayWidth, rows: 1))
            surface.write(line.text, in: place, style: line.style)
        }
    }

    /// The same from the top, at the left.
    func drawBelow(in surface: inout Surface, _ frame: Rect, _ theme: Theme) {
        var rest = frame
        for line in lines(width: frame.size.columns, theme) where rest.size.rows > 0 {
            surface.write(line.text, in: rest.takeTop(1), style: line.style)
        }
    }

    private func lines(width: Int, _ theme: Theme) -> [(text: String, style: Style)] {
        title.folded(toWidth: width).map { ($0, theme.name) }
            + advice.flatMap { $0.folded(toWidth: width) }.map { ($0, theme.detail) }
    }
}
