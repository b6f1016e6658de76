import Cells
import Session

/// How it looks: the screen on top, and the lines about it.
extension RootScreen {
    /// Smaller than this there is no telling what one would see.
    static let smallest = Size(columns: 20, rows: 5)

    /// Draws a frame.
    public func frame(_ size: Size) -> Surface {
        defer { followPlace() }
        var surface = Surface(size: size)
        guard size.columns >= Self.smallest.columns, size.rows >= Self.smallest.rows else {
            surface.write("Too small", in: Rect(size).centred(Size(columns: 9, rows: 1)))
            return surface
        }
        var rest = Rect(size)
        let (titleLine, statusLine) = (rest.takeTop(1), rest.takeBottom(1))
        // First the screen, then the lines about it: what they say may depend on how it has just been laid out.
        top.draw(in: &surface, frame: rest)
        ScreenLines(theme: context.theme, keys: context.keys).drawHeading(top.heading, in: &surface, titleLine)
        if let signIn {
            surface.cursor = nil
            signIn.draw(in: &surface, frame: rest, theme: context.theme)
        }
        hintPlaces = HintPlaces()
        if let commandLine, question == nil {
            commandLine.draw(in: &surface, frame: rest, line: statusLine, theme: context.theme)
        } else {
            drawFooting(in: &surface, rest, statusLine)
        }
        if context.settings.plain, surface.cursor == nil {
            surface.cursor = question == nil ? focusedPlace : statusLine.origin
        }
        return surface
    }

    /// - Parameter room: what is above the line, for what it is too short for.
    private func drawFooting(in surface: inout Surface, _ room: Rect, _ line: Rect) {
        let lines = ScreenLines(theme: context.theme, keys: context.keys)
        if let question {
            Announcement(parts: question.parts, endsWithAnswers: true).draw(in: &surface, room, line, context.theme)
        } else if let typing {
            typing.draw(in: &surface, line, context.theme)
        } else if let notice = notices.first {
            Announcement(parts: [notice]).draw(in: &surface, room, line, context.theme)
        } else if let signIn {
            lines.drawFooting(signIn.footing, scopes: [], in: &surface, line)
        } else if case let footing = top.footing, !footing.choices.isEmpty {
            Announcement(parts: [footing.text] + footing.choices).draw(in: &surface, room, line, context.theme)
        } else {
            indicator = currentIndicator
            hintPlaces = lines.drawFooting(
                top.footing, scopes: top.scopes, number: number, indicator: indicator, in: &surface, line)
        }
    }

    /// Where the terminal's cursor leads a voice to, or a magnifying glass: to what is selected.
    private var focusedPlace: Point? {
        if let list = top as? any ListScreen { return list.scroll.frame(of: list.scroll.selected)?.origin }
        return (top as? PhotoScreen)?.panelFrame.origin
    }

    /// Where more is said of it, there is no need for it.
    var currentIndicator: [String] {
        guard !(top is TransfersScreen) else { return [] }
        // A line that is read out whenever it changes had better not.
        if context.settings.plain { return context.wishes.isPaused ? ["paused"] : [] }
        let traffic = TrafficText.indicator(
            context.activity.traffic, speed: context.activity.speed, isPaused: context.wishes.isPaused)
        guard let saving = context.exports.indicator else { return traffic }
        return traffic.map { "\(saving) · \($0)" } + [saving]
    }
}
