import Cache
import Session
import Cells
import Commands
import Model
import Pictures
import Text

/// What is said of a photo in the lines above and below it.
extension PhotoScreen {
    /// Which photo it is, and how it is seen.
    var headingOfPhoto: Heading {
        var detail: [String] = []
        if let index = results.index(of: key) { detail.append(CountText.text(index + 1, of: results.count)) }
        if photo?.original.held != nil, let percent = view.percent {
            switch view.zoom {
            case .fit: detail.append("fit")
            case .fill: detail.append("fill")
            case .scale: detail.append("\(percent) %")
            }
        }
        if slideshow.isRunning { detail.append("slideshow") }
        if playback.isRunning { detail.append("playing") }
        return Heading(title: name, detail: detail.joined(separator: " · "))
    }

    /// How far it is here, and what can be done.
    var footingOfPhoto: Footing {
        var footing = Footing(text: photo.map { DateText.long($0.date) } ?? "")
        switch state {
        case .here: footing.text = [footing.text, animationText ?? ""].filter { !$0.isEmpty }.joined(separator: " · ")
        case .loading(nil): footing.text = "Loading…"
        case .loading(let progress?):
            footing.text = "Loading… " + ByteText.text(progress.done.int64, of: progress.total?.int64)
            footing.fraction = progress.fraction
        case .failed(let failure):
            footing.text = saysFailureInside ? "Load failed" : "Load failed: \(failure)"
            footing.isTrouble = true
        }
        footing.hints =
            slideshow.isRunning
            ? [(.slideshow, "stop"), (.help, "help")]
            : playback.isRunning
                ? [(.play, "stop"), (.nextPhoto, "next"), (.help, "help")]
                : [(.zoomIn, "larger"), (.nextPhoto, "next"), (.information, "facts"), (.help, "help")]
        return footing
    }

    var state: State {
        guard let photo = photo?.original else { return .loading(nil) }
        // What is going on now says more than what went wrong before.
        if !photo.isCurrent, let progress = context.activity.progress(of: subject) { return .loading(progress) }
        switch photo.trouble {
        case .bad(let failure), .putOff(let failure): return .failed(failure)
        case nil: break
        }
        if !photo.isCurrent, let failure = context.activity.failure(of: subject) { return .failed(failure) }
        guard photo.held != nil else { return context.settings.offline ? .failed(Self.notHere) : .loading(nil) }
        if let failure = context.pipeline.failure(order) { return .failed(failure) }
        // It is being drawn, and of what is on the screen nothing is of it.
        return shown?.key == key || context.settings.plain ? .here : .loading(nil)
    }

    /// Whether the reason of a failure stands in the picture's place. It does not over an older edition, which is whole; of its
    /// thumbnail one would wait for more. A plain screen has no such place.
    var saysFailureInside: Bool {
        guard !context.settings.plain else { return false }
        return shown?.key != key || photo?.original.held == nil || context.pipeline.failure(order) != nil
    }

    /// Offline nothing comes, and so nothing is waited for.
    private static let notHere = Failure("offline, and this photo is not here", remedy: .network)
}
