import Dispatch
import Glibc
import Synchronization

/// Lets a command that is told to end say first what it has done, and what it has not.
///
///     let working = Task { … }
///     let interruption = Interruption { working.cancel() }
///     …
///     return interruption.exitCode ?? 0
///
/// A second signal ends the program at once.
final class Interruption: Sendable {
    private final class First: Sendable {
        let number = Atomic<Int32>(0)
    }

    /// The first signal that came.
    private let first = First()
    /// Cancelled at the end, and not used otherwise.
    private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

    /// Begins to listen. Nobody listens before or after: a command has one, and it is the last thing that it does.
    init(_ onSignal: @escaping @Sendable () -> Void) {
        sources = [SIGINT, SIGTERM, SIGHUP].filter { !Self.isIgnored($0) }.map { [first] number in
            // The source hears of it although it is ignored otherwise.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                signal(number, SIG_DFL)
                first.number.store(number, ordering: .relaxed)
                onSignal()
            }
            source.activate()
            return source
        }
    }

    deinit {
        for source in sources { source.cancel() }
    }

    /// What the program ends with, as shells have it: 128 and the signal's number; nil if none came.
    var exitCode: Int32? {
        let number = first.number.load(ordering: .relaxed)
        return number == 0 ? nil : 128 + number
    }

    /// Whoever started the program wants it to outlive the terminal, as `nohup` does: then it is not told of the end.
    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }
}
