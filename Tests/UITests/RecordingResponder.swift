import Cells

@testable import UI

/// Records the events that it receives.
@MainActor final class RecordingResponder: Responder {
    var events: [String] = []
    /// Returns the event to pass on, if any.
    var answer: (InterfaceEvent) -> InterfaceEvent? = { $0 }

    override init() { super.init() }

    override func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
        events.append(Self.text(event))
        return answer(event)
    }

    private static func text(_ event: InterfaceEvent) -> String {
        switch event {
        case .key(let key): "key \(key)"
        case .command(let command, _): "command \(command)"
        case .notice(let text): "notice \(text)"
        case .needsDisplay: "needsDisplay"
        default: "\(event)"
        }
    }
}
