import Dispatch
import Glibc
import Synchronization

/// Calls a closure at the first signal, so that a command can report its result.
///
///     let working = Task { … }
///     let interruption = Interruption(output) { working.cancel() }
///     …
///     return interruption.exitCode ?? 0
///
/// A second signal ends the program at once. If the reader of standard output closes the pipe, this counts as SIGPIPE.
final class Interruption: Sendable {
    private final class First: Sendable {
        let number = Atomic<Int32>(0)

        /// Records a signal, unless an earlier one has arrived.
        func set(_ signal: Int32) {
            _ = number.compareExchange(expected: 0, desired: signal, ordering: .relaxed)
        }
    }

    /// The first signal that arrived.
    private let first = First()
    /// The sources of signals. Only `init` and `deinit` use this array.
    private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

    /// Starts to handle signals. A process creates only one instance.
    init(_ output: Output, _ onSignal: @escaping @Sendable () -> Void) {
        // For a concurrent queue, Dispatch would count busy threads, and would end the program if it cannot open a file
        // for this count.
        let queue = DispatchQueue(label: "vitrine.signals")
        sources = [SIGINT, SIGTERM, SIGHUP].filter { !Self.isIgnored($0) }.map { [first] number in
            // The source receives signals even if they are ignored.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                signal(number, SIG_DFL)
                first.set(number)
                onSignal()
            }
            source.activate()
            return source
        }
        output.onClosed { [first] in
            first.set(SIGPIPE)
            onSignal()
        }
    }

    deinit {
        for source in sources { source.cancel() }
    }

    /// The exit code after a signal: 128 plus the signal's number, as in shells. Nil without a signal.
    var exitCode: Int32? {
        let number = first.number.load(ordering: .relaxed)
        return number == 0 ? nil : 128 + number
    }

    /// Returns whether the parent process ignores a signal, as `nohup` does. An ignored signal stays ignored.
    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }
}
