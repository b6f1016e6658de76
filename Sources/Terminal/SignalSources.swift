import Dispatch
import Glibc

/// Signals as events on the main actor, where there is time to think about them.
@MainActor
final class SignalSources {
    /// What the outside wants.
    enum Event: CaseIterable {
        case resize, interrupt, terminate, hangUp, stop, goOn

        var number: Int32 {
            switch self {
            case .resize: SIGWINCH
            case .interrupt: SIGINT
            case .terminate: SIGTERM
            case .hangUp: SIGHUP
            case .stop: SIGTSTP
            case .goOn: SIGCONT
            }
        }
    }

    private var sources: [any DispatchSourceSignal] = []

    init(_ handler: @escaping @MainActor (Event) -> Void) {
        for event in Event.allCases {
            // Else the signal would also do what it does by default.
            signal(event.number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: event.number, queue: .main)
            source.setEventHandler { MainActor.assumeIsolated { handler(event) } }
            source.resume()
            sources.append(source)
        }
        // A pipe that nobody reads is an error of the write, not the end of the program.
        signal(SIGPIPE, SIG_IGN)
    }

    func close() {
        for source in sources { source.cancel() }
        for event in Event.allCases { signal(event.number, SIG_DFL) }
    }
}
