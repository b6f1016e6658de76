import Dispatch
import Glibc

/// Turns signals of the system into events on the main actor.
@MainActor
final class SignalSources {
    /// The signals that this class handles.
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
            // Disable the signal's default action.
            signal(event.number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: event.number, queue: .main)
            source.setEventHandler { MainActor.assumeIsolated { handler(event) } }
            source.resume()
            sources.append(source)
        }
        // Writing to a closed pipe returns an error instead of ending the program.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Stops the process group, as the shell's job control does. Returns when the user continues the program.
    ///
    /// Returns immediately if nothing could continue the process group, as in a terminal without a shell. The system
    /// discards SIGTSTP, unlike SIGSTOP, "if the process group is orphaned".
    func stopJob() {
        var (nothing, plain, ours) = (sigaction(), sigaction(), sigaction())
        nothing.__sigaction_handler.sa_handler = SIG_IGN
        plain.__sigaction_handler.sa_handler = SIG_DFL
        // First stop the other processes of the group, while this process ignores the signal. Otherwise, an arbitrary
        // thread of this process would handle the signal, at a later time.
        sigaction(SIGTSTP, &nothing, &ours)
        kill(0, SIGTSTP)
        sigaction(SIGTSTP, &plain, nil)
        // Then stop this thread, and with it the whole process, before `raise` returns. Unblock the signal first, since
        // Dispatch blocks signals in its threads, and the main actor runs on one of them.
        var (stop, blocked) = (sigset_t(), sigset_t())
        sigemptyset(&stop)
        sigaddset(&stop, SIGTSTP)
        pthread_sigmask(SIG_UNBLOCK, &stop, &blocked)
        raise(SIGTSTP)
        pthread_sigmask(SIG_SETMASK, &blocked, nil)
        sigaction(SIGTSTP, &ours, nil)
    }

    /// Restores the default actions of signals.
    ///
    /// - Parameter isHungUp: whether the terminal is gone. A read may report this before SIGHUP arrives. SIGHUP stays
    ///   ignored in that case. Otherwise, it would end the program before the program has saved its state.
    func close(isHungUp: Bool) {
        for source in sources { source.silence() }
        for event in Event.allCases where !(isHungUp && event == .hangUp) { signal(event.number, SIG_DFL) }
    }
}
