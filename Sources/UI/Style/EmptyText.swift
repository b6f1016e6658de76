import Cells
import Commands
import Model
import Text

/// The text in place of an empty list: the reason, and the keys that help.
struct EmptyText {
    /// The reason why the list is empty.
    let title: String
    /// The actions that the user can take, with one sentence for each action.
    var advice: [String] = []
    /// Whether the title contains the reason of a failed update.
    private(set) var saysFailure = false

    /// Creates the text for a gallery without visible photos.
    ///
    /// - Parameters:
    ///   - isAwaited: whether the gallery's list was requested and has not arrived.
    ///   - isFiltered: whether a filter is set that matches no photo.
    init(
        _ status: SyncStatus, isAwaited: Bool, isOffline: Bool, isFiltered: Bool, scopes: [CommandTable.Scope],
        _ keys: KeyMap
    ) {
        func key(_ command: Command) -> String { Self.key(command, scopes, keys) }
        if isFiltered {
            self.init(
                title: "No matches",
                advice: ["Press \(key(.filter)) to change the filter.", "Press \(key(.back)) to show all photos."])
            return
        }
        let again = isOffline ? "Vitrine is offline and fetches nothing." : "Press \(key(.refresh)) to try again."
        switch (status.state, status.lastSuccess) {
        case (.updating(.waiting(let failure, _)), nil):
            self.init(
                title: "The update failed: \(failure)",
                advice: ["Vitrine will retry. Press \(key(.refresh)) to retry now, \(key(.stop)) to cancel."])
            saysFailure = true
        case (.failed(let failure), nil):
            self.init(title: "The update failed: \(failure)", advice: [again])
            saysFailure = true
        case (.failed, _):
            self.init(title: "No photos", advice: ["The last update failed. The previous list had no photos.", again])
        case (.updating, nil):
            self.init(title: "Fetching the list of photos…", advice: ["Press \(key(.stop)) to cancel."])
        case (.notUpdated, _) where isAwaited: self.init(title: "Fetching the list of photos…")
        case (.cancelled, nil): self.init(title: "The update was cancelled", advice: [again])
        case (_, nil) where isOffline:
            self.init(
                title: "This gallery is not in the cache",
                advice: [again, "Type “:set offline no” to fetch the gallery."])
        case (_, nil):
            self.init(
                title: "Gallery not fetched yet", advice: ["Press \(key(.refresh)) to fetch the list of photos."])
        case (.updating, _): self.init(title: "No photos")
        case (_, _):
            self.init(
                title: "No photos", advice: isOffline ? [again] : ["Press \(key(.refresh)) to check for photos."])
        }
    }

    /// Creates the text for an empty list of galleries.
    init(galleriesIn scopes: [CommandTable.Scope], _ keys: KeyMap) {
        self.init(title: "No galleries yet: press \(Self.key(.add, scopes, keys)) to add one.")
    }

    /// Creates the advice for the first run, below the built-in gallery.
    init(firstRunIn scopes: [CommandTable.Scope], _ keys: KeyMap) {
        self.init(
            title: "Press \(Self.key(.open, scopes, keys)) to open this built-in gallery.",
            advice: [
                "Press \(Self.key(.add, scopes, keys)) to add your own gallery: an address, a file or a folder.",
                "Press \(Self.key(.help, scopes, keys)) to list all keys.",
            ])
    }

    init(title: String, advice: [String] = []) {
        (self.title, self.advice) = (title, advice)
    }

    private static func key(_ command: Command, _ scopes: [CommandTable.Scope], _ keys: KeyMap) -> String {
        keys.key(for: command, in: scopes)?.description ?? "?"
    }

    /// Draws the text in the centre. Leaves out lines at the end if the space is too small.
    func draw(in surface: inout Surface, _ frame: Rect, _ theme: Theme) {
        var inner = frame
        inner.trimSides()
        let lines = lines(width: inner.size.columns, theme).prefix(inner.size.rows)
        var rest = inner.centred(Size(columns: inner.size.columns, rows: lines.count))
        for line in lines {
            let area = rest.takeTop(1).centred(Size(columns: line.text.displayWidth, rows: 1))
            surface.write(line.text, in: area, style: line.style)
        }
    }

    /// Draws the text at the top left of the frame.
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
