import Dispatch
import Glibc
import Synchronization

/// Calls a closure at the first signal, so that a command can report its result.
///
///     let interruption = Interruption(output)
///     let working = Task { … }
///     interruption.whenItComes { working.cancel() }
///     …
///     return interruption.exitCode ?? 0
///
/// A second signal ends the program at once. If the reader of standard output closes the pipe, this counts as SIGPIPE.
final class Interruption: Sendable {
    private final class First: Sendable {
        private let state = Mutex<(number: Int32, action: @Sendable () -> Void)>((0, {}))

        /// The number of the first signal; 0 for none.
        var number: Int32 { state.withLock { $0.number } }

        /// Records a signal, unless an earlier one has arrived.
        func set(_ signal: Int32) {
            let action = state.withLock { state in
                if state.number == 0 { state.number = signal }
                return state.action
            }
            action()
        }

        func setAction(_ action: @escaping @Sendable () -> Void) {
            let isDue = state.withLock { state in
                state.action = action
                return state.number != 0
            }
            if isDue { action() }
        }
    }

    /// The first signal that arrived.
    private let first = First()
    /// The sources of signals. Only `init` and `deinit` use this array.
    private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

    /// Handles signals from now on. A process creates only one instance, before its work begins.
    init(_ output: Output) {
        // For a concurrent queue, Dispatch would count busy threads, and would end the program if it cannot open a file
        // for this count.
        let queue = DispatchQueue(label: "vitrine.signals")
        let registrations = DispatchGroup()
        sources = [SIGINT, SIGTERM, SIGHUP].filter { !Self.isIgnored($0) }.map { [first] number in
            // The source receives signals even if they are ignored.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                signal(number, SIG_DFL)
                first.set(number)
            }
            registrations.enter()
            source.setRegistrationHandler { registrations.leave() }
            source.activate()
            return source
        }
        // Until the sources are registered, signals are lost. Without free descriptors, they may never be registered.
        _ = registrations.wait(timeout: .now() + .seconds(1))
        output.onClosed { [first] in first.set(SIGPIPE) }
    }

    /// Calls a closure when a signal arrives, or at once if one has arrived.
    func whenItComes(_ action: @escaping @Sendable () -> Void) { first.setAction(action) }

    deinit {
        for source in sources { source.cancel() }
    }

    /// The exit code after a signal: 128 plus the signal's number, as in shells. Nil without a signal.
    var exitCode: Int32? {
        let number = first.number
        return number == 0 ? nil : 128 + number
    }

    /// Returns whether the parent process ignores a signal, as `nohup` does. An ignored signal stays ignored.
    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }
}
