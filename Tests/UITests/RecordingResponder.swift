import Cells

@testable import UI

/// Writes down what comes to it, and passes it on.
@MainActor final class RecordingResponder: Responder {
    var events: [String] = []
    /// What it makes of an event.
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
