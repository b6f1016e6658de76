import Commands

/// A link in the chain that events travel up: from what has the focus, by way of its screen, to the root.
///
/// Each may handle an event, or make another of it, or let it pass:
///
///     override func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
///         guard case .command(.open) = event else { return event }
///         return .push(PhotoScreen(selected))
///     }
@MainActor
public class Responder {
    /// The next one up.
    weak var next: Responder?

    init() {}

    /// Handles an event. Returns nil if it is done with, or what the next one is to have.
    func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
        event
    }

    /// Sends an event up the chain, beginning here.
    final func send(_ event: InterfaceEvent) {
        var event = event
        var responder: Responder? = self
        while let current = responder {
            guard let passed = current.handle(event) else { return }
            event = passed
            responder = current.next
        }
    }
}
